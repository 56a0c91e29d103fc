"""Plays what `contramem replay` was asked for: which episodes, under what, and where to."""

from __future__ import annotations

import itertools
import os
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.progress import track

from injectors.bank import Bank
from injectors.profiles import MemorySettings, settings_for
from runtime.contracts import Benchmark, Json, ModelSource
from runtime.errors import UsageError
from runtime.masking import Masker
from runtime.models.resolve import Models
from runtime.records import Header, ModelCallRecord
from runtime.replay import Mode, Replay, refuse_to_replace, replay
from runtime.runs import file_name, where_runs_are
from runtime.trace import TraceFile, read_trace
from scripts.benchmarks import (
    OpenOptions,
    block_form,
    default_latch,
    open_benchmark,
    persona_folders,
)
from scripts.commands.show import find_trace
from scripts.planning import Checkable
from scripts.policies import describe, memory_bank, policy
from scripts.running import say

__all__ = ["ReplayRequest", "episodes_of", "new_folder", "new_places", "replay_all"]

OURS = {"name", "memory", "memory_path", "profile"}
"""What an arm's settings say that is not taken over into a replay's."""


@dataclass(frozen=True)
class ReplayRequest:
    """What to replay, and how."""

    episodes: Mapping[Path, Header]
    """The traces to play, each read whole once to be sure of it; in memory one is at a time."""
    places: Mapping[Path, Path]
    """Where the new trace of each goes."""
    overrides: dict[str, Json]
    profile: str | None
    model: str | None
    from_step: int | None
    models_file: Path | None
    prompt: Path | None
    judge: str | None
    out: Path

    @property
    def mode(self) -> Mode:
        """Say what kind of replay this is."""
        if self.model is not None:
            return "continue"
        changed = self.profile is not None or any(v is not None for v in self.overrides.values())
        return "toggled" if changed else "verify"


def episodes_of(target: str) -> dict[Path, Header]:
    """Return the traces of a run folder, or of one episode, each read whole.

    Raises `UsageError` and `BadFile`.
    """
    path = Path(target)
    if not path.is_dir():
        return {(found := find_trace(target)): _own(found).header}
    episodes: dict[Path, Header] = {}
    for file in sorted(path.rglob("episodes/*.jsonl")):
        trace = _own(file)
        if any(isinstance(record, ModelCallRecord) for record in trace.records):
            episodes[file] = trace.header
        else:
            say(Console(stderr=True), f"left out: {file} ended before the model's first reply")
    if not episodes:
        for file in sorted(path.glob("*.jsonl")):
            _own(file)
        raise UsageError(f"{path} holds no complete episode. {where_runs_are(path)}".rstrip())
    return episodes


def _own(path: Path) -> TraceFile:
    """Read a trace. Raises `UsageError` for an imported one."""
    trace = read_trace(path)
    if trace.header.source:
        raise UsageError(
            f"{path} was imported ({trace.header.source}): it cannot be replayed, because its"
            f" world is not here. Read it with `contramem show {path}`."
        )
    return trace


def new_folder() -> Path:
    """Name a folder after the time that is not there yet."""
    name = f"replay-{time.strftime('%Y%m%d-%H%M%S')}"
    names = (name if number == 1 else f"{name}-{number}" for number in itertools.count(1))
    return next(folder for each in names if not (folder := Path("runs") / each).exists())


def new_places(episodes: Mapping[Path, Header], out: Path) -> dict[Path, Path]:
    """Return where new traces go: RUN/ARM/episodes/TASK, without RUN where there is but one.

    Raises `UsageError` if there is something already.
    """
    runs = {trace: trace.absolute().parent.parent.parent for trace in episodes}
    above = os.path.commonpath(runs.values())
    places = {
        trace: out
        / runs[trace].relative_to(above)
        / file_name(str(header.arm.get("name", "arm")))
        / "episodes"
        / trace.name
        for trace, header in episodes.items()
    }
    for place in places.values():
        refuse_to_replace(place)
    return places


