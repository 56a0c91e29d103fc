"""A scenario as its author thinks of it, and its two files: scenario and scripted checks."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from adapters.gaia2.mini.source import diary, mail, people, places, talk
from adapters.gaia2.mini.source.basics import START, State

Kind = Literal["USER", "ENV", "AGENT"]

CLASSES = {
    "AgentUserInterface": "AgentUserInterface",
    "SystemApp": "SystemApp",
    "Contacts": "Contacts",
    "Emails": "EmailClientV2",
    "Calendar": "Calendar",
    "Messages": "MessagingAppV2",
    "Chats": "MessagingAppV2",
    "Shopping": "Shopping",
    "Cabs": "CabApp",
    "RentAFlat": "RentAFlat",
    "Files": "Files",
}
DURATION_S = 1800


@dataclass(frozen=True)
class Check:
    """One scripted check of one argument: `checker` is the engine's name, without `_checker`."""

    argument: str
    checker: str
    targets: tuple[str, ...] = ()


def has(argument: str, *targets: str) -> Check:
    """Ask that a text contains all targets, in any case."""
    return Check(argument, "contain_all", targets)


def same(argument: str) -> Check:
    """Ask that an argument equals the oracle's."""
    return Check(argument, "eq")


def exactly(argument: str) -> Check:
    """Ask that a text equals the oracle's but for outer blanks."""
    return Check(argument, "eq_str_strip")


@dataclass(frozen=True)
class Step:
    """One event: of the user, of the environment, or what the agent should do (the oracle)."""

    id: str
    kind: Kind
    function: str
    """`App.function`."""
    args: Mapping[str, Any]
    after: tuple[str, ...] = ()
    delay: float = 1.0
    """Seconds after the last of `after`."""
    checks: tuple[Check, ...] = ()

    @property
    def app(self) -> str:
        """The part before the dot."""
        return self.function.partition(".")[0]

    @property
    def short(self) -> str:
        """The part after the dot."""
        return self.function.partition(".")[2]


def ask(name: str, text: str, after: tuple[str, ...] = (), delay: float = 0.0) -> Step:
    """Let the user say something to the agent."""
    args = {"content": text}
    return Step(name, "USER", "AgentUserInterface.send_message_to_agent", args, after, delay)


def tell(name: str, text: str, after: tuple[str, ...], *checks: Check) -> Step:
    """Let the agent report to the user, which ends its turn."""
    function = "AgentUserInterface.send_message_to_user"
    return Step(name, "AGENT", function, {"content": text}, after, checks=checks)


def act(
    name: str,
    function: str,
    args: Mapping[str, Any],
    after: tuple[str, ...],
    *checks: Check,
    delay: float = 1.0,
) -> Step:
    """Let the agent write."""
    return Step(name, "AGENT", function, args, after, delay, checks)


def happen(
    name: str, function: str, args: Mapping[str, Any], after: tuple[str, ...], delay: float
) -> Step:
    """Let the environment do something, `delay` seconds after its one predecessor."""
    return Step(name, "ENV", function, args, after, delay)


@dataclass(frozen=True)
class Mistake:
    """A plausible wrong way through a scenario, as changes to the oracle's steps."""

    why: str
    args: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    drop: tuple[str, ...] = ()
    delay: Mapping[str, float] = field(default_factory=dict)
    add: tuple[Step, ...] = ()


@dataclass(frozen=True)
class Mini:
    """One bundled scenario."""

    id: str
    ability: Literal["Execution", "Search", "Ambiguity", "Adaptability", "Time"]
    dataset: Literal["mini_train", "mini_test"]
    steps: tuple[Step, ...]
    mistake: Mistake
    extra: Step
    """A write nobody asked for."""

    def scenario(self) -> State:
        """Return the scenario file's content, in the format `are_simulation_v1`."""
        return {
            "metadata": {
                "definition": {
                    "scenario_id": self.id,
                    "seed": 0,
                    "duration": DURATION_S,
                    "time_increment_in_seconds": 1,
                    "start_time": START.timestamp(),
                    "run_number": None,
                    "hints": [],
                    "config": None,
                    "tags": [self.ability],
                    "hf_metadata": None,
                },
                "simulation": None,
                "annotation": None,
                "execution": None,
                "runner_config": None,
            },
            "world_logs": [],
            "apps": _apps(),
            "events": [_event(step) for step in self.steps],
            "completed_events": [],
            "version": "are_simulation_v1",
            "context": None,
            "augmentation": None,
        }

    def checks(self) -> State:
        """Return the checks file's content: event id to the judge's checker parameters."""
        return {
            step.id: [_parameters(step, check) for check in step.checks]
            for step in self.steps
            if step.kind == "AGENT"
        }


def text_of(value: State) -> str:
    """Return the bytes of a file as they are committed."""
    return json.dumps(value, indent=1, ensure_ascii=False) + "\n"


def _apps() -> list[State]:
    states = {
        "AgentUserInterface": {"messages": []},
        "SystemApp": {},
        "Contacts": people.contacts(),
        "Emails": mail.emails(),
        "Calendar": diary.calendar(),
        "Messages": talk.messages(),
        "Chats": talk.chats(),
        "Shopping": places.shopping(),
        "Cabs": places.cabs(),
        "RentAFlat": places.apartments(),
        "Files": places.files(),
    }
    return [
        {"name": name, "class_name": CLASSES[name], "app_state": state}
        for name, state in states.items()
    ]


def _event(step: Step) -> State:
    event: State = {
        "class_name": "OracleEvent" if step.kind == "AGENT" else "Event",
        "event_type": step.kind,
        "event_time": None,
        "event_id": step.id,
        "dependencies": list(step.after),
        "event_relative_time": step.delay,
        "action": {
            "action_id": f"action_{step.id}",
            "app": step.app,
            "function": step.short,
            "operation_type": "WRITE",
            "args": [_argument(name, value) for name, value in step.args.items()],
        },
    }
    if step.kind == "AGENT":
        event["event_time_comparator"] = None
    return event


def _argument(name: str, value: object) -> State:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return {"name": name, "value": text, "value_type": type(value).__name__}


def _parameters(step: Step, check: Check) -> State:
    return {
        "arg_name": check.argument,
        "checker_type": f"{check.checker}_checker",
        "tool_name": f"{CLASSES[step.app]}__{step.short}",
        "checker_args": {"targets": list(check.targets)} if check.targets else {},
    }
