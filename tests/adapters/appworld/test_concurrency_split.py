"""Several episodes on one warm process: each sees its own world and nothing of the others'."""

import asyncio
import json
from pathlib import Path

import pytest
from appworld_cells import LOG_IN, any_task, executed, text_of

from adapters.appworld.benchmark import AppWorld
from runtime.contracts import AllowGate, Limits

CELL = """
made = apis.simple_note.create_note(title="episode {n}", content="c", access_token=notes)
rows = apis.simple_note.search_notes(query="episode", page_limit=20, access_token=notes)
print(sorted(row["title"] for row in rows if row["title"].startswith("episode")))
"""


async def episode(appworld: AppWorld, folder: Path, n: int) -> None:
    benchmark = appworld.for_arm(folder / str(n), f"arm-{n}")
    task = any_task(benchmark)
    world = await benchmark.open(task, AllowGate(), Limits())
    try:
        assert await text_of(world, LOG_IN) == "Execution successful."
        for _ in range(3):
            assert await text_of(world, f"mine = {n}") == "Execution successful."
            assert await text_of(world, "print(mine)") == str(n)
        found = json.loads(await text_of(world, CELL.format(n=n)))
        assert found == [f"episode {n}"]
        assert await executed(world) == [("simple_note.create_note", 200)]
        await world.execute("apis.supervisor.complete_task()")
        assert (await world.evaluate()).checks
    finally:
        await world.close()
    outputs = folder / str(n) / "appworld" / "experiments" / "outputs" / f"arm-{n}" / "tasks"
    saved = (outputs / task.id / "dbs" / "simple_note.jsonl").read_text("utf-8")
    assert f"episode {n}" in saved


@pytest.mark.parametrize(
    "count", [2, 4, pytest.param(8, marks=pytest.mark.slow)], ids="{}-at-once".format
)
async def test_episodes_at_once_are_all_correct(
    appworld: AppWorld, tmp_path: Path, count: int
) -> None:
    await asyncio.gather(*(episode(appworld, tmp_path, n) for n in range(count)))


async def test_two_worlds_of_one_task_do_not_share_outputs(appworld: AppWorld) -> None:
    task = any_task(appworld)
    one, other = [await appworld.open(task, AllowGate(), Limits()) for _ in range(2)]
    try:
        await one.execute("apis.supervisor.complete_task(answer='mine')")
        await other.execute("print(1)")
        passed = [(await world.evaluate()).checks for world in (other, one)]
        assert all(passed)
    finally:
        await one.close()
        await other.close()