async def replay_all(request: ReplayRequest) -> list[Replay]:
    """Replay all episodes. Raises `UsageError` or `NotReady` before the first."""
    models = Models(models_file=request.models_file, personas=persona_folders())
    live = models.resolve(request.model) if request.model is not None else None
    judge = models.resolve(request.judge) if request.judge is not None else None
    asked = [source for source in (live, judge) if source is not None]
    replays: list[Replay] = []
    try:
        arms = _arms(request)
        for source in asked:
            if isinstance(source, Checkable):
                await source.check()
        for (bench, dataset, think_time), paths in _by_world(request.episodes).items():
            options = OpenOptions(prompt=request.prompt, judge=judge, think_time=think_time)
            async with open_benchmark(bench, dataset, options) as benchmark:
                benchmark.check([request.episodes[path].task for path in paths])
                replays += [
                    await _replay_one(request, read_trace(path), arms[path], benchmark, live)
                    for path in _tracked(paths)
                ]
    finally:
        for source in asked:
            await source.close()
    return replays


def _by_world(episodes: Mapping[Path, Header]) -> dict[tuple[str, str, str | None], list[Path]]:
    """Group traces by what has to be opened for them: benchmark, dataset, cost of thinking."""
    groups: dict[tuple[str, str, str | None], list[Path]] = {}
    for path, header in episodes.items():
        world = (header.task.benchmark, header.task.dataset, header.versions.get("think_time"))
        groups.setdefault(world, []).append(path)
    return groups


def _tracked(paths: list[Path]) -> Iterable[Path]:
    if len(paths) == 1:
        return paths
    return track(paths, description="replaying", console=Console(stderr=True), transient=True)


@dataclass(frozen=True)
class _Arm:
    """What an episode is replayed under."""

    settings: MemorySettings
    bank: Bank | None


def _arms(request: ReplayRequest) -> dict[Path, _Arm]:
    """Return what each episode is replayed under. Raises `UsageError`, also for an edited bank."""
    banks: dict[tuple[str | None, str], Bank | None] = {}
    arms: dict[Path, _Arm] = {}
    for path, header in request.episodes.items():
        settings = _settings(request, header.arm, header.task.benchmark)
        place = (settings.memory, header.task.benchmark)
        if place not in banks:
            banks[place] = memory_bank(*place)
        bank, recorded = banks[place], header.arm.get("memory")
        of_the_run = request.overrides["memory"] is None
        if of_the_run and bank is not None and not str(recorded).endswith(bank.hash[:16]):
            raise UsageError(
                f"{settings.memory} is not the bank of this episode ({recorded}): it was edited."
                " Name the bank with --memory to replay under another."
            )
        arms[path] = _Arm(settings, bank)
    return arms


async def _replay_one(
    request: ReplayRequest,
    trace: TraceFile,
    arm: _Arm,
    benchmark: Benchmark,
    live: ModelSource | None,
) -> Replay:
    header = trace.header
    form = block_form(header.task.benchmark)
    make = policy(arm.settings, arm.bank, await benchmark.catalogue(), form)
    gate, injector = make(header.task)
    return await replay(
        trace,
        benchmark,
        gate=gate,
        injector=injector,
        mode=request.mode,
        arm={**header.arm, **describe(arm.settings, arm.bank)},
        to=request.places[trace.path],
        live=live.for_episode(header.task, header.seed) if live else None,
        live_model=live.describe() if live else None,
        from_step=request.from_step,
        masker=Masker(live.secrets() if live else ()),
    )


def _settings(request: ReplayRequest, arm: Mapping[str, Json], benchmark: str) -> MemorySettings:
    """Return the recorded settings with the request's in their place."""
    recorded = {
        name: value
        for name, value in arm.items()
        if name in MemorySettings.model_fields and name not in OURS
    }
    recorded["memory"] = arm.get("memory_path") or "none"
    given = {name: value for name, value in request.overrides.items() if value is not None}
    base = {} if request.profile is not None else recorded
    chosen = request.profile or str(arm.get("profile", "none"))
    return settings_for(chosen, {**base, **given}, latch=default_latch(benchmark))
