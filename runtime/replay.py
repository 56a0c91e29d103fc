"""Plays a recorded episode again in a fresh world: verified, toggled, or continued live.

No model is called but the one a continuation names. What differs between the three is only who
answers: the recording as it is, the recording under other settings, or the recording up to a fork
and a live model after it. Under other settings the recording's own confirmations (the same cell
right after its stop) are dropped, and a cell that is stopped now is sent again, as an agent that
confirms would.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Literal, NoReturn

from runtime.cells import read_reply
from runtime.compare import Difference, first_difference
from runtime.contracts import (
    Benchmark,
    CallResult,
    CellEnd,
    ChatModel,
    Decision,
    Gate,
    Injection,
    Injector,
    Json,
    Limits,
    Message,
    Reply,
    ToolCall,
    Value,
)
from runtime.episode import EpisodeResult, Provenance, run_episode
from runtime.errors import RecordingEnds, RecordingMiss, UsageError
from runtime.masking import Masker
from runtime.models.recorded import recorded_turns
from runtime.trace import (
    CallRecord,
    InjectionRecord,
    MessageRecord,
    ModelCallRecord,
    ObservationRecord,
    OutcomeRecord,
    TraceFile,
    read_trace,
)

__all__ = ["Mode", "Replay", "StoppedWrite", "replay"]

Mode = Literal["verify", "toggled", "continue"]
MOST_RESENT = 5
"""Times that one stopped cell is sent again; a gate lets it pass well before."""
REPLAY_WALL_S = 3600.0


class StoppedWrite(Value):
    """One write that a gate stopped."""

    function: str
    args: dict[str, Json]
    risks: tuple[str, ...]
    advisory: dict[str, Json]


class Replay(Value):
    """What a replay showed."""

    episode: str
    mode: Mode
    same: bool
    """Whether the replay equals the recording, times aside."""
    first_difference: Difference | None
    injected_cards: tuple[str, ...]
    tokens_added: int
    """Memory tokens of the replay minus those of the recording."""
    stopped_writes: tuple[StoppedWrite, ...]
    recorded_outcome: str
    outcome: str
    fork_step: int | None = None
    """Of a continuation: the first live step; None if the recording never parted."""
    trace: Path

    def as_json(self) -> dict[str, Json]:
        """Return the object that `contramem replay --json` prints."""
        return {
            "episode": self.episode,
            "mode": self.mode,
            "same": self.same,
            "first_difference": str(self.first_difference) if self.first_difference else None,
            "injected_cards": list(self.injected_cards),
            "tokens_added": self.tokens_added,
            "stopped_writes": [
                write.model_dump(mode="json", exclude={"advisory"}) for write in self.stopped_writes
            ],
            "recorded_outcome": self.recorded_outcome,
            "outcome": self.outcome,
            "fork_step": self.fork_step,
            "trace": str(self.trace),
        }


async def replay(
    recorded: TraceFile,
    benchmark: Benchmark,
    *,
    gate: Gate,
    injector: Injector,
    mode: Mode,
    arm: dict[str, Json],
    to: Path,
    live: ChatModel | None = None,
    live_model: dict[str, Json] | None = None,
    from_step: int | None = None,
    masker: Masker | None = None,
) -> Replay:
    """Replay one episode with this gate and injector and write the new trace to `to`.

    `live` answers after the fork in mode `continue`, from `from_step` on (counted from 1) or from
    the first step whose context differs; `live_model` describes it in the new trace. Raises
    `UsageError` if there is nothing to replay.
    """
    turns = _turns(recorded)
    watched = _StopWatch(gate)
    toggled = mode == "toggled"
    kept = _without_confirmations(turns) if toggled else turns
    player = _Player(recorded, kept, watched, resend=toggled)
    masker = masker or Masker()
    model: ChatModel = player
    described = recorded.header.model
    fork: _Fork | None = None
    if mode == "continue":
        if live is None:
            raise UsageError("A continuation needs a model: --continue-with MODEL.")
        model = fork = _Fork(player, recorded, live, masker, from_step)
        described = {**(live_model or {}), "name": live.name, "continues": described}
    result = await run_episode(
        benchmark,
        recorded.header.task,
        model,
        trace=to,
        gate=watched,
        injector=injector,
        limits=_limits(recorded, mode),
        masker=masker,
        provenance=Provenance(
            episode=recorded.header.episode,
            seed=recorded.header.seed,
            model=described,
            arm=arm,
            judge=recorded.header.judge,
            parent=recorded.header.episode or str(recorded.path),
        ),
    )
    return _summary(recorded, result, mode, fork.forked_at if fork else None)


class _Turn(Value):
    """A recorded reply and what became of its cell."""

    reply: Reply
    source: str | None
    stopped: bool = False


class _StopWatch:
    """Passes everything on to a gate and remembers whether the last cell was stopped."""

    def __init__(self, gate: Gate) -> None:
        self._gate = gate
        self.stopped = False

    def begin_cell(self, source: str) -> None:
        self.stopped = False
        self._gate.begin_cell(source)

    def decide(self, call: ToolCall) -> Decision:
        decision = self._gate.decide(call)
        self.stopped = self.stopped or decision.action == "stop"
        return decision

    def done(self, call: ToolCall, result: CallResult) -> None:
        self._gate.done(call, result)

    def observe(self, text: str) -> None:
        self._gate.observe(text)

    def end_cell(self, end: CellEnd) -> Injection:
        return self._gate.end_cell(end)


class _Player:
    """Gives the recorded replies in order; with `resend`, repeats one whose cell was stopped."""

    def __init__(
        self, recorded: TraceFile, turns: Sequence[_Turn], watch: _StopWatch, *, resend: bool
    ) -> None:
        self._recorded, self._turns, self._watch = recorded, turns, watch
        self._resend = resend
        self._at = 0
        self._resent = 0

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
        if self._resend and self._at and self._watch.stopped and self._resent < MOST_RESENT:
            self._resent += 1
            return self._turns[self._at - 1].reply
        if not self.remaining:
            self._end()
        self._resent = 0
        self._at += 1
        return self._turns[self._at - 1].reply

    def _end(self) -> NoReturn:
        end = self._recorded.end
        if end is not None and end.limit is not None:
            raise RecordingEnds(end.limit)
        raise RecordingMiss(
            f"{self._recorded.path}: all {len(self._turns)} recorded replies are played, and the"
            " episode asks for one more: it no longer goes as it was recorded."
        )


class _Fork:
    """Plays the recording while the context is the recorded one, then asks a live model."""

    def __init__(
        self,
        player: _Player,
        recorded: TraceFile,
        live: ChatModel,
        masker: Masker,
        from_step: int | None,
    ) -> None:
        self._player, self._live, self._masker = player, live, masker
        self._contexts = _contexts(recorded)
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


def _turns(recorded: TraceFile) -> list[_Turn]:
    """Return the recorded replies, each with its cell and whether that was stopped."""
    fates = iter(
        record.end.status for record in recorded.records if isinstance(record, ObservationRecord)
    )
    turns = []
    for turn in recorded_turns(recorded):
        source = read_reply(turn.reply).source
        stopped = source is not None and next(fates, "") == "stopped"
        turns.append(_Turn(reply=turn.reply, source=source, stopped=stopped))
    if not turns:
        raise UsageError(f"{recorded.path} holds no model reply: there is nothing to replay.")
    return turns


def _without_confirmations(turns: Sequence[_Turn]) -> list[_Turn]:
    """Drop each turn that only sends a stopped cell again, as the one before it was sent."""
    return [
        turn
        for before, turn in zip((None, *turns), turns, strict=False)
        if before is None or not before.stopped or turn.source != before.source
    ]


def _contexts(recorded: TraceFile) -> list[list[tuple[str, str]]]:
    """Return the conversation that each recorded reply answered."""
    contexts: list[list[tuple[str, str]]] = []
    messages: list[tuple[str, str]] = []
    for record in recorded.records:
        if isinstance(record, ModelCallRecord):
            contexts.append(list(messages))
        elif isinstance(record, MessageRecord):
            messages.append((record.role, record.content))
    return contexts


def _limits(recorded: TraceFile, mode: Mode) -> Limits:
    """Return the recorded limits; in a replay of recorded turns those that time or tokens set do
    not count, since the recording itself says where it ended.
    """
    limits = recorded.header.limits
    if mode == "continue":
        return limits
    steps = limits.steps if mode == "verify" else len(recorded.records) + limits.steps
    free = {"tokens": None, "cost_usd": None, "context_tokens": None}
    return limits.model_copy(update={**free, "steps": steps, "wall_s": REPLAY_WALL_S})


def _summary(recorded: TraceFile, result: EpisodeResult, mode: Mode, fork: int | None) -> Replay:
    replayed = read_trace(result.trace)
    difference = first_difference(recorded, replayed)
    return Replay(
        episode=recorded.header.episode or recorded.path.stem,
        mode=mode,
        same=difference is None,
        first_difference=difference,
        injected_cards=_cards(replayed),
        tokens_added=_tokens(replayed) - _tokens(recorded),
        stopped_writes=tuple(_stops(replayed)),
        recorded_outcome=_outcome(recorded),
        outcome=_outcome(replayed),
        fork_step=fork,
        trace=result.trace,
    )


def _cards(trace: TraceFile) -> tuple[str, ...]:
    found = (record.cards for record in trace.records if isinstance(record, InjectionRecord))
    return tuple(dict.fromkeys(card for cards in found for card in cards))


def _tokens(trace: TraceFile) -> int:
    return sum(record.tokens for record in trace.records if isinstance(record, InjectionRecord))


def _stops(trace: TraceFile) -> list[StoppedWrite]:
    found = []
    for record in trace.records:
        if isinstance(record, CallRecord) and record.decision.action == "stop":
            advisory = record.decision.advisory or {}
            risks = advisory.get("detected_risks")
            names = [_risk_id(risk) for risk in risks] if isinstance(risks, list) else []
            found.append(
                StoppedWrite(
                    function=record.function,
                    args=record.arguments,
                    risks=tuple(names),
                    advisory=advisory,
                )
            )
    return found


def _risk_id(risk: Json) -> str:
    return str(risk.get("id", risk)) if isinstance(risk, dict) else str(risk)


def _outcome(trace: TraceFile) -> str:
    if trace.end is not None and trace.end.status == "errored":
        return "errored"
    outcome = next((r for r in trace.records if isinstance(r, OutcomeRecord)), None)
    if outcome is None:
        return "unknown"
    return "passed" if outcome.passed else "failed"
