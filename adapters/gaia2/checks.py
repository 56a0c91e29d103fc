"""Scripted checks of a scenario: where their file lies, and whether the judge would apply them.

ARE drops a check of an event or a tool that is not there without a word, and with any file of
checks it compares no text that the file does not speak of: a misspelt name lets a wrong answer
pass. So the file is held against the scenario before one runs. ARE is not needed for that.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, Self

from pydantic import TypeAdapter, ValidationError, model_validator

from adapters.gaia2.tasks import read_scenario
from runtime.contracts import Json, Value
from runtime.errors import BadFile

__all__ = ["CHECKS", "SOFT_ARGUMENTS", "Check", "checks_of", "require_sound"]

CHECKS = "checks"
"""Name of the folders that hold checks."""
SOFT_ARGUMENTS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "add_calendar_event": ("title", "description", "location"),
        "change_conversation_title": ("title",),
        "create_group_conversation": ("title",),
        "edit_contact": ("updates",),
        "order_ride": ("start_location", "end_location"),
        "reply_to_email": ("content",),
        "send_email": ("subject", "content"),
        "send_message": ("content",),
        "send_message_to_group_conversation": ("content",),
        "send_message_to_user": ("content",),
    }
)
"""What ARE's judge does not compare by itself, by function."""
ALWAYS_THERE = ("AgentUserInterface", "SystemApp")
CONTAINING = {"contain_any_checker", "contain_all_checker"}
TAKES = {**dict.fromkeys(CONTAINING, "targets"), "list_attendees_checker": "tolerance_list_str"}


class Check(Value):
    """One check of one argument, in the words of ARE's `ToolCheckerParam`."""

    arg_name: str
    checker_type: Literal[
        "contain_all_checker",
        "contain_any_checker",
        "datetime_checker",
        "eq_checker",
        "eq_str_strip_checker",
        "list_attendees_checker",
        "path_checker",
        "phone_number_checker",
        "unordered_list_checker",
        "unordered_path_list_checker",
    ]
    tool_name: str
    checker_args: dict[str, Json]

    @model_validator(mode="after")
    def _takes_what_it_is_given(self) -> Self:
        takes = TAKES.get(self.checker_type)
        if unknown := sorted(self.checker_args.keys() - {takes}):
            raise ValueError(f"{self.checker_type} takes no {', '.join(unknown)}")
        texts = self.checker_args.get("targets")
        if self.checker_type in CONTAINING and not _are_texts(texts):
            raise ValueError(f"{self.checker_type} needs a list of texts, `targets`")
        return self


@dataclass(frozen=True)
class _Expected:
    """An event of the oracle: the tool, and the arguments that it gives."""

    tool: str
    arguments: Mapping[str, str]
    """Their types, by their names."""

    @property
    def soft(self) -> list[str]:
        """The arguments that only a check can decide on."""
        function = self.tool.partition("__")[2]
        return sorted(self.arguments.keys() & set(SOFT_ARGUMENTS.get(function, ())))


_FILE = TypeAdapter(dict[str, tuple[Check, ...]])


def checks_of(scenario: Path) -> Path | None:
    """Return the file of a scenario's checks: in `checks` in its folder or beside it."""
    folders = (scenario.parent / CHECKS, scenario.parent.parent / CHECKS)
    found = (folder / scenario.name for folder in folders)
    return next((path for path in found if path.is_file()), None)


def require_sound(checks: Path, scenario: Path) -> None:
    """Raise `BadFile` unless each check would be applied and each soft argument is decided on."""
    try:
        given = _FILE.validate_json(checks.read_bytes())
    except (OSError, ValidationError) as error:
        raise BadFile(checks, f"no scripted checks: {_words(error)}") from None
    try:
        oracle = _oracle(read_scenario(scenario))
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        said = f"{type(error).__name__}: {error}"
        raise BadFile(scenario, f"its oracle's events cannot be read ({said})") from None
    for event, group in given.items():
        if event not in oracle:
            known = ", ".join(oracle) or "none"
            raise BadFile(checks, f"{event!r} is no event of the oracle. Its events: {known}.")
        for check in group:
            if problem := _problem(check, oracle[event]):
                raise BadFile(checks, f"{event}: {problem}")
    for event, expected in oracle.items():
        if expected.soft and event not in given:
            raise BadFile(
                checks,
                f"nothing about {event} ({expected.tool}), so any {' and any '.join(expected.soft)}"
                f' would pass. Add a check, or say that any may: "{event}": [].',
            )


def _problem(check: Check, expected: _Expected) -> str:
    if check.tool_name != expected.tool:
        return f"tool_name is {check.tool_name!r}, but the event calls {expected.tool!r}."
    if check.arg_name not in expected.arguments:
        known = ", ".join(sorted(expected.arguments)) or "none"
        return f"the event gives no argument {check.arg_name!r}. Its arguments: {known}."
    kind = expected.arguments[check.arg_name]
    if check.checker_type in CONTAINING and ("list" in kind or "dict" in kind):
        return f"{check.checker_type} compares texts, but {check.arg_name} is a {kind}."
    return ""


def _oracle(scenario: Mapping[str, Any]) -> dict[str, _Expected]:
    classes = {app["name"]: app.get("class_name") or app["name"] for app in scenario["apps"]}
    classes |= {app: app for app in ALWAYS_THERE}
    expected = {}
    for event in scenario["events"]:
        if event["event_type"] != "AGENT":
            continue
        app, function = event["action"]["app"], event["action"]["function"]
        if app not in classes:
            raise ValueError(f"{event['event_id']} uses {app}, which is no app of the scenario")
        given = [item for item in event["action"]["args"] or () if item["value"]]
        expected[event["event_id"]] = _Expected(
            tool=f"{classes[app]}__{function}",
            arguments={item["name"]: str(item["value_type"]) for item in given},
        )
    return expected


def _are_texts(value: object) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(x, str) and x for x in value)


def _words(error: OSError | ValidationError) -> str:
    if isinstance(error, OSError):
        return f"not readable ({error.strerror})"
    first = error.errors()[0]
    where = ".".join(str(part) for part in first["loc"])
    return f"{where}: {first['msg']}" if where else first["msg"]
