"""The files that a run of AppWorld leaves for one task."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from adapters.importing.replies import ForeignReply, Unreadable, read_reply
from adapters.importing.requests import Said, conversation
from adapters.importing.sources import (
    Row,
    as_list,
    as_row,
    json_rows,
    read_object,
    read_text,
    text_of,
)
from runtime.contracts import Check, Json
from runtime.errors import BadFile

__all__ = ["Interaction", "LmCall", "Request", "TaskOutput", "read_output"]

INTERACTIONS = "environment_io.md"
REQUESTS = "api_calls.jsonl"
LM_CALLS = "lm_calls.jsonl"
HEADING = re.compile(
    r"^#+ (?:Environment Interaction|Execution) (\d{1,6})[ \t]*\n-{5,}[ \t]*\n", re.MULTILINE
)
LONGEST_CELL = 200_000
"""Longer code is not parsed to find its end."""
OPENING, BETWEEN, CLOSING = "```python\n", "\n```\n\n```\n", "\n```"
COUNTS = re.compile(r"Num (Passed|Failed) Tests\s*:\s*(\d{1,6})")
REQUIREMENT = re.compile(r"^>> (Passed|Failed) Requirement\n(.+?)$", re.MULTILINE)


@dataclass(frozen=True)
class Interaction:
    """One cell and what it gave back."""

    source: str
    output: str

    @property
    def raised(self) -> bool:
        """Whether the cell failed, by the engine's words."""
        return self.output.startswith("Execution failed.")


@dataclass(frozen=True)
class Request:
    """One logged API request."""

    method: str
    app: str
    path: str
    """Behind the app's name."""
    data: dict[str, Json]


@dataclass(frozen=True)
class LmCall:
    """One model call of an agent of AppWorld's own repository."""

    asked: tuple[Said, ...] = ()
    reply: ForeignReply | None = None
    """None if its line cannot be read: its place still counts."""


@dataclass
class TaskOutput:
    """What all files say of one task's run."""

    folder: Path
    interactions: list[Interaction] = field(default_factory=list)
    requests: list[Request] = field(default_factory=list)
    lm_calls: list[LmCall] = field(default_factory=list)
    verdict: tuple[bool, tuple[Check, ...]] | None = None
    problems: list[BadFile] = field(default_factory=list)

    @property
    def sources(self) -> list[str]:
        """The code of each cell."""
        return [interaction.source for interaction in self.interactions]


def read_output(folder: Path) -> TaskOutput:
    """Read one task's folder. Nothing is raised: what is wrong is in `problems`."""
    output = TaskOutput(folder)
    logs = folder / "logs"
    try:
        output.interactions = list(_interactions(output, logs / INTERACTIONS))
    except BadFile as problem:
        output.problems.append(problem)
    for _, row in _rows(output, logs / REQUESTS, "one request: `method`, `url`, `data`"):
        if row is not None and (request := _request(row)):
            output.requests.append(request)
    for number, row in _rows(output, logs / LM_CALLS, "one model call: `input`, `output`"):
        call = LmCall() if row is None else _lm_call(output, row, number)
        output.lm_calls.append(call)
    output.verdict = _verdict(output)
    return output


def _interactions(output: TaskOutput, path: Path) -> Iterator[Interaction]:
    """Split the log at its headings.

    Code and output are not escaped in it, so either may hold what looks like a heading or a fence.
    A heading counts if its number is the next one; the code ends at the first fence where it is
    complete Python; the output runs up to the last fence.
    """
    text = read_text(path)
    if not text.strip():
        raise BadFile(path, "is empty: the run ended before its first cell")
    marks = list(_headings(text))
    if not marks:
        raise BadFile(path, "expected `### Environment Interaction 1` and a rule of dashes", 1)
    ends = [start for start, _ in marks[1:]] + [len(text)]
    for (start, body), end in zip(marks, ends, strict=True):
        found = _split(text[body:end])
        if found is None:
            line = text.count("\n", 0, start) + 1
            expected = "expected a ```python fence with the code and a fence with the output"
            output.problems.append(BadFile(path, expected, line))
        else:
            yield found


