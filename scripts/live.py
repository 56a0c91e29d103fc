"""What a person sees while a run goes on: a row per running episode, and the totals."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Self

from rich.console import Console, Group, JustifyMethod, RenderableType
from rich.live import Live
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

from runtime.batch import Job
from runtime.contracts import Usage
from runtime.episode import EpisodeResult
from runtime.episode import Progress as EpisodeProgress
from runtime.report.visible import as_it_is

__all__ = ["LiveView", "LogView", "SilentView"]

OTHER_COLUMNS = 50
"""Characters that the columns beside the episode's name take at most."""


class SilentView:
    """`--quiet`: nothing."""

    def __enter__(self) -> Self:
        """Return the view."""
        return self

    def __exit__(self, *exc: object) -> None:
        """Do nothing."""

    def planned(self, jobs: Sequence[Job], done: int) -> None:
        """Ignore."""

    def started(self, job: Job) -> None:
        """Ignore."""

    def progressed(self, job: Job, progress: EpisodeProgress) -> None:
        """Ignore."""

    def ended(self, job: Job, result: EpisodeResult) -> None:
        """Ignore."""


class LogView(SilentView):
    """A line per finished episode, where nobody watches a terminal."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._ended = self._of = 0

    def planned(self, jobs: Sequence[Job], done: int) -> None:
        """Say what is ahead."""
        self._of = len(jobs)
        words = f"{len(jobs)} episodes to run" + (f", {done} complete already" if done else "")
        self._line(words)

    def ended(self, job: Job, result: EpisodeResult) -> None:
        """Say how an episode ended."""
        self._ended += 1
        self._line(f"[{self._ended}/{self._of}] {job.name}: {how(result)}")

    def _line(self, text: str) -> None:
        self._console.print(as_it_is(text), soft_wrap=True)


class LiveView(SilentView):
    """The terminal view."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._running: dict[str, tuple[Job, float, EpisodeProgress | None]] = {}
        self._counts = {"passed": 0, "failed": 0, "errored": 0}
        self._usage = Usage()
        self._cost: float | None = 0.0
        self._bar = Progress(
            TextColumn("[bold]episodes"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn()
        )
        self._task = self._bar.add_task("episodes", total=None)
        self._live = Live(console=console, get_renderable=self._render, refresh_per_second=4)

    def __enter__(self) -> Self:
        """Begin to draw."""
        self._live.start()
        return self

    def __exit__(self, *exc: object) -> None:
        """Stop drawing."""
        self._live.stop()

    def planned(self, jobs: Sequence[Job], done: int) -> None:
        """Set the bar's length."""
        self._bar.update(self._task, total=len(jobs) + done, completed=done)

    def started(self, job: Job) -> None:
        """Add a row."""
        self._running[job.name] = (job, time.monotonic(), None)

    def progressed(self, job: Job, progress: EpisodeProgress) -> None:
        """Update a row."""
        _, begun, _ = self._running[job.name]
        self._running[job.name] = (job, begun, progress)

    def ended(self, job: Job, result: EpisodeResult) -> None:
        """Move a row to the totals."""
        self._running.pop(job.name, None)
        self._counts[result.status] += 1
        self._usage += result.end.usage
        known = self._cost is not None and result.end.cost_usd is not None
        self._cost = (self._cost or 0.0) + (result.end.cost_usd or 0.0) if known else None
        self._bar.advance(self._task)
        if result.status == "errored":
            self._console.print(as_it_is(f"{job.name}: {how(result)}", "red"))

    def _render(self) -> RenderableType:
        table = Table(box=None, pad_edge=False, header_style="dim")
        room = max(20, self._console.width - OTHER_COLUMNS)
        table.add_column("task, arm", no_wrap=True, overflow="ellipsis", max_width=room)
        for name in ("step", "calls", "tokens", "cost", "doing", "s"):
            justify: JustifyMethod = "left" if name == "doing" else "right"
            table.add_column(name, justify=justify, no_wrap=True)
        for job, begun, progress in self._running.values():
            episode = as_it_is(_in_one_line_or_two(job, room))
            seconds = f"{time.monotonic() - begun:.0f}"
            if progress is None:
                table.add_row(episode, "0", "0", "0", "-", "open", seconds)
                continue
            tokens = progress.usage.input + progress.usage.output
            cost = _cost_so_far(progress)
            cells = (str(progress.step), str(progress.calls), f"{tokens:,}", cost, progress.doing)
            table.add_row(episode, *cells, seconds)
        counts = "  ".join(f"{number} {name}" for name, number in self._counts.items())
        tokens = self._usage.input + self._usage.output
        cost = money(self._cost) if sum(self._counts.values()) else "-"
        totals = Text(f"{counts}   {tokens:,} tokens   {cost}")
        return Group(*([table] if self._running else []), self._bar, totals)


def _in_one_line_or_two(job: Job, room: int) -> str:
    """Return task and arm: several tasks of an arm run at once, so the task comes first."""
    one = f"{job.task.id} {job.arm.name}"
    return one if len(one) <= room else f"{job.task.id}\n  {job.arm.name}"


def _cost_so_far(progress: EpisodeProgress) -> str:
    if progress.cost_usd is None:
        return "?"
    answered = progress.usage != Usage() or progress.cost_usd
    return money(progress.cost_usd) if answered else "-"


def how(result: EpisodeResult) -> str:
    """Say in a few words how an episode ended."""
    end = result.end
    words = f"{end.status}" + (f" (limit: {end.limit})" if end.limit else "")
    words += f", {end.steps} steps, {end.calls} calls, {end.wall_s:.1f} s"
    return f"{words}: {result.error}" if result.error else words


def money(cost_usd: float | None) -> str:
    """Show a cost; an unknown one is a question mark, never 0."""
    return "cost ?" if cost_usd is None else f"${cost_usd:.4f}"
