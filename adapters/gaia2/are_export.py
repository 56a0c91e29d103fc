"""The two files of a run that ARE exported: `hf` (what happened) and `lite` (what was said)."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from adapters.importing.sources import Row, as_count, as_list, as_row, read_object, text_of
from runtime.contracts import Json, Usage
from runtime.errors import BadFile

__all__ = ["Event", "Run", "Said", "open_run"]

EXPECTED = "an ARE export: `completed_events` (hf) or `per_agent_interaction_histories` (lite)"
TASK = re.compile(r"\[TASK\]:\s*(.*)", re.DOTALL)
LITERALS = {"dict", "list", "tuple", "int", "float", "bool"}
LONGEST_LITERAL = 200_000


@dataclass(frozen=True)
class Event:
    """One completed event of an hf file."""

    kind: str
    """AGENT, USER or ENV."""
    function: str
    """`App.function`."""
    arguments: dict[str, Json]
    at: float
    operation: str
    """READ or WRITE, as ARE tagged it."""
    result: Json
    exception: str | None


@dataclass(frozen=True)
class Said:
    """One message of a lite file."""

    role: str
    text: str
    at: float


@dataclass
class Run:
    """What both files say of one run."""

    path: Path
    hf: Row = field(default_factory=dict)
    lite: Row = field(default_factory=dict)
    problems: list[BadFile] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    history: list[Said] = field(default_factory=list)
    """The main agent's messages."""

    @property
    def metadata(self) -> Row:
        """The hf file's metadata."""
        return as_row(self.hf.get("metadata"))

    @property
    def scenario_id(self) -> str:
        """The scenario's id, or the file's name."""
        definition = as_row(self.metadata.get("definition"))
        return text_of(definition.get("scenario_id") or self.lite.get("scenario_id")) or (
            self.path.stem
        )

    @property
    def ability(self) -> str | None:
        """The scenario's first tag."""
        tags = as_list(as_row(self.metadata.get("definition")).get("tags"))
        return text_of(tags[0]) if tags else None

    @property
    def model(self) -> str:
        """The model's id."""
        simulation = as_row(self.metadata.get("simulation"))
        return text_of(self.lite.get("model_id") or simulation.get("model_id"))

    @property
    def begun(self) -> float:
        """When the first thing happened."""
        times = [event.at for event in self.events[:1]] + [said.at for said in self.history[:1]]
        return min(times, default=0.0)

    @property
    def instruction(self) -> str:
        """What the user asked for first."""
        for event in self.events:
            if event.kind == "USER":
                return text_of(event.arguments.get("content"))
        for said in self.history:
            if said.role == "user" and (found := TASK.search(said.text)):
                return found[1].strip()
        return ""

    @property
    def verdict(self) -> tuple[bool, str] | None:
        """Whether the run passed and why not, if the files say it."""
        annotation = as_row(self.metadata.get("annotation"))
        found = self.lite.get("validation_decision") or annotation.get("validation_decision")
        decision = text_of(found).lower()
        if decision not in {"valid", "invalid"}:
            return None
        return decision == "valid", text_of(self.lite.get("validation_rationale"))

    def usages(self) -> list[Usage]:
        """Return the tokens of each model call."""
        stats = as_row(_first(self.lite.get("per_agent_llm_usage_stats")))
        names = ("prompt_tokens", "completion_tokens", "reasoning_tokens")
        read, written, reasoned = (as_list(stats.get(name)) for name in names)
        return [
            Usage(
                input=as_count(tokens),
                output=as_count(_at(written, place)),
                reasoning=as_count(_at(reasoned, place)),
            )
            for place, tokens in enumerate(read)
        ]


def open_run(path: Path) -> Run:
    """Read the run that `path` belongs to, with its other file if there is one.

    Raises `BadFile` if `path` is no ARE export; what else is wrong is in `problems`.
    """
    run = Run(path=path)
    content = read_object(path, EXPECTED)
    _place(run, content)
    if not run.hf and not run.lite:
        raise BadFile(
            path, f"expected {EXPECTED}, found the keys {', '.join(list(content)[:8])}", 1
        )
    other = {"hf": "lite", "lite": "hf"}.get(path.parent.name)
    partner = path.parent.parent / other / path.name if other else path
    if partner != path and partner.is_file():
        try:
            _place(run, read_object(partner, EXPECTED))
        except BadFile as problem:
            run.problems.append(problem)
    run.events = list(_events(run))
    run.history = list(_history(run))
    return run


def _place(run: Run, content: Row) -> None:
    if isinstance(content.get("per_agent_interaction_histories"), dict):
        run.lite = run.lite or content
    elif isinstance(content.get("completed_events"), list):
        run.hf = run.hf or content


def _events(run: Run) -> Iterator[Event]:
    for number, raw in enumerate(as_list(run.hf.get("completed_events"))):
        event = as_row(raw)
        action, metadata = as_row(event.get("action")), as_row(event.get("metadata"))
        if not action.get("app"):
            continue  # a condition that ARE checked: nothing that anyone did
        at = event.get("event_time")
        if not isinstance(at, int | float) or not action.get("function"):
            problem = f"completed_events[{number}]: expected event_time and action.function"
            run.problems.append(BadFile(run.path, problem))
            continue
        yield Event(
            kind=text_of(event.get("event_type")).upper(),
            function=f"{text_of(action['app'])}.{text_of(action['function'])}",
            arguments=dict(_argument(as_row(item)) for item in as_list(action.get("args"))),
            at=float(at),
            operation=text_of(action.get("operation_type")).upper(),
            result=_value(metadata.get("return_value"), text_of(metadata.get("return_value_type"))),
            exception=text_of(metadata.get("exception")) or None,
        )


def _argument(item: Row) -> tuple[str, Json]:
    name, value, kind = text_of(item.get("name")), item.get("value"), item.get("value_type")
    if isinstance(value, str) and kind in {"list", "dict", "int", "float"}:
        try:
            return name, json.loads(value)
        except (ValueError, RecursionError):
            return name, value
    if kind == "bool":
        return name, str(value).lower() in {"true", "1"}
    return name, value


def _value(text: Json, kind: str) -> Json:
    """Return a value that was exported as Python's `str(value)`, if a literal can be read back."""
    if not isinstance(text, str) or kind not in LITERALS or len(text) > LONGEST_LITERAL:
        return text
    try:
        value = ast.literal_eval(text)
        return json.loads(json.dumps(value))  # type: ignore[no-any-return]
    except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError):
        return text  # it holds objects: their repr is all there is


def _history(run: Run) -> Iterator[Said]:
    agents = as_row(run.lite.get("per_agent_interaction_histories"))
    if len(agents) > 1:
        others = f"{len(agents) - 1} more agents take part; only the first agent's run is imported"
        run.problems.append(BadFile(run.path, others))
    for number, raw in enumerate(as_list(_first(agents))):
        row = as_row(raw)
        at = row.get("timestamp")
        if not row.get("role"):
            problem = f"message {number} of the history: expected role and content"
            run.problems.append(BadFile(run.path, problem))
            continue
        when = float(at) if isinstance(at, int | float) else 0.0
        yield Said(role=text_of(row["role"]), text=text_of(row.get("content")), at=when)


def _first(value: Json) -> Json:
    return next(iter(as_row(value).values()), None)


def _at(column: list[Json], place: int) -> Json:
    return column[place] if place < len(column) else 0
