"""Reads what the parent needs of a scenario file: the request, the ability, the time."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from adapters.gaia2.notifications import weekday_and_moment
from runtime.contracts import Task
from runtime.errors import BadFile

__all__ = ["ABILITIES", "read_scenario", "read_task"]

_NO_MOMENT = (OverflowError, OSError)
"""What `datetime` raises for a time that is none, beside `ValueError`."""
ABILITIES = ("Execution", "Search", "Ambiguity", "Adaptability", "Time")


def read_scenario(path: Path) -> dict[str, Any]:
    """Return a scenario file's content, of which the outlines are there. Raises `BadFile`."""
    try:
        scenario = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise BadFile(path, f"no GAIA2 scenario: not readable as JSON ({error})") from None
    if problem := _problem(scenario):
        raise BadFile(path, f"no GAIA2 scenario: {problem}")
    return dict(scenario)


def read_task(path: Path, dataset: str) -> Task:
    """Return the task of a scenario file, named after the file. Raises `BadFile`."""
    scenario = read_scenario(path)
    definition = scenario["metadata"]["definition"]
    try:
        return Task(
            benchmark="gaia2",
            id=path.stem,
            scenario_id=str(definition["scenario_id"]),
            dataset=dataset,
            instruction=_request(scenario["events"]),
            ability=next((tag for tag in definition.get("tags") or () if tag in ABILITIES), None),
            context={"time": weekday_and_moment(float(definition.get("start_time") or 0))},
        )
    except (ValueError, LookupError, TypeError, AttributeError, *_NO_MOMENT) as error:
        said = f"{type(error).__name__}: {error}"
        raise BadFile(path, f"no GAIA2 scenario ({said})") from None


def _problem(scenario: object) -> str:
    if not isinstance(scenario, dict):
        return "not an object"
    for field in ("apps", "events"):
        if not isinstance(scenario.get(field), list):
            return f"no list `{field}`"
    try:
        scenario["metadata"]["definition"]["scenario_id"]
    except (KeyError, TypeError):
        return "no `metadata.definition.scenario_id`"
    return ""


def _request(events: list[Mapping[str, Any]]) -> str:
    """Return the first message of the user: the earliest that waits for nothing."""
    opening = [event for event in events if _is_message(event) and not event["dependencies"]]
    if not opening:
        raise ValueError("no first message of the user")
    first = min(opening, key=_time)
    arguments = {item["name"]: item["value"] for item in first["action"]["args"]}
    return str(arguments["content"])


def _is_message(event: Mapping[str, Any]) -> bool:
    action = event.get("action") or {}
    return event["event_type"] == "USER" and action.get("function") == "send_message_to_agent"


def _time(event: Mapping[str, Any]) -> float:
    return float(event.get("event_time") or event.get("event_relative_time") or 0)
