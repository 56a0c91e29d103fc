"""Many episodes: arms interleaved, bounded concurrency, a budget, and resuming.

Knows no command line and shows nothing: what happens is told to a `Watcher`.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from runtime.contracts import Benchmark, Gate, Injector, ModelSource, Task
from runtime.episode import EpisodeResult, Progress, Provenance, run_episode
from runtime.masking import Masker
from runtime.records import EndRecord
from runtime.runs import ArmManifest, Manifest, RunFolder, Shard
from runtime.spending import Spending, cost_of_prefix
from runtime.trace import part_of

__all__ = ["Arm", "Batch", "BatchResult", "Job", "Outlook", "Watcher"]

logger = logging.getLogger(__name__)
Policy = Callable[[Task], tuple[Gate, Injector]]
"""Makes one episode's gate and injector."""


@dataclass(frozen=True)
class Arm:
    """A model under one setting, on a benchmark whose outputs go to the arm's own folder."""

    manifest: ArmManifest
    source: ModelSource
    benchmark: Benchmark
    policy: Policy

    @property
    def name(self) -> str:
        """The arm's name, also its folder's."""
        return self.manifest.name


@dataclass(frozen=True)
class Job:
    """One episode to run."""

    arm: Arm
    task: Task

    @property
    def name(self) -> str:
        """`arm/task`: the episode's name in traces and on the command line."""
        return f"{self.arm.name}/{self.task.id}"


class Watcher(Protocol):
    """Is told what happens while a batch runs."""

    def planned(self, jobs: Sequence[Job], done: int) -> None:
        """`jobs` are about to run; `done` episodes were complete before."""

    def started(self, job: Job) -> None:
        """An episode began."""

    def progressed(self, job: Job, progress: Progress) -> None:
        """An episode did something."""

    def ended(self, job: Job, result: EpisodeResult) -> None:
        """An episode is complete."""


@dataclass(frozen=True)
class Outlook:
    """Where a run stands before it goes on."""

    waiting: tuple[Job, ...]
    spent_usd: float
    """On complete, errored, replaced and killed attempts of this shard, judging included."""


@dataclass
class BatchResult:
    """What a batch did in this call."""

    ended: list[EpisodeResult] = field(default_factory=list)
    not_run: list[Job] = field(default_factory=list)
    """Episodes that the budget left no room for."""
    already_done: int = 0


class Batch:
    """All episodes of one run folder that one process works on."""

    def __init__(
        self,
        *,
        folder: RunFolder,
        manifest: Manifest,
        arms: Sequence[Arm],
        tasks: Sequence[Task],
        concurrency: int = 2,
        budget_usd: float | None = None,
        shard: Shard | None = None,
        retry_errors: bool = False,
    ) -> None:
        self._folder, self._manifest = folder, manifest
        self._arms, self._tasks = tuple(arms), tuple(tasks)
        self._concurrency, self._budget_usd = concurrency, budget_usd
        self._shard = shard or Shard()
        self._retry_errors = retry_errors
        self._spending = Spending(folder.path)
        self._spent_usd = 0.0
        self._unpriced: set[str] = set()
        self._secrets = tuple(secret for arm in arms for secret in arm.source.secrets())

    def jobs(self) -> list[Job]:
        """Return all episodes of this shard, arms interleaved: drift hits all arms alike."""
        return [
            Job(arm, task)
            for position, task in enumerate(self._tasks)
            if self._shard.holds(position)
            for arm in self._arms
        ]

    def outlook(self) -> Outlook:
        """Say what is left to run, and what has been spent. Raises `BadFile`."""
        jobs = self.jobs()
        self._spent_usd = self._spending.total_usd({job.name for job in jobs})
        waiting = tuple(job for job in jobs if not self._complete(job))
        return Outlook(waiting, self._spent_usd)

    def check(self) -> None:
        """Raise the `UsageError` or `RunMismatch` that `run` would start with; change nothing."""
        for job in self.jobs():
            job.arm.source.for_episode(job.task, self._manifest.seed)  # a missing script shows now
        self._folder.resumes(self._manifest)

    async def run(self, watcher: Watcher) -> BatchResult:
        """Run what is not complete yet. A cancellation leaves finished episodes in place.

        Raises `UsageError`, `BadFile`, `RunMismatch` or `NotReady` before anything has run,
        `TraceError` if the run folder cannot be written any more.
        """
        self.check()
        jobs = self.jobs()
        self._folder.begin(self._manifest)
        with self._folder.locked(self._shard):
            waiting = self.outlook().waiting
            result = BatchResult(already_done=len(jobs) - len(waiting))
            watcher.planned(waiting, result.already_done)
            await self._work_through(waiting, watcher, result)
        return result

    async def _work_through(
        self, waiting: Sequence[Job], watcher: Watcher, result: BatchResult
    ) -> None:
        queue = iter(waiting)
        try:
            async with asyncio.TaskGroup() as group:
                for _ in range(min(self._concurrency, len(waiting))):
                    group.create_task(self._work(queue, watcher, result))
        except BaseExceptionGroup as failures:
            raise failures.exceptions[0] from None  # the first ended the others

    def _complete(self, job: Job) -> bool:
        end = self._folder.end_of(job.arm.name, job.task.id)
        self._spent_usd += cost_of_prefix(self._part(job))
        if end is None:
            return False
        self._spend(job, end)
        return not (self._retry_errors and end.status == "errored")

    def _spend(self, job: Job, end: EndRecord) -> None:
        if (cost_usd := end.total_usd) is not None:
            self._spent_usd += cost_usd
        elif self._budget_usd is not None and job.name not in self._unpriced:
            self._unpriced.add(job.name)
            logger.warning("%s cost an unknown sum: the budget does not count it.", job.name)

    async def _work(self, queue: Iterable[Job], watcher: Watcher, result: BatchResult) -> None:
        for job in queue:
            if self._budget_usd is not None and self._spent_usd >= self._budget_usd:
                result.not_run.append(job)
                continue
            watcher.started(job)
            ended = await self._attempt(job, watcher)
            self._spend(job, ended.end)
            result.ended.append(ended)
            watcher.ended(job, ended)

    async def _attempt(self, job: Job, watcher: Watcher) -> EpisodeResult:
        """Run an episode, and keep account of what the attempts that it replaces have cost."""
        self._spending.note(job.name, cost_of_prefix(self._part(job)))
        replaced = self._folder.end_of(job.arm.name, job.task.id)
        result = await self._episode(job, watcher)
        if replaced is not None:
            self._spending.note(job.name, replaced.total_usd or 0.0)
        return result

    def _part(self, job: Job) -> Path:
        return part_of(self._folder.trace_path(job.arm.name, job.task.id))

    async def _episode(self, job: Job, watcher: Watcher) -> EpisodeResult:
        gate, injector = job.arm.policy(job.task)
        return await run_episode(
            job.arm.benchmark,
            job.task,
            job.arm.source.for_episode(job.task, self._manifest.seed),
            trace=self._folder.trace_path(job.arm.name, job.task.id),
            gate=gate,
            injector=injector,
            limits=job.arm.benchmark.limits(job.task, self._manifest.limits),
            provenance=Provenance(
                episode=job.name,
                seed=self._manifest.seed,
                model=job.arm.manifest.model,
                arm={"name": job.arm.name, **job.arm.manifest.settings},
                judge=self._manifest.judge,
            ),
            masker=Masker(self._secrets),
            watch=lambda progress: watcher.progressed(job, progress),
        )
