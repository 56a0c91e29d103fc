"""One open task, split in three: this is the middle. Cell -> gate -> world, and the way back.

The same class serves every benchmark. What differs (how a request names a function, what the
world's frames look like) is behind `Wiring`; what decides is behind `Gate`.
"""

from __future__ import annotations

import asyncio
import math
import time
from typing import Protocol

from runtime.bridge.cell import CellProcess
from runtime.bridge.host import Child
from runtime.bridge.lockdown import describe
from runtime.bridge.wire import BadFrame, Closed, Frame
from runtime.contracts import (
    CallResult,
    Check,
    Decision,
    Gate,
    Json,
    Kind,
    Limits,
    Observation,
    Outcome,
    Refusal,
    ToolCall,
    Value,
)
from runtime.errors import WorldError

__all__ = ["Route", "SplitWorld", "Unrouted", "Wiring"]


KILL_AFTER_S = 2.0
"""Added to a cell's time: the engine's own, gentler time-out keeps the variables; ours does not."""


class Route(Value):
    """A request that names a function of the world, in canonical form."""

    function: str
    arguments: dict[str, Json]
    kind: Kind
    account: str | None = None
    token_seen: bool = False
    frame: dict[str, Json]
    """What the world process receives: built from the fields above, never the cell's own words."""


class Unrouted(Value):
    """A request that no function answers to."""

    request: str
    reason: str
    reply: dict[str, Json]
    """What the cell receives."""
    note: dict[str, Json] | None = None
    """What the world process should log, where the plain engine would have logged it."""


class Wiring(Protocol):
    """What is particular about one benchmark's frames."""

    def route(self, frame: Frame) -> Route | Unrouted:
        """Read a hostile frame. Never raises."""
        ...

    def result(self, reply: Frame) -> CallResult:
        """Read the world's reply to a call."""
        ...


