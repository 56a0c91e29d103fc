"""The real gate over the bundled scenarios: stopped cells are sent again, and the judge agrees."""

from __future__ import annotations

import re

import pytest

from adapters.gaia2.benchmark import Gaia2
from adapters.gaia2.setup import MINI, datasets
from injectors.gate.gate import VerifyBeforeWrite
from injectors.gate.settings import GateSettings
from runtime.contracts import Kind, Limits
from runtime.models.script import read_turns

FENCE = re.compile(r"^```python\n(.*?)^```$", re.DOTALL | re.MULTILINE)
SCENARIOS = [(name, path.stem) for name, files in datasets(MINI).items() for path in files]


def cells(scenario: str) -> list[str]:
    turns = read_turns(MINI / "personas" / "careful" / f"{scenario}.md")
    return [FENCE.findall(turn.text + "\n")[0] for turn in turns]


@pytest.mark.slow
@pytest.mark.parametrize(("dataset", "scenario"), SCENARIOS)
async def test_a_careful_run_passes_behind_the_gate_with_each_write_made_once(
    mini: Gaia2, dataset: str, scenario: str
) -> None:
    task = next(item for item in mini.tasks(dataset) if item.id == scenario)
    gate = VerifyBeforeWrite(await mini.catalogue(), task, settings=GateSettings(latch="call"))
    world = await mini.open(task, gate, Limits())
    stops = 0
    try:
        for cell in cells(scenario):
            events = await world.events()
            observation = await world.execute(cell)
            if observation.end.status == "stopped":
                stops += 1
                writes = [item for item in await world.events() if item not in events]
                assert all(item["operation"] == "read" for item in writes)
                assert "VERIFY_BEFORE_WRITE" in observation.notes
                observation = await world.execute(cell)
            assert observation.end.status == "finished", observation.text
        outcome = await world.evaluate()
        assert outcome.passed, outcome.checks[0].detail
        made = [item for item in await world.events() if item["type"] == "AGENT"]
        wrote = any(
            mini.kind(f"{item['app']}.{item['function']}", item["arguments"]) is Kind.WRITE
            for item in made
        )
        assert (stops > 0) is wrote
    finally:
        await world.close()