def _headings(text: str) -> Iterator[tuple[int, int]]:
    wanted = 1
    for match in HEADING.finditer(text):
        if int(match[1]) == wanted and text.startswith(OPENING, match.end()):
            wanted += 1
            yield match.start(), match.end()


def _split(body: str) -> Interaction | None:
    body = body.rstrip()
    if not body.startswith(OPENING) or not body.endswith(CLOSING):
        return None
    places = [match.start() for match in re.finditer(re.escape(BETWEEN), body)]
    if not places:
        return None
    code_at = len(OPENING)
    for place in places[:50]:
        if _is_python(body[code_at:place]):
            break
    else:
        place = places[0]
    output = body[place + len(BETWEEN) : -len(CLOSING)] if place + len(BETWEEN) < len(body) else ""
    return Interaction(source=body[code_at:place], output=output)


def _is_python(code: str) -> bool:
    if len(code) > LONGEST_CELL:
        return False
    try:
        ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


def _rows(output: TaskOutput, path: Path, expected: str) -> Iterator[tuple[int, Row | None]]:
    """Yield each line's number with its object, None for one that cannot be read."""
    if not path.is_file():
        return
    try:
        for number, row in json_rows(path, expected):
            if isinstance(row, BadFile):
                output.problems.append(row)
                yield number, None
            else:
                yield number, row
    except BadFile as problem:
        output.problems.append(problem)


def _request(row: Row) -> Request | None:
    url = re.sub(r"^https?://[^/]+", "", text_of(row.get("url"))).partition("?")[0]
    app, _, path = url.strip("/").partition("/")
    if not app or not row.get("method"):
        return None
    return Request(text_of(row["method"]).lower(), app, path, as_row(row.get("data")))


def _lm_call(output: TaskOutput, row: Row, number: int) -> LmCall:
    reply: ForeignReply | None = None
    said = row.get("output")
    try:
        reply = ForeignReply(said) if isinstance(said, str) else read_reply(said)
    except Unreadable as error:
        problem = BadFile(output.folder / "logs" / LM_CALLS, str(error), number)
        output.problems.append(problem)
    return LmCall(asked=conversation(row.get("input")), reply=reply)


def _verdict(output: TaskOutput) -> tuple[bool, tuple[Check, ...]] | None:
    """Read the task's own report, else its entry in the experiment's evaluations."""
    report = output.folder / "evaluation" / "report.md"
    if report.is_file():
        try:
            return _report(report)
        except BadFile as problem:
            output.problems.append(problem)
    for path in sorted(output.folder.parent.parent.glob("evaluations/*.json")):
        try:
            individual = read_object(path, "an evaluation: `individual` by task")["individual"]
        except (BadFile, KeyError):
            continue  # of another shape or data set; the run is then without a verdict
        entry = as_row(as_row(individual).get(output.folder.name))
        if isinstance(success := entry.get("success"), bool):
            groups = (("passes", True), ("failures", False))
            checks = [
                Check(requirement=_requirement(item), passed=passed)
                for name, passed in groups
                for item in as_list(entry.get(name))
            ]
            return success, tuple(checks)
    return None


def _requirement(item: Json) -> str:
    return text_of(as_row(item).get("requirement") or json.dumps(item))


def _report(path: Path) -> tuple[bool, tuple[Check, ...]]:
    text = read_text(path)
    counts = {name: int(count) for name, count in COUNTS.findall(text)}
    if set(counts) != {"Passed", "Failed"}:
        raise BadFile(path, "expected `Num Passed Tests` and `Num Failed Tests`", 1)
    checks = [
        Check(requirement=requirement, passed=name == "Passed")
        for name, requirement in REQUIREMENT.findall(text)
    ]
    return counts["Failed"] == 0 and counts["Passed"] > 0, tuple(checks)
