"""From the options of `contramem run` to a plan: which episodes, under which limits."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from importlib.metadata import version
from pathlib import Path
from typing import Protocol, runtime_checkable

from runtime.batch import Batch, Outlook
from runtime.contracts import Benchmark, Json, Limits, ModelSource, Task
from runtime.errors import UnknownName, UsageError
from runtime.models.resolve import Models
from runtime.runs import ArmManifest, Manifest, RunFolder, Shard
from scripts.arms import arm_specs
from scripts.benchmarks import OpenOptions, open_benchmark, persona_folders

__all__ = ["Plan", "RunOptions", "make_plan"]


@runtime_checkable
class Checkable(Protocol):
    """A model source that can tell whether it would answer, without asking for a completion."""

    async def check(self) -> None:
        """Raise `NotReady` if it would not."""


@dataclass(frozen=True)
class RunOptions:
    """What the user asked for."""

    bench: str
    dataset: str
    models: tuple[str, ...]
    tasks: tuple[str, ...] = ()
    limit: int | None = None
    limits: Limits = field(default_factory=Limits)
    seed: int = 0
    concurrency: int = 2
    budget_usd: float | None = None
    retry_errors: bool = False
    out: Path | None = None
    shard: str = "1/1"
    models_file: Path | None = None
    profiles: tuple[str, ...] = ("none",)
    memories: tuple[str, ...] = ()
    settings: dict[str, Json] = field(default_factory=dict)
    judge: str | None = None
    opening: OpenOptions = field(default_factory=OpenOptions)


@dataclass(frozen=True)
class Plan:
    """A run that is ready to start."""

    batch: Batch
    manifest: Manifest
    folder: RunFolder
    tasks: tuple[Task, ...]
    benchmark: Benchmark
    sources: tuple[ModelSource, ...]
    outlook: Outlook
    cost_bound_usd: float | None
    """About the most that the rest can cost, by --cost and --budget. Costs are known when a reply
    has come: the last completion of an episode may go over its limit, and episodes that run when
    the budget is spent run to their end."""

    async def check(self) -> None:
        """Ask each endpoint whether it is there and takes the key. Raises `NotReady`."""
        for source in self.sources:
            if isinstance(source, Checkable):
                await source.check()

    async def close(self) -> None:
        """Close warm processes and connections."""
        await self.benchmark.close()
        for source in self.sources:
            await source.close()


async def make_plan(options: RunOptions) -> Plan:
    """Resolve every name and check what can be checked before the first episode.

    Raises the `UsageError`s and `NotReady`s of what it resolves.
    """
    shard = Shard.parse(options.shard)
    models = Models(models_file=options.models_file, personas=persona_folders())
    sources = tuple(models.resolve(name) for name in options.models)
    opening = options.opening
    if options.judge is not None:
        opening = replace(opening, judge=models.resolve(options.judge))
    asked = (*sources, *([opening.judge] if opening.judge is not None else []))
    _check_budget(options, asked)
    benchmark = open_benchmark(options.bench, options.dataset, opening)
    try:
        specs = arm_specs(
            sources, options.profiles, options.memories, options.settings, benchmark=options.bench
        )
        tasks = choose(benchmark.tasks(options.dataset), options.tasks, options.limit)
        benchmark.check(tasks)
        catalogue = await benchmark.catalogue()  # its versions are known from here on
        manifest = _manifest(options, benchmark, tasks, [spec.manifest() for spec in specs])
        folder = RunFolder(options.out or _default_folder(manifest))
        batch = Batch(
            folder=folder,
            manifest=manifest,
            arms=[spec.arm(folder.path, benchmark, catalogue) for spec in specs],
            tasks=tasks,
            concurrency=options.concurrency,
            budget_usd=options.budget_usd,
            shard=shard,
            retry_errors=options.retry_errors,
        )
        batch.check()
        outlook = batch.outlook()
    except BaseException:
        await benchmark.close()
        raise
    return Plan(
        batch=batch,
        manifest=manifest,
        folder=folder,
        tasks=tuple(tasks),
        benchmark=benchmark,
        sources=asked,
        outlook=outlook,
        cost_bound_usd=_cost_bound_usd(options, outlook),
    )


def _cost_bound_usd(options: RunOptions, outlook: Outlook) -> float | None:
    bounds = []
    if options.limits.cost_usd is not None:
        bounds.append(options.limits.cost_usd * len(outlook.waiting))
    if options.budget_usd is not None:
        bounds.append(max(0.0, options.budget_usd - outlook.spent_usd))
    return round(min(bounds), 6) if bounds else None


def choose(tasks: Sequence[Task], names: Sequence[str], limit: int | None) -> list[Task]:
    """Return the named tasks, or all, at most `limit`. Raises `UnknownName`."""
    known = {task.id: task for task in tasks}
    for name in names:
        if name not in known:
            raise UnknownName("task", name, known)
    chosen = [task for task in tasks if not names or task.id in names]
    return chosen[:limit]


def _check_budget(options: RunOptions, sources: Sequence[ModelSource]) -> None:
    """A budget cannot hold a model whose price nobody knows."""
    if options.budget_usd is None and options.limits.cost_usd is None:
        return
    for source in sources:
        prices = source.describe().get("prices")
        if isinstance(prices, dict) and (unknown := [n for n, p in prices.items() if p is None]):
            raise UsageError(
                f"{source.name} has no price for {', '.join(unknown)} in models.toml, so a budget"
                f" cannot hold it. {_how_to_price(source.name)}, or leave out --budget and --cost."
            )


def _how_to_price(name: str) -> str:
    if not name.startswith("openai:"):
        return "Add it"
    model = name.partition(":")[2]
    return (
        f'Write an entry [models.NAME] with model = "{model}" and prices there (docs/models.md)'
        " and run --model NAME"
    )


def _manifest(
    options: RunOptions, benchmark: Benchmark, tasks: Sequence[Task], arms: list[ArmManifest]
) -> Manifest:
    if not tasks:
        raise UsageError(f"Dataset {options.dataset} has no tasks to run.")
    return Manifest(
        benchmark=options.bench,
        dataset=options.dataset,
        tasks={task.id: task.scenario_id for task in tasks},
        seed=options.seed,
        limits=options.limits,
        versions={"contramem": version("contramem"), **benchmark.versions()},
        arms=tuple(arms),
        judge=options.judge,
    )


def _default_folder(manifest: Manifest) -> Path:
    """Return a folder named after the configuration, so that the same command resumes."""
    text = json.dumps(manifest.model_dump(mode="json"), sort_keys=True)
    digest = hashlib.sha256(text.encode()).hexdigest()[:8]
    return Path("runs") / f"{manifest.benchmark}-{manifest.dataset}-{digest}"
