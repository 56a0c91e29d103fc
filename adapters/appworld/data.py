"""Reads tasks from an AppWorld data root, without the engine."""

from __future__ import annotations

import json
from pathlib import Path

from runtime.contracts import Task
from runtime.errors import BadFile, UnknownName

__all__ = ["data_version", "describe_tasks", "read_task"]

DESCRIPTIONS = "contramem_mini.json"
PERSON = ("first_name", "last_name", "email", "phone_number")


def read_task(root: Path, task_id: str, dataset: str, described: dict[str, str]) -> Task:
    """Read one task. `described`: what the bundled world says of it. Raises `BadFile`."""
    path = root / "data" / "tasks" / task_id / "specs.json"
    if not path.exists():
        known = [folder.name for folder in (root / "data" / "tasks").iterdir()]
        raise UnknownName("AppWorld task", task_id, known, hint=f"Dataset {dataset} lists it.")
    try:
        specs = json.loads(path.read_text("utf-8"))
        person = specs.get("supervisor") or specs["main_user"]
        context = {name: str(person[name]) for name in PERSON}
        return Task(
            benchmark="appworld",
            id=task_id,
            scenario_id=task_id.partition("_")[0],
            dataset=dataset,
            instruction=str(specs["instruction"]),
            signature=described.get("signature"),
            context=context | {"datetime": str(specs["datetime"])},
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise BadFile(path, f"is no AppWorld task ({error!r})") from None


def describe_tasks(root: Path) -> dict[str, dict[str, str]]:
    """Return what the bundled world says of its own tasks by id; empty for other data."""
    path = root / "data" / DESCRIPTIONS
    if not path.exists():
        return {}
    try:
        tasks: dict[str, dict[str, str]] = json.loads(path.read_text("utf-8"))["tasks"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise BadFile(path, f"does not describe the bundled tasks ({error!r})") from None
    return tasks


def data_version(root: Path) -> str:
    """Return the version that a data root states."""
    try:
        return (root / "data" / "version.txt").read_text("utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise BadFile(root / "data" / "version.txt", f"cannot be read ({error})") from None
