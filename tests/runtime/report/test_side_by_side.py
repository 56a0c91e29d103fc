"""A recording and its replay next to each other."""

import io

import pytest
from rich.console import Console

from runtime.report.side_by_side import side_by_side
from runtime.trace import read_trace
from tests.runtime.test_replay import World
from tests.support.fake_world import GOOD, cell, says


@pytest.fixture
def world(tmp_path) -> World:
    return World(tmp_path)


def rows(recorded, replayed) -> list[tuple[str, str]]:
    console = Console(file=io.StringIO(), width=80)
    console.print(side_by_side(recorded, replayed))
    lines = console.file.getvalue().splitlines()
    assert max(map(len, lines)) <= 80
    cells = [line.split("│")[1:3] for line in lines if line.startswith("│")]
    return [(left.strip(), right.strip()) for left, right in cells]


async def test_a_cell_that_was_sent_again_stands_alone(world):
    recorded = await world.record(says(*GOOD))
    toggled = await world.replay(recorded, "toggled", on=True)
    shown = rows(recorded, read_trace(toggled.trace))
    assert ('print(shop.buy(item="lamp"))', 'print(shop.buy(item="lamp"))') in shown
    assert ("", 'print(shop.buy(item="lamp"))') in shown
    assert ("shop.finish()", "shop.finish()") in shown
    assert ("WRITE shop.buy: gate off", "WRITE shop.buy: stopped") in shown
    assert ("", "WRITE shop.buy: verified") in shown


async def test_a_long_cell_is_cut(world):
    recorded = await world.record(says(cell("\n".join(f"x = {n}" for n in range(9))), *GOOD))
    assert ("... 3 more lines", "... 3 more lines") in rows(recorded, recorded)
