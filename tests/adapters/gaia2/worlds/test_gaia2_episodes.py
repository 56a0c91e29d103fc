"""Whole episodes: the personas over the bundled scenarios, twice, and the arms' common world."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from gaia2_worlds import Opened, StopWrites, run

from adapters.gaia2.benchmark import TIME_WALL_S, Gaia2
from adapters.gaia2.setup import MINI
from runtime.contracts import Limits, Task
from runtime.episode import run_episode
from runtime.models.scripted import ScriptedSource

PERSONAS = ("careful", "hasty", "wanderer")
WANDERER_FAILS = {"mini_search_invoice_total", "mini_ambiguity_which_visit"}
DURATIONS = ("t", "latency_s", "wall_s")


def all_tasks(mini: Gaia2) -> list[Task]:
    return [task for dataset in mini.datasets() for task in mini.tasks(dataset)]


async def played(mini: Gaia2, persona: str, task: Task, trace: Path) -> tuple[str, list[Any]]:
    source = ScriptedSource(f"scripted:{persona}", [MINI / "personas" / persona])
    result = await run_episode(
        mini, task, source.for_episode(task, 0), trace=trace, limits=Limits(steps=20)
    )
    assert not result.error, result.error
    return result.status, read(trace)


def read(trace: Path) -> list[Any]:
    return [json.loads(line) for line in trace.read_text().splitlines()]


def without_durations(value: Any) -> Any:
    if isinstance(value, dict):
        kept = {name: item for name, item in value.items() if name not in DURATIONS}
        return {name: without_durations(item) for name, item in kept.items()}
    return [without_durations(item) for item in value] if isinstance(value, list) else value


@pytest.mark.slow
@pytest.mark.parametrize("persona", PERSONAS)
async def test_a_persona_fares_as_designed_on_all_scenarios(
    mini: Gaia2, persona: str, tmp_path: Path
) -> None:
    tasks = all_tasks(mini)
    assert len(tasks) == 20
    for task in tasks:
        status, _ = await played(mini, persona, task, tmp_path / f"{task.id}.jsonl")
        right = persona == "careful" or (persona == "wanderer" and task.id not in WANDERER_FAILS)
        assert status == ("passed" if right else "failed"), task.id


@pytest.mark.slow
async def test_all_scenarios_run_identically_twice(mini: Gaia2, tmp_path: Path) -> None:
    for task in all_tasks(mini):
        runs = [
            without_durations((await played(mini, "careful", task, tmp_path / "run.jsonl"))[1])
            for _ in range(2)
        ]
        assert runs[0] == runs[1], task.id


async def test_an_episode_ends_with_its_verdict_and_its_notifications_in_the_trace(
    mini: Gaia2, tmp_path: Path
) -> None:
    task = next(task for task in all_tasks(mini) if task.id == "mini_time_ferry")
    status, records = await played(mini, "careful", task, tmp_path / "one.jsonl")
    assert status == "passed"
    kinds = [record["type"] for record in records]
    assert kinds[-1] == "end"
    assert "notification" in kinds
    times = [record["simulated_time"] for record in records if record["type"] == "call"]
    assert times == sorted(times)
    assert times[0] is not None


async def test_the_world_is_the_same_with_and_without_a_gate(opened: Opened) -> None:
    """Clock and environment belong to the world: an arm that stops writes sees the same ones."""
    histories = []
    for gate in (None, StopWrites()):
        world = await opened("time", gate)
        told: list[str] = []
        for seconds in (50, 300):
            if gate is not None:
                stopped = await world.execute("apps.Emails.send_email(content='x')")
                assert stopped.end.status == "stopped"
            cell = f"apps.SystemApp.wait_for_notification(timeout={seconds})"
            told += (await run(world, cell)).notifications
        histories.append((told, await world.events()))
    assert histories[0] == histories[1]


async def test_the_time_ability_has_its_own_wall_time(mini: Gaia2) -> None:
    for task in all_tasks(mini):
        wall = mini.limits(task, Limits(wall_s=300)).wall_s
        assert wall == (TIME_WALL_S if task.ability == "Time" else 300)
