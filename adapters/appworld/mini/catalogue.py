"""All bundled tasks, and what our side may know about each."""

from __future__ import annotations

from typing import Any

from adapters.appworld.mini.scenarios import (
    collect_shared_costs,
    extend_a_list,
    month_total,
    settle_a_debt,
    shift_an_alarm,
    superlative_song,
    text_a_namesake,
    tick_off_if_done,
    tidy_the_inbox,
    weed_the_library,
)
from adapters.appworld.mini.task import MiniTask

__all__ = ["DATASETS", "MARKER", "TASKS", "description"]

DATASETS = ("mini_train", "mini_test")
MARKER = "contramem_mini.json"
"""File in a root's data folder that describes our tasks and tells our roots from others."""

_SCENARIOS = (
    superlative_song,
    text_a_namesake,
    weed_the_library,
    collect_shared_costs,
    shift_an_alarm,
    month_total,
    extend_a_list,
    tidy_the_inbox,
    settle_a_debt,
    tick_off_if_done,
)
TASKS: tuple[MiniTask, ...] = tuple(task for scenario in _SCENARIOS for task in scenario.TASKS)


def description(task: MiniTask) -> dict[str, Any]:
    """Return what is recorded about a task beside the datasets."""
    return {
        "dataset": task.dataset,
        "scenario": task.scenario,
        "signature": task.signature,
        "apps": list(task.apps),
        "designed_mistake": task.mistake.name,
    }
