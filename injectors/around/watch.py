"""Decides on single calls: the gate's rules without cells. The latch is per call.

A write is stopped once; the equal call passes in a turn that began when the first one had ended. A
turn is one call, unless the host says otherwise: all tool calls of one model reply are one turn,
since the model has not yet read what the first of them was answered.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from threading import Lock
from typing import Literal

from injectors.around.tools import Tool
from injectors.around.turns import Turn, Turns
from injectors.gate.advisory import AdvisoryWriter, Stop
from injectors.gate.latch import CallKey, call_key
from injectors.gate.observed import Observed
from injectors.gate.record import Write
from injectors.gate.risks import Detected, Risk, RiskLog, detect
from injectors.gate.situation import History, Situation
from injectors.gate.texts import Cause
from runtime.contracts import CallResult, Json, Kind, ToolCall

__all__ = ["Ruling", "Watch"]


@dataclass(frozen=True)
class Ruling:
    """The word on one call. `ask` is settled by a person before it is one."""

    call: ToolCall
    action: Literal["allow", "ask", "stop", "refuse"]
    reason: str
    """read, finish, verified, stopped or refused."""
    risks: tuple[Detected, ...] = ()
    advisory: dict[str, Json] | None = None
    detail: str = ""
    write: Write | None = None
    """The write that is let pass, asked about or stopped."""

    @property
    def risk_ids(self) -> tuple[str, ...]:
        """The ids of the risks, for the audit log."""
        return tuple(risk.id for risk in self.risks)


class Watch:
    """The state of one agent's session. Safe to use from several threads."""

    def __init__(
        self, observed: Observed, writer: AdvisoryWriter, risks: Sequence[Risk], *, asks: bool
    ) -> None:
        self._observed, self._writer, self._risks, self._asks = observed, writer, risks, asks
        self._history = History()
        self._risk_log = RiskLog()
        self._stopped: dict[CallKey, Turn | None] = {}
        """The turn that has to be over before a stopped call can pass; None if nobody was told."""
        self._denied: dict[CallKey, str] = {}
        self._asking: set[CallKey] = set()
        self._lock = Lock()
        self._count = 0
        self._turns = Turns()

    def turn(self) -> AbstractContextManager[None]:
        """Treat all calls inside as one turn of the model."""
        return self._turns.turn()

    def call(self, tool: Tool, arguments: dict[str, Json], now: float | None) -> ToolCall:
        """Number a request."""
        with self._lock:
            self._count += 1
            return ToolCall(
                n=self._count,
                cell=0,
                function=tool.function.name,
                arguments=arguments,
                kind=tool.kind,
                simulated_time=now,
            )

    def stray(self, name: str) -> ToolCall:
        """Number a request that no tool can take."""
        with self._lock:
            self._count += 1
            return ToolCall(n=self._count, cell=0, function=name, arguments={}, kind=Kind.WRITE)

    def rule(self, tool: Tool, call: ToolCall) -> Ruling:
        """Decide on a call."""
        if call.kind is Kind.READ:
            return Ruling(call, "allow", "read")
        with self._lock:
            return self._look_up(tool, call, self._turns.current())

    def settle(self, ruling: Ruling, *, approved: bool, detail: str) -> Ruling:
        """Turn a person's answer into the ruling. A denial is final for that call."""
        write = ruling.write
        assert write is not None
        with self._lock:
            self._asking.discard(write.key)
            if not approved:
                self._denied[write.key] = detail
                return Ruling(ruling.call, "refuse", "refused", ruling.risks, detail=detail)
            self._made(write, self._turns.current())
            return Ruling(
                ruling.call, "allow", "verified", ruling.risks, detail=detail, write=write
            )

    def unanswered(self, ruling: Ruling) -> None:
        """Note that asking failed: the call is not made, and may be asked about again."""
        with self._lock:
            if ruling.write is not None:
                self._asking.discard(ruling.write.key)

    def hear(self, text: str) -> None:
        """Take in what the agent was told besides tool results."""
        with self._lock:
            self._observed.hear(text)

    def not_made(self, ruling: Ruling, why: str) -> None:
        """Note that a ruling reached nobody: what was let pass failed, a stop has told nothing."""
        write = ruling.write
        if write is None:
            return
        with self._lock:
            if ruling.action == "stop":
                self._stopped[write.key] = None
            write.result = CallResult(ok=False, value=why)

    def done(self, ruling: Ruling, result: CallResult) -> None:
        """Note what an allowed call brought."""
        with self._lock:
            if ruling.write is not None:
                ruling.write.result = result
            self._observed.note(ruling.call, result)

    def handed_on(self) -> None:
        """Note that a result went to the agent unread: it may have shown any value."""
        with self._lock:
            self._observed.saturated = True

    def _look_up(self, tool: Tool, call: ToolCall, turn: Turn) -> Ruling:
        function = None if tool.open_ended else tool.function
        key = call_key(call, function)
        if key in self._denied:
            return Ruling(call, "refuse", "refused", detail=self._denied[key])
        if key in self._asking:
            return Ruling(call, "refuse", "refused", detail="An equal call is being decided on.")
        self._observed.settle()
        self._history.turn = self._turns.moment()  # equal writes of this very turn are earlier ones
        situation = Situation(call, key, function, self._observed, self._history)
        risks = detect(self._risks, situation)
        cause = self._cause(situation, risks, turn)
        if cause is not None:
            return self._stop(situation, risks, cause, turn)
        if situation.finishing:
            return Ruling(call, "allow", "finish", risks)
        write = Write(key, call)
        if self._asks:
            self._asking.add(key)
            return Ruling(call, "ask", "verified", risks, write=write)
        self._made(write, turn)
        return Ruling(call, "allow", "verified", risks, write=write)

    def _made(self, write: Write, turn: Turn) -> None:
        self._history.turn = turn.began
        self._history.add(write)

    def _cause(self, situation: Situation, risks: Sequence[Detected], turn: Turn) -> Cause | None:
        most = 1 if situation.finishing else 2
        risky = self._risk_log.stopping(risks, situation.key, most=most)
        stopped_in = self._stopped.get(situation.key)
        has_read = stopped_in is not None and turn.has_read(stopped_in)
        if situation.finishing:
            unread = situation.key in self._stopped and not has_read
            return "finish" if risky or unread else None
        if not has_read:
            return "unverified"
        return "risk" if risky else None

    def _stop(
        self, situation: Situation, risks: tuple[Detected, ...], cause: Cause, turn: Turn
    ) -> Ruling:
        call, key = situation.call, situation.key
        new = self._risk_log.new(risks, key)
        self._risk_log.tell(new, key)
        if new or self._stopped.get(key) is None:
            self._stopped[key] = turn
        advisory = self._writer.write(Stop(situation, cause, risks, new, (call.function,)))
        return Ruling(call, "stop", "stopped", risks, advisory, write=Write(key, call))
