"""What a risk or a checklist may look at: one call, the task, and what the episode knows."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from injectors.gate.latch import CallKey
from injectors.gate.observed import Observed
from injectors.gate.record import Write
from runtime.catalogue import Function
from runtime.contracts import Json, Kind, ToolCall

__all__ = ["History", "Situation"]


@dataclass
class History:
    """The writes that an episode has let pass, in order, and where they stood."""

    writes: list[tuple[int, Write]] = field(default_factory=list)
    """(turn, write): the turn is the run of a cell, or one call where there are no cells."""
    turn: int = 0
    _by_key: dict[CallKey, list[tuple[int, Write]]] = field(default_factory=dict)

    def add(self, write: Write) -> None:
        """Note a write that is let pass."""
        self.writes.append((self.turn, write))
        self._by_key.setdefault(write.key, []).append((self.turn, write))

    def earlier_equal(self, key: CallKey) -> Sequence[Write]:
        """Return equal writes of earlier turns that took effect, or may have."""
        entries = self._by_key.get(key, ())
        return [write for turn, write in entries if turn < self.turn and write.outcome != "failed"]

    def failed(self) -> Sequence[Write]:
        """Return the failed writes that nothing has made good since.

        Made good: an equal call succeeded later, or a later turn succeeded with that function. A
        refusal because the state was "already" as wanted is no failure.
        """
        succeeded: dict[str, int] = {}
        keys: set[CallKey] = set()
        open_: list[Write] = []
        for turn, write in reversed(self.writes):
            if write.outcome == "ok":
                keys.add(write.key)
                succeeded.setdefault(write.call.function, turn)
            elif write.outcome == "failed" and not _already(write):
                later = succeeded.get(write.call.function, turn)
                if write.key not in keys and later <= turn:
                    open_.append(write)
        return open_[::-1]


def _already(write: Write) -> bool:
    text = str(write.result.value)[:500] if write.result else ""
    return re.search(r"\balready\b", text) is not None


@dataclass(frozen=True)
class Situation:
    """One write or FINISH that is being looked up."""

    call: ToolCall
    key: CallKey
    function: Function | None
    observed: Observed
    history: History
    looped: bool = False
    """The source makes this call in a loop."""

    @property
    def task_text(self) -> str:
        """The task's words, with what the prompt gave besides."""
        return self.observed.task_text

    @property
    def arguments(self) -> Mapping[str, Json]:
        """Arguments other than defaults written out and those the function does not have."""
        parameters = self.function.by_parameter if self.function else None
        if parameters is None:
            return self.call.arguments
        return {
            name: value
            for name, value in self.call.arguments.items()
            if name in parameters
            and not (parameters[name].has_default and parameters[name].default == value)
        }

    @property
    def now(self) -> datetime | None:
        """The world's clock; where it tells none, the moment at which the task plays.

        AppWorld's clock stands still at that moment and is no part of its answers.
        """
        moment = self.call.simulated_time
        return self.observed.clock if moment is None else datetime.fromtimestamp(moment, UTC)

    @property
    def finishing(self) -> bool:
        """Whether the call would close the task."""
        return self.call.kind is Kind.FINISH
