"""One measured figure, and how a run of rounds becomes one."""

from __future__ import annotations

import statistics
import sys
from collections.abc import Awaitable, Callable

from runtime.contracts import Value

__all__ = ["Figure", "Round", "alternating", "compare", "say"]

Round = Callable[[], Awaitable[float]]
"""Runs one round and returns its wall time in seconds."""


class Figure(Value):
    """What one bench found. `ratio` compares value and baseline of the same run."""

    value: float
    unit: str
    baseline: float
    ratio: float


async def alternating(ours: Round, baseline: Round, rounds: int) -> tuple[list[float], list[float]]:
    """Run both sides in turn, the order changing, so that a drift of the machine hits both."""
    mine: list[float] = []
    theirs: list[float] = []
    for number in range(rounds):
        for side in (ours, baseline) if number % 2 else (baseline, ours):
            (mine if side is ours else theirs).append(await side())
        say(f"  round {number + 1} of {rounds}: {mine[-1]:.3f} s against {theirs[-1]:.3f} s")
    return mine, theirs


def compare(mine: list[float], theirs: list[float], unit: str = "s") -> Figure:
    """Return the medians, and the ratio of the medians."""
    value, baseline = statistics.median(mine), statistics.median(theirs)
    return Figure(
        value=round(value, 4),
        unit=unit,
        baseline=round(baseline, 4),
        ratio=round(value / baseline, 4),
    )


def say(line: str) -> None:
    """Tell whoever watches how far it is."""
    print(line, file=sys.stderr, flush=True)
