"""Writes what a gate sees and says into the trace, around any gate."""

from __future__ import annotations

from collections.abc import Callable

from runtime.contracts import CallResult, CellEnd, Decision, Gate, Injection, Json, ToolCall
from runtime.records import CallRecord, DecisionRecord, InjectionRecord, Record, ResultRecord

__all__ = ["RecordingGate"]

LARGEST_RESULT = 200_000
"""Characters of a response kept in a trace; beyond that its head is kept."""


class RecordingGate:
    """Implements `Gate` by asking another one. One `call` record per decision, none without."""

    def __init__(self, gate: Gate, write: Callable[[Record], None]) -> None:
        self._gate, self._write = gate, write
        self.calls_of_cell: list[tuple[ToolCall, CallResult]] = []
        """Calls of the running cell that were executed or answered from a record."""
        self.calls = 0
        self.executed = 0
        self.advisory_tokens = 0
        """Memory that advisories showed."""

    def begin_cell(self, source: str) -> None:
        """Pass on; forget the previous cell's calls."""
        self.calls_of_cell = []
        self._gate.begin_cell(source)

    def decide(self, call: ToolCall) -> Decision:
        """Ask the gate and record its word."""
        decision = self._gate.decide(call)
        self.calls += 1
        self._write(
            CallRecord(
                n=call.n,
                cell=call.cell,
                function=call.function,
                arguments=call.arguments,
                kind=call.kind,
                account=call.account,
                simulated_time=call.simulated_time,
                decision=DecisionRecord(
                    action=decision.action, reason=decision.reason, advisory=decision.advisory
                ),
            )
        )
        if decision.result is not None:
            self.calls_of_cell.append((call, decision.result))
        return decision

    def done(self, call: ToolCall, result: CallResult) -> None:
        """Record the result, then tell the gate."""
        self.executed += 1
        self.calls_of_cell.append((call, result))
        self._write(
            ResultRecord(n=call.n, ok=result.ok, status=result.status, value=_bounded(result))
        )
        self._gate.done(call, result)

    def observe(self, text: str) -> None:
        """Pass on what the world told the agent."""
        self._gate.observe(text)

    def end_cell(self, end: CellEnd) -> Injection:
        """Pass on; record which cards an advisory showed."""
        notes = self._gate.end_cell(end)
        if notes.cards or notes.tokens:
            self.advisory_tokens += notes.tokens
            self._write(InjectionRecord(point="advisory", cards=notes.cards, tokens=notes.tokens))
        return notes


def _bounded(result: CallResult) -> Json:
    """Return the value, or its head where the response is huge."""
    body = result.reply.get("body")
    if isinstance(body, str) and len(body) > LARGEST_RESULT:
        return {"characters": len(body), "head": body[:LARGEST_RESULT]}
    return result.value
