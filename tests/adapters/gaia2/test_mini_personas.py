"""The three scripted personas: what they say is legal, and fares as their names promise."""

import json
import os
import re
import subprocess
from pathlib import Path

import pytest

from adapters.gaia2.mini.source.write import MINIS
from adapters.gaia2.policy import compile_cell
from runtime.models.script import read_turns

MINI = Path(__file__).parents[3] / "adapters/gaia2/mini"
TRIALS = Path(__file__).with_name("are_trials.py")
PERSONAS = ("careful", "hasty", "wanderer")
WANDERER_FAILS = {"mini_search_invoice_total", "mini_ambiguity_which_visit"}
FENCE = re.compile(r"^```python\n(.*?)^```$", re.DOTALL | re.MULTILINE)
RUNS = [(persona, mini.id) for persona in PERSONAS for mini in MINIS]


def cells(persona: str, scenario: str) -> list[str]:
    turns = read_turns(MINI / f"personas/{persona}/{scenario}.md")
    found = [FENCE.findall(turn.text + "\n") for turn in turns]
    assert all(len(fences) == 1 for fences in found), "one cell a turn"
    return [fences[0] for fences in found]


@pytest.fixture(scope="module")
def runs(gaia2_python: Path, tmp_path_factory: pytest.TempPathFactory) -> dict:
    trials = [
        {
            "scenario": str(MINI / f"scenarios/{scenario}.json"),
            "checks": str(MINI / f"checks/{scenario}.json"),
            "cells": cells(persona, scenario),
        }
        for persona, scenario in RUNS
    ]
    files = tmp_path_factory.mktemp("no_files")
    done = subprocess.run(
        [gaia2_python, TRIALS],
        input=json.dumps(trials),
        capture_output=True,
        text=True,
        timeout=240,
        env={**os.environ, "PYTHONHASHSEED": "0", "DEMO_FS_PATH": str(files)},
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return dict(zip(RUNS, json.loads(done.stdout), strict=True))


@pytest.mark.slow
@pytest.mark.parametrize("scenario", [mini.id for mini in MINIS])
class TestBeforeTheJudge:
    def test_careful_passes_in_all_its_turns_without_an_error(
        self, scenario: str, runs: dict
    ) -> None:
        run = runs["careful", scenario]
        assert run["passed"], run
        assert run["cells_run"] == len(cells("careful", scenario))
        assert not [text for text in run["printed"] if "Error: " in text]

    def test_hasty_makes_its_mistake(self, scenario: str, runs: dict) -> None:
        run = runs["hasty", scenario]
        assert not run["passed"], run
        assert run["exception"] is None
        assert not [text for text in run["printed"] if "Error: " in text]

    def test_wanderer_takes_longer_and_mostly_gets_there(self, scenario: str, runs: dict) -> None:
        run = runs["wanderer", scenario]
        assert run["passed"] is (scenario not in WANDERER_FAILS), run
        assert run["cells_run"] > runs["careful", scenario]["cells_run"]


@pytest.mark.parametrize(("persona", "scenario"), RUNS)
def test_every_cell_is_legal(persona: str, scenario: str) -> None:
    for cell in cells(persona, scenario):
        compile_cell(cell, "<cell>")


@pytest.mark.parametrize("persona", PERSONAS)
def test_each_persona_repeats_a_stopped_cell(persona: str) -> None:
    (turn,) = read_turns(MINI / f"personas/{persona}/always.md")
    assert turn.suits('{"rtm_pre_tool_memory": "VERIFY_BEFORE_WRITE"}')
    assert turn.text == "{{last}}"


def test_waits_stand_alone() -> None:
    """A gate may run a cell twice: a wait beside a write would then wait twice."""
    writes = re.compile(r"\.(send_|add_|delete_|edit_|reply_|checkout|order_|user_cancel|save_)")
    for persona, scenario in RUNS:
        for cell in cells(persona, scenario):
            assert not ("wait_for_notification" in cell and writes.search(cell)), scenario
