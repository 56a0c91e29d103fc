"""`contramem replay`: recorded episodes again, as they were or under other settings."""

from __future__ import annotations

import asyncio
import itertools
import json
import os
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer
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
from runtime.report.side_by_side import replays_table, side_by_side
from runtime.report.visible import as_it_is
from runtime.runs import file_name, where_runs_are
from runtime.trace import TraceFile, read_trace
from scripts.benchmarks import (
    OpenOptions,
    block_form,
    default_latch,
    open_benchmark,
    persona_folders,
)
from scripts.commands.options import (
    Cards,
    Gate,
    Jit,
    Latch,
    ModelsFile,
    PreTool,
    RiskStop,
    memory_option,
    memory_settings,
)
from scripts.commands.show import find_trace
from scripts.planning import Checkable
from scripts.policies import describe, memory_bank, policy
from scripts.running import say
from scripts.tables import print_table

__all__ = ["replay_command"]

DIFFERS_OR_ERRORED = 1
OURS = {"name", "memory", "memory_path", "profile"}


@dataclass(frozen=True)
class _Request:
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


def replay_command(
    target: Annotated[
        str,
        typer.Argument(
            metavar="RUN_OR_EPISODE",
            help="A run folder, or one episode: a trace file or RUN/ARM/TASK.",
        ),
    ],
    memory: Annotated[
        str | None, memory_option("Another bank's folder, or none.", "--memory", metavar="BANK")
    ] = None,
    profile: Annotated[
        str | None,
        memory_option("Another profile (contramem run --help).", "--profile", metavar="NAME"),
    ] = None,
    cards: Cards = None,
    gate: Gate = None,
    latch: Latch = None,
    risk_stop: RiskStop = None,
    jit: Jit = None,
    pre_tool: PreTool = None,
    continue_with: Annotated[
        str | None,
        typer.Option(metavar="MODEL", help="Go on live with this model where the context differs."),
    ] = None,
    from_step: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            min=1,
            help="Go on live from step N, even where the context is still the same.",
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Folder for the new traces (default: below ./runs)."),
    ] = None,
    models: ModelsFile = None,
    prompt: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The prompt template of the run.")
    ] = None,
    judge: Annotated[
        str | None, typer.Option(metavar="MODEL", help="Judges what has no scripted checks.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Play recorded episodes in a fresh world. No model is called, except by --continue-with
    and --judge.

    Without options: verify that the same cells give the same observations, decisions and outcome.

    With other settings of memory or gate: show what they would have injected and stopped.

    Exits with 1 if a verified episode differs or any replay errored.
    """
    episodes = _episodes(target)
    out = out or _new_folder()
    request = _Request(
        episodes=episodes,
        places=_places(episodes, out),
        overrides={
            "memory": memory,
            **memory_settings(
                cards=cards,
                gate=gate,
                latch=latch,
                risk_stop=risk_stop,
                jit=jit,
                pre_tool=pre_tool,
            ),
        },
        profile=profile,
        model=continue_with,
        from_step=from_step,
        models_file=models,
        prompt=prompt,
        judge=judge,
        out=out,
    )
    if from_step is not None and continue_with is None:
        raise UsageError("--from-step needs --continue-with MODEL.")
    replays = asyncio.run(_replay_all(request))
    _show(request, replays, as_json=as_json)
    differs = request.mode == "verify" and not all(each.same for each in replays)
    if differs or any(each.outcome == "errored" for each in replays):
        raise typer.Exit(DIFFERS_OR_ERRORED)


def _episodes(target: str) -> dict[Path, Header]:
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


def _new_folder() -> Path:
    """Name a folder after the time that is not there yet."""
    name = f"replay-{time.strftime('%Y%m%d-%H%M%S')}"
    names = (name if number == 1 else f"{name}-{number}" for number in itertools.count(1))
    return next(folder for each in names if not (folder := Path("runs") / each).exists())


def _places(episodes: Mapping[Path, Header], out: Path) -> dict[Path, Path]:
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


async def _replay_all(request: _Request) -> list[Replay]:
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


def _arms(request: _Request) -> dict[Path, _Arm]:
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
    request: _Request,
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


def _settings(request: _Request, arm: Mapping[str, Json], benchmark: str) -> MemorySettings:
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


def _show(request: _Request, replays: list[Replay], *, as_json: bool) -> None:
    if as_json:
        print(json.dumps({"episodes": [each.as_json() for each in replays]}))
        return
    console = Console()
    verified = request.mode == "verify"
    if len(replays) == 1 and not (verified and replays[0].same):
        recorded, replayed = (next(iter(request.episodes)), replays[0].trace)
        console.print(side_by_side(read_trace(recorded), read_trace(replayed), fold=verified))
    print_table(replays_table(replays))
    for each in replays:
        if each.first_difference is not None and verified:
            text = f"{each.episode}: {each.first_difference}"
            console.print(as_it_is(text), soft_wrap=True)
    console.print(f"New traces: {request.out}", highlight=False, markup=False, soft_wrap=True)