class SplitWorld:
    """Implements `runtime.contracts.World` over a cell process and a world process.

    The world process answers `{"op": "call" | "note" | "state" | "evaluate", ...}`. `state` tells
    `done`, `notifications` and `time` after each cell; `evaluate` takes the cells and their
    outputs, saves, and gives `{"passed", "checks": [{requirement, passed, detail}]}`.
    """

    def __init__(
        self,
        *,
        cell: CellProcess,
        world: Child,
        wiring: Wiring,
        gate: Gate,
        limits: Limits,
        exchange_s: float = 120.0,
    ) -> None:
        self._cell, self._world, self._wiring = cell, world, wiring
        self._gate, self._limits, self._exchange_s = gate, limits, exchange_s
        self._exchange = asyncio.Lock()
        self._owed = 0
        self._io: list[dict[str, str]] = []
        self._calls = 0
        self._cell_number = 0
        self._time: float | None = None
        self._run = _Run()

    @property
    def lockdown(self) -> str:
        """The level of lock-down in force for agent code."""
        return describe(self._cell.lockdown)

    @property
    def processes(self) -> tuple[int, ...]:
        """The ids of its two processes, cell and world, as long as it is open."""
        return (self._cell.pid, self._world.pid)

    async def execute(self, source: str, *, seconds: float | None = None) -> Observation:
        """Run one cell under the gate. Raises `WorldError`."""
        begun = time.monotonic()
        self._run = _Run()
        await self._cell.refuse_left_overs(self._answer)
        self._cell_number += 1
        self._run = _Run(cell=self._cell_number)
        self._gate.begin_cell(source)
        run = await self._cell.run(
            source,
            self._answer,
            self._stopped,
            self._limits.cell_s + KILL_AFTER_S,
            (math.inf if seconds is None else seconds) + KILL_AFTER_S,
        )
        end = run.end
        notes = self._gate.end_cell(end).text
        self._io.append({"input": source, "output": run.text.rstrip()})
        state = await self.ask({"op": "state"})
        self._time = state.get("time")
        return Observation(
            text=run.text,
            notes=notes,
            end=end,
            calls=self._run.calls,
            wall_s=time.monotonic() - begun,
            done=bool(state["done"]),
            notifications=tuple(state.get("notifications", ())),
            refusals=tuple(self._run.refusals),
        )

    async def thought(self, seconds: float) -> None:
        """Do nothing: this world has no clock that the agent's thinking moves."""

    async def evaluate(self) -> Outcome:
        """Save and judge the final state. Raises `WorldError`."""
        verdict = await self.ask({"op": "evaluate", "io": self._io})
        checks = tuple(Check.model_validate(check) for check in verdict["checks"])
        return Outcome(passed=bool(verdict["passed"]), checks=checks)

    async def close(self) -> None:
        """End both processes."""
        await self._cell.close()
        await self._world.end()

    async def ask(self, frame: Frame) -> Frame:
        """Exchange one frame with the world process. Raises `WorldError`."""
        try:
            async with self._exchange, asyncio.timeout(self._exchange_s):
                reply = await self._exchanged(frame)
        except TimeoutError:
            raise WorldError(
                f"The world did not answer {frame['op']!r} within {self._exchange_s:g} s."
            ) from None
        except (Closed, BadFrame) as error:
            raise WorldError(f"The world process ended ({error}).") from None
        if "error" in reply:
            raise WorldError(f"The world failed on {frame['op']!r}: {reply['error']}")
        return reply

    async def _exchanged(self, frame: Frame) -> Frame:
        channel = self._world.channels[0]
        try:
            await channel.send(frame)
        except asyncio.CancelledError:
            channel.close()  # half a frame would garble every later one
            raise
        self._owed += 1
        while True:  # a caller that was cancelled has left its reply behind
            reply = await channel.recv()
            self._owed -= 1
            if not self._owed:
                return reply

    def _stopped(self) -> bool:
        return self._run.stopped

    async def _answer(self, frame: Frame) -> Frame:
        route = self._wiring.route(frame)
        if isinstance(route, Unrouted):
            return await self._refuse(route)
        self._calls += 1
        self._run.calls += 1
        call = ToolCall(
            n=self._calls,
            cell=self._run.cell,
            function=route.function,
            arguments=route.arguments,
            kind=route.kind,
            account=route.account,
            token_seen=route.token_seen,
            simulated_time=self._time,
        )
        if self._run.cell and self._run.calls > self._limits.calls_per_cell:
            return {"raise": self._too_many()}
        decision = self._gate.decide(call)
        return await self._carry_out(decision, call, route)

    async def _carry_out(self, decision: Decision, call: ToolCall, route: Route) -> Frame:
        if decision.action == "stop":
            self._run.stopped = True
            return {"stop": True}
        if decision.action == "refuse":
            return {"stop": True} if self._run.stopped else {"raise": decision.message}
        if decision.action == "answer":
            if decision.result is None:
                raise WorldError("The gate answered a call without a recorded result.")
            return dict(decision.result.reply)
        reply = await self.ask({"op": "call", **route.frame})
        self._time = reply.pop("time", self._time)
        self._gate.done(call, self._wiring.result(reply))
        return reply

    async def _refuse(self, unrouted: Unrouted) -> Frame:
        if len(self._run.refusals) < 100:
            self._run.refusals.append(Refusal(request=unrouted.request, reason=unrouted.reason))
        if self._run.stopped:
            return {"stop": True}
        self._run.calls += 1
        if self._run.calls > self._limits.calls_per_cell:
            return {"raise": self._too_many()}
        if unrouted.note is not None and self._run.cell:
            await self.ask({"op": "note", **unrouted.note})
        return dict(unrouted.reply)

    def _too_many(self) -> str:
        most = self._limits.calls_per_cell
        return (
            f"Number of requests exceeded the limit of {most}."
            " This potentially means that you have an infinite loop in your code."
        )


class _Run:
    """What is known of the cell that is running; `cell` is 0 between cells."""

    def __init__(self, cell: int = 0) -> None:
        self.cell = cell
        self.calls = 0
        self.stopped = False
        self.refusals: list[Refusal] = []
