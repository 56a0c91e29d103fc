"""VERIFY_BEFORE_WRITE for written code: the one place where a cell's calls are decided.

A cell's first unverified write stops the cell before anything was written, so that the same cell
can be sent again. What stops a cell later (a function no advisory covered, a new high-confidence
risk) leaves a record, from which the same cell resumes. docs/gate.md gives the reasons.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from injectors.bank import Bank
from injectors.gate.advisory import AdvisoryWriter, Stop, cards_in
from injectors.gate.checklists import Checklists
from injectors.gate.latch import CallKey, call_key
from injectors.gate.memory import CardKinds, GateMemory
from injectors.gate.observed import Observed
from injectors.gate.record import Ledger, Write
from injectors.gate.risks import RISKS, Detected, Risk, RiskLog, detect
from injectors.gate.scan import CellScan, Named
from injectors.gate.settings import GateSettings
from injectors.gate.situation import History, Situation
from injectors.gate.texts import AdvisoryText, Cause
from injectors.seen import SeenCards
from injectors.tokens import count_tokens
from runtime.catalogue import Catalogue
from runtime.contracts import (
    CallResult,
    CellEnd,
    Decision,
    Injection,
    Json,
    Kind,
    Task,
    ToolCall,
)

__all__ = ["VerifyBeforeWrite"]

_STOPS_PER_RISK = 2
"""Most stops for one risk on one function in an episode; a FINISH has one."""
_READ = Decision(action="allow", reason="read")
_FINISH = Decision(action="allow", reason="finish")
_GATE_OFF = Decision(action="allow", reason="gate off")
_VERIFIED = Decision(action="allow", reason="verified")
_IN_VERIFIED_CELL = Decision(action="allow", reason="in a verified cell")
_BETWEEN_CELLS = Decision(action="refuse", reason="refused", message="No cell is running.")
_AFTER_STOP = Decision(
    action="refuse", reason="refused", message="VERIFY_BEFORE_WRITE: this cell was stopped."
)


@dataclass
class Cell:
    """The cell that is running."""

    source: str
    named: Named
    passed: bool = False
    """Whether its first write was let through: later ones may follow."""
    advisory: dict[str, Json] | None = None
    """Set once it was stopped."""
    in_flight: dict[int, Write] = field(default_factory=dict)


@dataclass
class Verified:
    """What the stops of this episode have verified."""

    covered: set[str] = field(default_factory=set)
    """Functions that an advisory covered."""
    calls: set[CallKey] = field(default_factory=set)
    sources: set[str] = field(default_factory=set)


class VerifyBeforeWrite:
    """The gate of one episode. Implements `runtime.contracts.Gate`."""

    def __init__(
        self,
        catalogue: Catalogue,
        task: Task | None = None,
        *,
        settings: GateSettings | None = None,
        bank: Bank | None = None,
        seen: SeenCards | None = None,
        cards: CardKinds = "both",
        risks: Sequence[Risk] = RISKS,
        checklists: Mapping[str, Sequence[str]] | None = None,
        text: AdvisoryText | None = None,
    ) -> None:
        """`seen` is shared with the episode's injector, so that no card is written out twice.

        `checklists`: a user's own lists, by function (`app.function`) or class (`send`, `bulk`).
        """
        self.settings = settings or GateSettings()
        self._catalogue = catalogue
        self._risks = tuple(risks)
        self._scan = CellScan(catalogue)
        self._observed = Observed(catalogue, task)
        self._ledger = Ledger()
        self._history = History()
        self._risk_log = RiskLog()
        self._verified = Verified()
        self._cell: Cell | None = None
        self._writer = AdvisoryWriter(
            catalogue,
            GateMemory(bank, seen, task, cards=cards),
            checklists=Checklists(checklists),
            text=text or AdvisoryText(),
            cap=self.settings.advisory_tokens,
        )

    def begin_cell(self, source: str) -> None:
        """Open the gate for one cell. One that was never ended counts as killed."""
        if self._cell is not None:
            self.end_cell(CellEnd(status="killed"))
        named = self._scan.named(source) if self.settings.on else Named()
        self._cell = Cell(source, named)
        self._ledger.begin(source)
        self._history.turn += 1

    def decide(self, call: ToolCall) -> Decision:
        """Decide on one call. A read costs two comparisons."""
        cell = self._cell
        if cell is None:
            return _BETWEEN_CELLS
        if cell.advisory is not None:
            return _AFTER_STOP
        if call.kind is Kind.READ:
            return _READ
        if not self.settings.on:
            return _FINISH if call.kind is Kind.FINISH else _GATE_OFF
        return self._look_up(cell, call)

    def done(self, call: ToolCall, result: CallResult) -> None:
        """Note what the world answered to a call that was allowed."""
        if not self.settings.on:
            return
        self._observed.note(call, result)
        write = self._cell.in_flight.pop(call.n, None) if self._cell else None
        if write is not None:
            write.result = result

    def end_cell(self, end: CellEnd) -> Injection:
        """Close the gate, and return the advisory or the ledger that the observation should add."""
        cell, self._cell = self._cell, None
        notes = self._closed(cell, end) if cell and self.settings.on else ""
        if not notes:
            return Injection()
        cards = cards_in(cell.advisory) if cell and cell.advisory else ()
        return Injection(text=notes, cards=cards, tokens=count_tokens(notes))

    def observe(self, text: str) -> None:
        """Take in what the agent was told besides outputs: a user's later words, a notification."""
        if self.settings.on:
            self._observed.hear(text)

    def _closed(self, cell: Cell, end: CellEnd) -> str:
        stopped = cell.advisory is not None
        complete = end.status == "finished" and not stopped
        executed = self._ledger.executed
        self._ledger.end(complete=complete, stopped=stopped)
        self._scan.remember(cell.source, complete=complete)
        if stopped:
            return json.dumps(cell.advisory, ensure_ascii=False)
        return "" if complete or not executed else self._writer.ledger_note(executed)

    def _look_up(self, cell: Cell, call: ToolCall) -> Decision:
        """Decide on a write or a FINISH: answer it from the record, stop it, or let it pass."""
        function = self._catalogue.get(call.function)
        key = call_key(call, function)
        recorded = self._ledger.record.match(key)
        cell.passed |= recorded is not None and call.kind is Kind.WRITE
        if recorded is not None and recorded.outcome == "ok":
            self._ledger.answered(recorded)
            return Decision(action="answer", reason="resumed", result=recorded.result)
        self._observed.settle()
        looped = call.function in cell.named.looped
        situation = Situation(call, key, function, self._observed, self._history, looped=looped)
        risks = detect(self._risks, situation)
        cause = self._cause(cell, situation, risks, on_record=recorded is not None)
        if cause is not None:
            return self._stop(cell, situation, risks, cause)
        return self._pass(cell, situation)

    def _cause(
        self, cell: Cell, situation: Situation, risks: Sequence[Detected], *, on_record: bool
    ) -> Cause | None:
        """Return why the call must be stopped, or None."""
        call, key = situation.call, situation.key
        most = 1 if situation.finishing else _STOPS_PER_RISK
        risky = self.settings.risk_stop and self._risk_log.stopping(risks, key, most=most)
        if situation.finishing:
            return "finish" if risky else None
        record = self._ledger.record
        if record.unmatched and not on_record and not record.asked_about_difference:
            return "difference"
        if not cell.passed and not self._is_verified(cell, key):
            return "unverified"
        if call.function not in cell.named.writes and cell.source not in self._verified.sources:
            return "unnamed"
        if call.function not in self._verified.covered:
            return "uncovered"
        return "risk" if risky else None

    def _is_verified(self, cell: Cell, key: CallKey) -> bool:
        if self.settings.latch == "call":
            return key in self._verified.calls
        if self.settings.latch == "function":
            return key.function in self._verified.covered
        return cell.source in self._verified.sources

    def _stop(
        self, cell: Cell, situation: Situation, risks: Sequence[Detected], cause: Cause
    ) -> Decision:
        call, key, record = situation.call, situation.key, self._ledger.record
        record.asked_about_difference |= cause == "difference"
        covers = cell.named.writes | (set() if situation.finishing else {call.function})
        new = self._risk_log.new(risks, key)
        self._risk_log.tell(new, key)
        self._verified.covered |= covers
        self._verified.calls.add(key)
        self._verified.sources.add(cell.source)
        executed = self._ledger.executed
        cell.advisory = self._writer.write(Stop(situation, cause, risks, new, covers, executed))
        return Decision(
            action="stop",
            reason="stopped",
            message=f"VERIFY_BEFORE_WRITE: {call.function} was stopped before it executed.",
            advisory=cell.advisory,
        )

    def _pass(self, cell: Cell, situation: Situation) -> Decision:
        write = Write(situation.key, situation.call)
        self._ledger.passed(write)
        cell.in_flight[situation.call.n] = write
        if situation.finishing:
            return _FINISH
        self._history.add(write)
        first, cell.passed = not cell.passed, True
        return _VERIFIED if first else _IN_VERIFIED_CELL
