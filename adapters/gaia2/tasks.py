"""Reads what the parent needs of a scenario file: the request, the ability, the time."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from runtime.contracts import Task
from runtime.errors import BadFile

__all__ = ["ABILITIES", "read_task"]

ABILITIES = ("Execution", "Search", "Ambiguity", "Adaptability", "Time")


def read_task(path: Path, dataset: str) -> Task:
    """Return the task of a scenario file, named after the file. Raises `BadFile`."""
    try:
        raw = json.loads(path.read_text(encoding="utf-8"))
        definition = raw["metadata"]["definition"]
        start = float(definition["start_time"] or 0)
        return Task(
            benchmark="gaia2",
            id=path.stem,
            scenario_id=str(definition["scenario_id"]),
            dataset=dataset,
            instruction=_request(raw["events"]),
            ability=next((tag for tag in definition["tags"] or () if tag in ABILITIES), None),
            context={"time": _moment(start)},
        )
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise BadFile(path, f"is no GAIA2 scenario ({type(error).__name__}: {error})") from None


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


def _moment(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, tz=UTC).strftime("%A, %Y-%m-%d %H:%M:%S")
