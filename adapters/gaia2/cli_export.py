"""The files that a run of gaia2-cli leaves: model calls, app calls, verdict."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from adapters.importing.replies import ForeignReply, Unreadable, parse_reply, read_prepared
from adapters.importing.requests import Said, conversation
from adapters.importing.sources import Row, as_row, json_rows, read_object, text_of
from runtime.contracts import Json
from runtime.errors import BadFile

__all__ = ["CliRun", "Event", "ModelCall", "is_run", "read_run"]

TRACE, EVENTS = "trace.jsonl", "events.jsonl"
STATUS, RESULT = "daemon_status.json", "result.json"
A_CALL = "one model call: `seq`, `timestamp`, `request` and `raw_response` or `response`"
AN_EVENT = "one app call: `t`, `app`, `fn`, `args`"


@dataclass(frozen=True)
class ModelCall:
    """One line of trace.jsonl."""

    at: float
    """When the reply had come."""
    latency_s: float
    asked: tuple[Said, ...]
    reply: ForeignReply | None
    """None if it failed or could not be read."""
    failed: bool
    """The provider answered with an error: another attempt follows, or none."""


@dataclass(frozen=True)
class Event:
    """One line of events.jsonl. Only calls that succeeded are in it."""

    at: float
    app: str
    """The app's class."""
    function: str
    arguments: dict[str, Json]
    writes: bool
    result: Json
    simulated_time: float | None
    from_environment: bool


@dataclass
class CliRun:
    """What all files say of one run."""

    folder: Path
    calls: list[ModelCall] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    verdict: tuple[bool, str] | None = None
    problems: list[BadFile] = field(default_factory=list)


def is_run(folder: Path) -> bool:
    """Whether a folder holds a run."""
    return (folder / TRACE).is_file() or (folder / EVENTS).is_file()


def read_run(folder: Path) -> CliRun:
    """Read a folder. Nothing is raised: what is wrong is in `problems`."""
    run = CliRun(folder)
    for number, row in _rows(run, TRACE, A_CALL):
        if call := _model_call(run, row, number):
            run.calls.append(call)
    for number, row in _rows(run, EVENTS, AN_EVENT):
        if event := _event(run, row, number):
            run.events.append(event)
    run.events.sort(key=lambda event: event.at)
    run.verdict = _verdict(run)
    return run


def _rows(run: CliRun, name: str, expected: str) -> Iterator[tuple[int, Row]]:
    path = run.folder / name
    if not path.is_file():
        return
    try:
        for number, row in json_rows(path, expected):
            if isinstance(row, BadFile):
                run.problems.append(row)
            else:
                yield number, row
    except BadFile as problem:
        run.problems.append(problem)


def _model_call(run: CliRun, row: Row, number: int) -> ModelCall | None:
    path = run.folder / TRACE
    at = _moment(row.get("timestamp"))
    if at is None or not ("raw_response" in row or "response" in row):
        run.problems.append(BadFile(path, f"expected {A_CALL}", number))
        return None
    latency, status = row.get("latency_ms"), row.get("http_status", 200)
    answered = bool(row.get("raw_response") or row.get("response"))
    failed = status != 200 and not (status is None and answered)
    reply = None if failed else _reply(run, row, number)
    return ModelCall(
        at=at,
        latency_s=latency / 1000 if isinstance(latency, int | float) and latency >= 0 else 0.0,
        asked=conversation(row.get("request")),
        reply=reply,
        failed=failed,
    )


def _reply(run: CliRun, row: Row, number: int) -> ForeignReply | None:
    path, raw = run.folder / TRACE, row.get("raw_response")
    body = as_row(row.get("response"))
    try:
        reply = parse_reply(raw) if isinstance(raw, str) else read_prepared(body)
    except Unreadable as problem:
        run.problems.append(BadFile(path, str(problem), number))
        return None
    if not reply.says_something:
        why = f"finish reason: {reply.finish_reason or 'none given'}"
        expected = f"expected text or a tool call in the reply, found neither ({why})"
        run.problems.append(BadFile(path, expected, number))
    return reply


def _event(run: CliRun, row: Row, number: int) -> Event | None:
    at = row.get("t")
    if not isinstance(at, int | float) or not row.get("app") or not row.get("fn"):
        run.problems.append(BadFile(run.folder / EVENTS, f"expected {AN_EVENT}", number))
        return None
    return Event(
        at=float(at),
        app=text_of(row["app"]),
        function=text_of(row["fn"]),
        arguments=as_row(row.get("args")),
        writes=row.get("w") is not False,
        result=row.get("ret"),
        simulated_time=_moment(row.get("sim_t")),
        from_environment=text_of(row.get("event_id")).startswith(("Event-ENV", "Event-USER")),
    )


def _verdict(run: CliRun) -> tuple[bool, str] | None:
    for name in (STATUS, RESULT):
        path = run.folder / name
        if not path.is_file():
            continue
        try:
            content = read_object(path, "the run's status as a JSON object")
        except BadFile as problem:
            run.problems.append(problem)
            continue
        judgment = as_row(content.get("judgment")) or content
        if isinstance(success := judgment.get("success"), bool):
            return success, text_of(judgment.get("failure_reason"))
    return None


def _moment(value: Json) -> float | None:
    """Return seconds since the epoch of an ISO time; one without a zone is in UTC."""
    if not isinstance(value, str):
        return None
    try:
        moment = datetime.fromisoformat(value)
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        return None
