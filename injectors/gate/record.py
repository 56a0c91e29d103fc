"""What writes were let pass: the ledger of a running cell, and the records that stopped cells left.

A cell that was stopped after some writes cannot simply run again: it would write twice. Its writes
are therefore kept under its exact source. When that source is sent again, each kept write answers
one equal call in place of executing, until the source has once run to its end.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from injectors.gate.latch import CallKey
from runtime.contracts import CallResult, ToolCall

__all__ = ["Ledger", "Record", "Write"]


@dataclass
class Write:
    """One write (or FINISH) that was let pass. `result` arrives later, or never after a kill."""

    key: CallKey
    call: ToolCall
    result: CallResult | None = None

    @property
    def outcome(self) -> str:
        """In one word, for the agent: ok, failed, or unknown."""
        if self.result is None:
            return "unknown"
        return "ok" if self.result.ok else "failed"


@dataclass
class Record:
    """The writes that earlier runs of one source made and its present run has not asked for."""

    unmatched: list[Write] = field(default_factory=list)
    asked_about_difference: bool = False
    """Whether the source was stopped once for a write that is not on record."""

    def match(self, key: CallKey) -> Write | None:
        """Return the kept write that equals this call, a successful one first."""
        equal = [write for write in self.unmatched if write.key == key]
        return next(
            (write for write in equal if write.outcome == "ok"), equal[0] if equal else None
        )


class Ledger:
    """The writes of the running cell, and the records of stopped ones by source."""

    def __init__(self) -> None:
        self.writes: list[Write] = []
        self.record = Record()
        self.resumed = 0
        self._source = ""
        self._kept: dict[str, Record] = {}

    def begin(self, source: str) -> None:
        """Start a cell; a source that was stopped in mid-cell brings its record."""
        self.writes, self.resumed, self._source = [], 0, source
        kept = self._kept.get(source, Record())
        self.record = Record(list(kept.unmatched), kept.asked_about_difference)

    def passed(self, write: Write) -> None:
        """Note a write that is let pass, in place of a failed one on record."""
        self._forget(self.record.match(write.key))
        self.writes.append(write)

    def answered(self, write: Write) -> None:
        """Note a write that is answered from the record."""
        self._forget(write)
        self.writes.append(write)
        self.resumed += 1

    def end(self, *, complete: bool, stopped: bool) -> None:
        """Close the cell. A record stays, and grows, until its source has run to its end."""
        if complete:
            self._kept.pop(self._source, None)
            return
        everything = [*self.writes, *self.record.unmatched]
        if everything and (stopped or self._source in self._kept):
            self._kept[self._source] = Record(everything, self.record.asked_about_difference)

    @property
    def executed(self) -> list[Write]:
        """All writes of this cell so far, those of its earlier runs included."""
        return [*self.writes, *self.record.unmatched]

    def _forget(self, write: Write | None) -> None:
        self.record.unmatched = [item for item in self.record.unmatched if item is not write]
