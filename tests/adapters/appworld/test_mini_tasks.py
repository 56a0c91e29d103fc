"""Every bundled AppWorld task in the real engine: what passes, and what must not."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest
from mini_plays import Play, Turn, play_all

from adapters.appworld.mini.catalogue import DATASETS, MARKER, TASKS
from adapters.appworld.mini.task import MiniTask
from adapters.appworld.setup import AppWorldSetup

IDS = [task.id for task in TASKS]
SIGNATURES = {
    "answer_extraction",
    "state_write",
    "bulk_or_multi_write",
    "cross_app",
    "default",
}


def cells_of(task: MiniTask) -> dict[str, tuple[str, ...]]:
    return {
        "solution": (task.solution,),
        "nothing": (),
        "mistake": task.mistake.cells,
        "collateral": (task.collateral, task.solution),
    }


@pytest.fixture(scope="module")
def plays(
    appworld_setup: AppWorldSetup, tmp_path_factory: pytest.TempPathFactory
) -> dict[tuple[str, str], Play]:
    jobs = {
        (task.id, case): tuple(Turn(cell) for cell in cells)
        for task in TASKS
        for case, cells in cells_of(task).items()
    }
    return play_all(appworld_setup, tmp_path_factory.mktemp("tasks"), jobs)


@pytest.mark.slow
@pytest.mark.parametrize("task_id", IDS)
def test_the_reference_solution_passes(plays: dict[tuple[str, str], Play], task_id: str) -> None:
    play = plays[task_id, "solution"]
    assert play.success is True, (play.failures, play.outputs)


@pytest.mark.slow
@pytest.mark.parametrize("task_id", IDS)
def test_doing_nothing_fails(plays: dict[tuple[str, str], Play], task_id: str) -> None:
    play = plays[task_id, "nothing"]
    assert play.success is False, play.outputs


@pytest.mark.slow
@pytest.mark.parametrize("task_id", IDS)
def test_the_designed_mistake_fails(plays: dict[tuple[str, str], Play], task_id: str) -> None:
    play = plays[task_id, "mistake"]
    assert play.success is False, play.outputs
    assert "Execution failed" not in play.outputs[-1]
    asked = next(task for task in TASKS if task.id == task_id).answer is not None
    assert asked or play.failures != plays[task_id, "nothing"].failures or play.writes


@pytest.mark.slow
@pytest.mark.parametrize("task_id", IDS)
def test_an_unrelated_write_fails(plays: dict[tuple[str, str], Play], task_id: str) -> None:
    play = plays[task_id, "collateral"]
    assert play.success is False, play.outputs
    assert all("Execution failed" not in output for output in play.outputs)
    assert len(play.writes) > len(plays[task_id, "solution"].writes)


def test_each_signature_has_one_scenario_in_each_dataset() -> None:
    scenarios = {(task.dataset, task.scenario, task.signature) for task in TASKS}
    assert len(scenarios) == 10
    assert {(dataset, signature) for dataset, _, signature in scenarios} == {
        (dataset, signature) for dataset in DATASETS for signature in SIGNATURES
    }
    assert set(Counter(task.scenario for task in TASKS).values()) == {2}


def test_task_ids_are_as_the_engine_reads_them() -> None:
    assert len(set(IDS)) == 20
    for task in TASKS:
        scenario, number = task.id.split("_")
        assert len(scenario) == 7
        assert number in {"1", "2"}


def test_the_built_world_describes_its_tasks(appworld_setup: AppWorldSetup) -> None:
    data = appworld_setup.root / "data"
    described = json.loads((data / MARKER).read_text("utf-8"))["tasks"]
    listed = {
        dataset: (data / "datasets" / f"{dataset}.txt").read_text("utf-8").split()
        for dataset in DATASETS
    }
    for dataset, ids in listed.items():
        assert {described[task_id]["dataset"] for task_id in ids} == {dataset}
    assert sorted(described) == sorted(listed["mini_train"] + listed["mini_test"]) == sorted(IDS)
    assert {entry["signature"] for entry in described.values()} == SIGNATURES


def test_no_engine_file_is_among_ours() -> None:
    ours = Path(__file__).parents[3] / "adapters" / "appworld" / "mini"
    assert not [path for path in ours.rglob("*") if path.suffix in {".json", ".jsonl", ".db"}]
