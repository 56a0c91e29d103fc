"""ARE's own bundled offline scenarios under our driver, validated by their own `validate`."""

from __future__ import annotations

import pytest
from gaia2_worlds import run

from adapters.gaia2.benchmark import SCENARIO_CLASS, Gaia2
from adapters.gaia2.episode import Gaia2World
from runtime.contracts import AllowGate, Limits, Task

SCENARIOS = "are.simulation.scenarios"
APPS = f"{SCENARIOS}.scenario_apps_tutorial.scenario:ScenarioAppsTutorial"
IMAGE = f"{SCENARIOS}.scenario_find_image_file.scenario:ScenarioFindImageFile"
TUTORIAL = f"{SCENARIOS}.scenario_tutorial.scenario:ScenarioTutorial"

CREATE = """
apps.SimpleTaskApp.create_task(title="Prepare presentation",
    description="Create slides for the upcoming client meeting", priority="High")
"""
COMPLETE = """
for task in apps.SimpleTaskApp.get_tasks():
    if "meeting" in task["title"].lower():
        apps.SimpleTaskApp.complete_task(task_id=task["task_id"])
"""
FIND = """
names = [str(item) for item in apps.SandboxLocalFileSystem.ls(path=".")]
found = [name for name in names if name.endswith(".jpg")]
apps.AgentUserInterface.send_message_to_user(content=f"The image file is `{found[0]}`")
"""
MISS = "apps.AgentUserInterface.send_message_to_user(content='There is no image here.')"
FORWARD = """
apps.SystemApp.wait_for_notification(timeout=12)
apps.EmailClientApp.forward_email(email_id="greg_email", recipients=["johndoe@example.com"])
"""


async def open_class(gaia2: Gaia2, dotted: str) -> Gaia2World:
    task = Task(
        benchmark="gaia2",
        id=dotted.rpartition(":")[2],
        scenario_id=dotted,
        dataset="bundled",
        instruction="",
        context={SCENARIO_CLASS: dotted},
    )
    return await gaia2.open(task, AllowGate(), Limits())


@pytest.mark.parametrize(
    ("dotted", "cells", "passed"),
    [
        (APPS, [CREATE, COMPLETE], True),
        (APPS, [CREATE], False),
        (IMAGE, [FIND], True),
        (IMAGE, [MISS], False),
        (TUTORIAL, [FORWARD], True),
        (TUTORIAL, [], False),
    ],
    ids=["apps", "apps half done", "image", "image missed", "tutorial", "tutorial undone"],
)
async def test_a_bundled_scenario_validates_as_it_says(
    gaia2: Gaia2, dotted: str, cells: list[str], passed: bool
) -> None:
    world = await open_class(gaia2, dotted)
    try:
        if cells:
            await run(world, *cells)
        outcome = await world.evaluate()
        assert outcome.passed is passed, outcome.checks[0].detail
    finally:
        await world.close()
