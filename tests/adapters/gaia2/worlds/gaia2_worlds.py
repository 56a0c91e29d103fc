"""Opens small scenarios for tests."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from gaia2_scenarios import write_scenarios

from adapters.gaia2.benchmark import Gaia2
from adapters.gaia2.episode import Gaia2World
from adapters.gaia2.setup import Gaia2Setup
from adapters.roots import Root
from runtime.contracts import AllowGate, Decision, Gate, Kind, Limits, Observation, Task, ToolCall

BOOK = """
lunch = apps.Calendar.add_calendar_event(title="Lunch", start_datetime="2024-11-06 12:00:00",
    end_datetime="2024-11-06 13:00:00")
apps.Emails.send_email(recipients=["eve@example.com"], subject="Lunch", content="Lunch at 12")
"""
TELL = "apps.AgentUserInterface.send_message_to_user(content={!r})"


def small_setup(python: Path, folder: Path, *, scripted: bool = True) -> Gaia2Setup:
    root = write_scenarios(folder / "root", scripted=scripted)
    return Gaia2Setup(python=python, scratch=folder / "scratch", roots=(Root("path", root),))


def task(gaia2: Gaia2, key: str) -> Task:
    return next(item for item in gaia2.tasks("small") if item.id == f"small_{key}")


class Opened:
    """Opens worlds; whoever made it closes them."""

    def __init__(self, gaia2: Gaia2) -> None:
        self.gaia2 = gaia2
        self.worlds: list[Gaia2World] = []

    async def __call__(self, key: str, gate: Gate | None = None, **options: Any) -> Gaia2World:
        limits = options.pop("limits", Limits())
        about = task(self.gaia2, key)
        world = await self.gaia2.open(about, gate or AllowGate(), limits, **options)
        self.worlds.append(world)
        return world

    async def close(self) -> None:
        for world in self.worlds:
            await world.close()


async def run(world: Gaia2World, *cells: str) -> Observation:
    for cell in cells:
        observation = await world.execute(cell)
        assert observation.end.status == "finished", observation.text
    return observation


class Recorder(AllowGate):
    """Allows everything and remembers it."""

    def __init__(self) -> None:
        super().__init__()
        self.calls: list[ToolCall] = []

    def decide(self, call: ToolCall) -> Decision:
        self.calls.append(call)
        return super().decide(call)


class StopWrites(Recorder):
    """Stops every write."""

    def decide(self, call: ToolCall) -> Decision:
        super().decide(call)
        if call.kind is Kind.WRITE:
            return Decision(action="stop", reason="stopped", advisory={})
        return Decision(action="allow", reason="read")
