"""Who answers in a replay: the recording, or up to a fork, and a live model after it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NoReturn

from runtime.cells import read_reply
from runtime.contracts import (
    CallResult,
    CellEnd,
    ChatModel,
    Decision,
    Gate,
    Injection,
    Message,
    Reply,
    ToolCall,
    Value,
)
from runtime.errors import RecordingEnds, RecordingMiss, UsageError
from runtime.masking import Masker
from runtime.models.recorded import recorded_turns
from runtime.records import CallRecord, CellRecord, MessageRecord, ModelCallRecord
from runtime.trace import TraceFile

__all__ = ["Fork", "Player", "StopWatch", "Turn", "played_turns"]

MOST_RESENT = 5
"""Times that one stopped cell is sent again; a gate lets it pass well before."""


class Turn(Value):
    """A recorded reply and what became of its cell."""

    reply: Reply
    source: str | None
    stopped: bool = False


class StopWatch:
    """Passes everything on to a gate and remembers whether the last cell was stopped."""

    def __init__(self, gate: Gate) -> None:
        self._gate = gate
        self.stopped = False

    def begin_cell(self, source: str) -> None:
        """Pass on; the new cell is not stopped yet."""
        self.stopped = False
        self._gate.begin_cell(source)

    def decide(self, call: ToolCall) -> Decision:
        """Pass on and remember a stop."""
        decision = self._gate.decide(call)
        self.stopped = self.stopped or decision.action == "stop"
        return decision

    def done(self, call: ToolCall, result: CallResult) -> None:
        """Pass on."""
        self._gate.done(call, result)

    def observe(self, text: str) -> None:
        """Pass on."""
        self._gate.observe(text)

    def end_cell(self, end: CellEnd) -> Injection:
        """Pass on."""
        return self._gate.end_cell(end)


class Player:
    """Gives the recorded replies in order.

    `toggled`: the gate may stop other cells than it did in the recording. A cell that only now is
    stopped is sent again, as an agent that confirms would. One that was stopped then and runs now
    has done its work: the recording's later turns that send it again are passed over, else its
    writes would happen twice. What the recorded agent did between a stop and its confirmation, and
    what it made of a stop that happens in both, is its own, and is played as it is.
    """

    def __init__(
        self, recorded: TraceFile, turns: Sequence[Turn], watch: StopWatch, *, toggled: bool
    ) -> None:
        self._recorded, self._turns, self._watch = recorded, turns, watch
        self._toggled = toggled
        self._at = 0
        self._resent = 0
        self._has_run: set[str] = set()

    @property
    def name(self) -> str:
        """The recorded model's name."""
        return str(self._recorded.header.model.get("name", self._recorded.path.name))

    @property
    def remaining(self) -> int:
        """Count the recorded turns that are left."""
        return len(self._turns) - self._at

    async def complete(self, messages: Sequence[Message]) -> Reply:  # noqa: ARG002 - protocol
        """Give the next reply. Raises `RecordingEnds` or `RecordingMiss`."""
        if self._toggled and self._at:
            last = self._turns[self._at - 1]
            if last.source is not None:
                if self._watch.stopped and not last.stopped and self._resent < MOST_RESENT:
                    self._resent += 1
                    return last.reply
                if last.stopped and not self._watch.stopped:
                    self._has_run.add(last.source)
            self._pass_over_confirmations()
        if not self.remaining:
            self._end()
        self._resent = 0
        self._at += 1
        return self._turns[self._at - 1].reply

    def _pass_over_confirmations(self) -> None:
        while self.remaining and (turn := self._turns[self._at]).source in self._has_run:
            self._at += 1
            if not turn.stopped:
                self._has_run.discard(turn.source)

    def _end(self) -> NoReturn:
        end = self._recorded.end
        if end is not None and end.limit is not None:
            raise RecordingEnds(end.limit)
        raise RecordingMiss(
            f"{self._recorded.path}: all {len(self._turns)} recorded replies are played, and the"
            " episode asks for one more: it no longer goes as it was recorded."
        )


class Fork:
    """Plays the recording while the context is the recorded one, then asks a live model."""

    def __init__(
        self,
        player: Player,
        recorded: TraceFile,
        live: ChatModel,
        masker: Masker,
        from_step: int | None,
    ) -> None:
        self._player, self._live, self._masker = player, live, masker
        self._contexts = contexts(recorded)
        self._from_step = from_step
        self._step = 0
        self._seen = 0
        self.forked_at: int | None = None

    @property
    def name(self) -> str:
        """The live model's name."""
        return self._live.name

    async def complete(self, messages: Sequence[Message]) -> Reply:
        """Answer from the recording or, past the fork, live."""
        self._step += 1
        if self.forked_at is None and self._parts(messages):
            self.forked_at = self._step
        if self.forked_at is not None:
            return await self._live.complete(messages)
        return await self._player.complete(messages)

    def _parts(self, messages: Sequence[Message]) -> bool:
        new, self._seen = range(self._seen, len(messages)), len(messages)
        if not self._player.remaining:
            return True
        if self._from_step is not None:
            return self._step >= self._from_step
        recorded = self._contexts[self._step - 1]
        if len(messages) != len(recorded):
            return True
        # each message once, when it is new: what is learnt later was not masked in it either
        return any(
            (messages[at].role, self._masker.mask_text(messages[at].content)) != recorded[at]
            for at in new
            if messages[at].role != "assistant"  # its words are the recording's own
        )


def played_turns(recorded: TraceFile) -> list[Turn]:
    """Return the recorded replies, each with its cell and whether that was stopped."""
    cells = (record.cell for record in recorded.records if isinstance(record, CellRecord))
    stopped = {
        record.cell
        for record in recorded.records
        if isinstance(record, CallRecord) and record.decision.action == "stop"
    }
    turns = []
    for turn in recorded_turns(recorded):
        source = read_reply(turn.reply).source
        was_stopped = source is not None and next(cells, None) in stopped
        turns.append(Turn(reply=turn.reply, source=source, stopped=was_stopped))
    if not turns:
        raise UsageError(f"{recorded.path} holds no model reply: there is nothing to replay.")
    return turns


def contexts(recorded: TraceFile) -> list[list[tuple[str, str]]]:
    """Return the conversation that each recorded reply answered."""
    contexts: list[list[tuple[str, str]]] = []
    messages: list[tuple[str, str]] = []
    for record in recorded.records:
        if isinstance(record, ModelCallRecord):
            contexts.append(list(messages))
        elif isinstance(record, MessageRecord):
            messages.append((record.role, record.content))
    return contexts
