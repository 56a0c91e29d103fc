"""The opening messages of a GAIA2 episode.

The system message holds the rules and the tools of the scenario, a signature line each; it is the
same for every scenario with the same apps, so providers can cache it. The user message holds the
time and the request. A memory block goes right before `ANCHOR`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any

from adapters.gaia2.notifications import weekday_and_moment
from adapters.gaia2.signatures import signature
from runtime.contracts import Message, Prompt, Task

__all__ = ["ANCHOR", "listing", "opening", "rules_sha256"]

ANCHOR = "Now do what the person asks:"
TIME_RULES = """
In this task time matters. Every output ends with the world's time, which is the only one that \
counts. A `[clock, <time>]` message gives you another turn while something is still due."""


def opening(task: Task, rows: Sequence[Mapping[str, Any]], *, time: float) -> Prompt:
    """Return the opening messages.

    `rows`: the tools of the task's scenario. `time`: the world's when the user has asked, which
    may be later than the scenario's start, in seconds since the epoch.
    """
    system = _rules().replace("{tools}", listing(rows)).rstrip()
    rules = TIME_RULES if task.ability == "Time" else ""
    now = weekday_and_moment(time)
    user = f"It is {now} (UTC).{rules}\n\n{ANCHOR}\n\n{task.instruction}"
    messages = (Message(role="system", content=system), Message(role="user", content=user))
    return Prompt(messages=messages, anchor=ANCHOR)


def listing(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return one line a tool, by app."""
    apps: dict[str, list[str]] = {}
    for row in rows:
        apps.setdefault(row["app"], []).append(signature(row))
    return "\n".join(
        f"## apps.{app}\n" + "\n".join(f"- {line}" for line in lines) for app, lines in apps.items()
    )


def rules_sha256() -> str:
    """Return the hash of everything here that does not depend on a task."""
    return hashlib.sha256(f"{_rules()}\0{ANCHOR}\0{TIME_RULES}".encode()).hexdigest()


@cache
def _rules() -> str:
    return files("adapters.gaia2").joinpath("prompt.txt").read_text("utf-8")
