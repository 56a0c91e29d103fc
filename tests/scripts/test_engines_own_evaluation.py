"""The engine's own evaluation of a run's outputs agrees with ours."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from adapters.appworld.setup import AppWorldSetup

RUN = ("-m", "scripts.cli", "run", "--bench", "appworld", "--dataset", "mini_test")


@pytest.mark.slow
def test_appworld_evaluate_agrees_on_every_task(
    appworld_setup: AppWorldSetup, tmp_path: Path
) -> None:
    run = tmp_path / "run"
    command = [sys.executable, *RUN, "--model", "scripted:hasty", "--out", str(run), "--json"]
    ours = subprocess.run(command, capture_output=True, check=True, text=True)
    (arm,) = json.loads(ours.stdout)["arms"]
    outputs = run / arm["arm"] / "appworld"
    subprocess.run(
        [
            *(appworld_setup.python, "-m", "appworld.cli", "evaluate", arm["arm"], "mini_test"),
            *("--root", str(outputs)),
        ],
        env=appworld_setup.child_environment() | {"PATH": os.defpath},
        capture_output=True,
        check=True,
    )
    saved = outputs / "experiments" / "outputs" / arm["arm"] / "evaluations" / "mini_test.json"
    theirs = json.loads(saved.read_text("utf-8"))
    assert theirs["aggregate"]["task_goal_completion"] == pytest.approx(arm["tgc"], abs=0.1)
    assert theirs["aggregate"]["scenario_goal_completion"] == pytest.approx(arm["sgc"], abs=0.1)
    passed = {task for task, verdict in theirs["individual"].items() if verdict["success"]}
    assert len(passed) == arm["passed"]
    assert len(theirs["individual"]) == arm["episodes"] == 10
