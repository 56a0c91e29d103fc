"""One open GAIA2 scenario, seen from the parent: the split world with a clock and a judge."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from adapters.gaia2.judge import Judge
from adapters.gaia2.notifications import moment
from runtime.bridge.cell import CellProcess
from runtime.bridge.host import Child
from runtime.bridge.wire import Frame
from runtime.bridge.world import SplitWorld, Wiring
from runtime.contracts import Gate, Json, Limits, Observation, Outcome
from runtime.errors import UsageError

__all__ = ["Gaia2World", "ThinkTime", "think_time"]

ThinkTime = Callable[[float], float]
"""Simulated seconds that a model call costs, given the seconds it took."""


def think_time(setting: str) -> ThinkTime:
    """Read `zero`, `measured` or `fixed:SECONDS`. Raises `UsageError`."""
    if setting == "zero":
        return lambda _: 0.0
    if setting == "measured":
        return lambda seconds: max(0.0, seconds)
    if found := re.fullmatch(r"fixed:(\d+(?:\.\d+)?)", setting):
        fixed = float(found.group(1))
        return lambda _: fixed
    raise UsageError(
        f"--think-time {setting!r} is not understood. Write zero, measured or fixed:SECONDS."
    )


class Gaia2World(SplitWorld):
    """Implements `runtime.contracts.World`."""

    def __init__(
        self,
        *,
        cell: CellProcess,
        world: Child,
        wiring: Wiring,
        gate: Gate,
        limits: Limits,
        started: float,
        think: ThinkTime,
        judge: Judge | None,
        show_time: bool,
    ) -> None:
        """`started`: simulated time at which the user has asked, in seconds since the epoch."""
        super().__init__(cell=cell, world=world, wiring=wiring, gate=gate, limits=limits)
        self._time = started
        self._think, self._show_time = think, show_time
        self.judge = judge

    async def execute(self, source: str, *, seconds: float | None = None) -> Observation:
        """Run one cell, then let the world catch up; under Time the observation shows the time."""
        observation = await super().execute(source, seconds=seconds)
        if not self._show_time or self._time is None:
            return observation
        text = f"{observation.text.rstrip()}\n[clock] {moment(self._time)}"
        return observation.model_copy(update={"text": text})

    async def thought(self, seconds: float) -> None:
        """Charge the world's clock for a model call that took `seconds`."""
        charged = self._think(seconds)
        if charged > 0:
            self._time = (await self.ask({"op": "think", "seconds": charged}))["time"]

    async def evaluate(self) -> Outcome:
        """Judge what happened, and say what a model's judging took."""
        outcome = await super().evaluate()
        if self.judge is None:
            return outcome
        took = {"judge_usage": self.judge.usage, "judge_cost_usd": self.judge.cost_usd}
        return outcome.model_copy(update=took)

    async def events(self) -> list[dict[str, Json]]:
        """Return what happened in the world so far, each event as it was when it completed."""
        return list((await self.ask({"op": "events"}))["events"])

    async def app_states(self) -> dict[str, Any]:
        """Return the state of every app."""
        return dict((await self.ask({"op": "apps"}))["apps"])

    async def ask(self, frame: Frame) -> Frame:
        """Exchange one frame with the world, answering its judge's questions on the way."""
        reply = await super().ask(frame)
        while "judge" in reply:
            reply = await super().ask(await self._judged(reply["judge"]))
        return reply

    async def _judged(self, question: list[dict[str, str]]) -> Frame:
        if self.judge is None:
            return {"op": "judged", "failed": "no judge is configured: name one with --judge MODEL"}
        return {"op": "judged", "text": await self.judge.answer(question)}
