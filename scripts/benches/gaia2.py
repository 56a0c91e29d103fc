"""What simulated time costs on GAIA2."""

from __future__ import annotations

import statistics
import tempfile
from pathlib import Path

from adapters.gaia2.benchmark import Gaia2
from adapters.gaia2.setup import MINI, Gaia2Setup
from adapters.roots import Root
from runtime.contracts import Task
from runtime.episode import run_episode
from runtime.errors import WorldError
from runtime.models.scripted import ScriptedSource
from runtime.records import CallRecord, ModelCallRecord
from runtime.trace import read_trace
from scripts.benches.figures import Figure, say

__all__ = ["measure_gaia2_episode"]

LONG = "mini_time_seven_minutes"
"""A scenario in which the user wants to be told after a while, and the agent waits."""


async def measure_gaia2_episode(setup: Gaia2Setup, rounds: int = 3) -> Figure:
    """A scenario of seven simulated minutes, played by script from warm processes.

    Value: wall seconds beyond model time. Baseline: simulated seconds from the first call to the
    last. The ratio says how much faster than a clock on the wall the simulated one runs.
    """
    mini = Gaia2Setup(python=setup.python, scratch=setup.scratch, roots=(Root("mini", MINI),))
    walls, simulated = [], 0.0
    with tempfile.TemporaryDirectory(prefix="contramem-bench-") as folder:
        async with Gaia2(mini) as gaia2:
            task = next(
                task for name in gaia2.datasets() for task in gaia2.tasks(name) if task.id == LONG
            )
            await gaia2.catalogue()  # starts the warm processes
            for number in range(rounds):
                wall, simulated = await _play(gaia2, task, Path(folder) / f"{number}.jsonl")
                walls.append(wall)
                say(f"  round {number + 1} of {rounds}: {wall:.3f} s for {simulated:.0f} s")
    value = statistics.median(walls)
    return Figure(
        value=round(value, 4),
        unit="s",
        baseline=round(simulated, 1),
        ratio=round(simulated / value, 1),
    )


async def _play(gaia2: Gaia2, task: Task, path: Path) -> tuple[float, float]:
    """Return the wall seconds beyond model time and the simulated seconds of one episode."""
    careful = ScriptedSource("scripted:careful", [MINI / "personas" / "careful"])
    result = await run_episode(gaia2, task, careful.for_episode(task, 0), trace=path)
    if result.status != "passed":
        raise WorldError(f"The episode of the bench ended as {result.status}. {result.error}")
    records = read_trace(path).records
    thinking = sum(item.latency_s for item in records if isinstance(item, ModelCallRecord))
    times = [item.simulated_time or 0.0 for item in records if isinstance(item, CallRecord)]
    return result.end.wall_s - thinking, times[-1] - times[0]
