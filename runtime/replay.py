"""Plays a recorded episode again in a fresh world: verified, toggled, or continued live.

No model is called but the one a continuation names. What differs between the three is only who
answers: the recording as it is, the recording under other settings, or the recording up to a fork
and a live model after it. `runtime.playback.Player` says what becomes of stops and confirmations
under other settings.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Literal

from runtime.compare import Difference, first_difference
from runtime.contracts import (
    Benchmark,
    ChatModel,
    Gate,
    Injector,
    Json,
    Limits,
    Value,
)
from runtime.episode import EpisodeResult, Provenance, run_episode
from runtime.errors import UsageError
from runtime.masking import Masker
from runtime.playback import Fork, Player, StopWatch, played_turns
from runtime.records import CallRecord, InjectionRecord, OutcomeRecord
from runtime.trace import TraceFile, read_trace

__all__ = ["Mode", "Replay", "StoppedWrite", "refuse_to_replace", "replay", "risk_ids"]

Mode = Literal["verify", "toggled", "continue"]
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
            "stopped_writes": [write.model_dump(mode="json") for write in self.stopped_writes],
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
    """Replay one episode with this gate and injector and write the new trace to the new file `to`.

    `live` answers after the fork in mode `continue`, from `from_step` on (counted from 1) or from
    the first step whose context differs; `live_model` describes it in the new trace. Raises
    `UsageError` if there is nothing to replay, or something at `to`.
    """
    refuse_to_replace(to)
    turns = played_turns(recorded)
    watched = StopWatch(gate)
    player = Player(recorded, turns, watched, toggled=mode == "toggled")
    masker = masker or Masker()
    model: ChatModel = player
    described = recorded.header.model
    fork: Fork | None = None
    if mode == "continue":
        if live is None:
            raise UsageError("A continuation needs a model: --continue-with MODEL.")
        model = fork = Fork(player, recorded, live, masker, from_step)
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


def refuse_to_replace(trace: Path) -> None:
    """Raise `UsageError` if there is a file at `trace`: it may be the recording."""
    if trace.exists():
        raise UsageError(f"{trace} exists, and a replay replaces nothing: choose another --out.")


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
            found.append(
                StoppedWrite(
                    function=record.function,
                    args=record.arguments,
                    risks=risk_ids(advisory),
                    advisory=advisory,
                )
            )
    return found


def risk_ids(advisory: Mapping[str, Json]) -> tuple[str, ...]:
    """Return the ids of the risks that an advisory names."""
    risks = advisory.get("detected_risks")
    found = risks if isinstance(risks, list) else []
    return tuple(
        str(risk.get("id", risk)) if isinstance(risk, dict) else str(risk) for risk in found
    )


def _outcome(trace: TraceFile) -> str:
    if trace.end is not None and trace.end.status == "errored":
        return "errored"
    outcome = next((r for r in trace.records if isinstance(r, OutcomeRecord)), None)
    if outcome is None:
        return "unknown"
    return "passed" if outcome.passed else "failed"
