"""The trace: the append-only record of one episode, one JSON object a line.

docs/trace-format.md describes it with an example. The first line is the header; `end` is the last
line of a complete trace. Every record is masked (`runtime.masking`) before it is written. While an
episode runs, its file ends in `.part`; only a finished one is renamed into place.
"""

from __future__ import annotations

import json
import math
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Literal

from pydantic import ConfigDict, Field, TypeAdapter, ValidationError

from runtime.contracts import CellEnd, Check, Json, Kind, Limits, Refusal, Task, Usage, Value
from runtime.errors import BadFile, TraceError
from runtime.masking import Masker

__all__ = ["Record", "TraceFile", "TraceWriter", "read_trace"]

SCHEMA = 1
PART = ".part"
SURROGATE = re.compile("[\ud800-\udfff]")
"""A lone one: a program can print it, but neither UTF-8 nor a strict JSON reader takes it."""


class Header(Value):
    """All that is needed to run the episode again."""

    type: Literal["episode"] = "episode"
    schema_version: Literal[1] = Field(default=1, alias="schema")
    episode: str
    task: Task
    seed: int = 0
    model: dict[str, Json] = Field(default_factory=dict)
    """Name, model id and parameters."""
    arm: dict[str, Json] = Field(default_factory=dict)
    """Name, profile, memory hash, gate settings."""
    limits: Limits
    prompt_sha256: str
    versions: dict[str, str] = Field(default_factory=dict)
    lockdown: str = ""
    judge: str | None = None
    parent: str | None = None
    """Of a replay: the episode that was played."""
    source: str | None = None
    """Of an imported trace: what it was imported from."""

    model_config = ConfigDict(populate_by_name=True, serialize_by_alias=True)


class Timed(Value):
    """Base of all records after the header."""

    t: float = 0.0
    """Seconds since the episode began."""


class MessageRecord(Timed):
    """A message as it entered the conversation."""

    type: Literal["message"] = "message"
    role: Literal["system", "user", "assistant"]
    content: str


class ModelCallRecord(Timed):
    """One completion; its text is the assistant message that follows."""

    type: Literal["model_call"] = "model_call"
    step: int
    usage: Usage | None
    cost_usd: float | None
    latency_s: float
    finish_reason: str
    served_model: str
    attempts: int
    adaptations: tuple[str, ...] = ()
    recorded: bool = False
    """Played from a recording. The first one that is not is where a continued replay forked."""


class CellRecord(Timed):
    """A cell that is about to run."""

    type: Literal["cell"] = "cell"
    cell: int
    source: str


class DecisionRecord(Value):
    """A gate's word, stored with its call."""

    action: Literal["allow", "stop", "refuse", "answer"]
    reason: str
    advisory: dict[str, Json] | None = None


class CallRecord(Timed):
    """One request of agent code and the one decision on it."""

    type: Literal["call"] = "call"
    n: int
    cell: int
    function: str
    arguments: dict[str, Json]
    kind: Kind
    account: str | None = None
    simulated_time: float | None = None
    decision: DecisionRecord


class ResultRecord(Timed):
    """What the world answered to call `n`, if it was executed."""

    type: Literal["result"] = "result"
    n: int
    ok: bool
    status: int | None = None
    value: Json = None


class ObservationRecord(Timed):
    """What the cell gave back, before truncation for the model."""

    type: Literal["observation"] = "observation"
    cell: int
    text: str
    notes: str = ""
    end: CellEnd
    calls: int
    wall_s: float
    done: bool = False
    refusals: tuple[Refusal, ...] = ()


class InjectionRecord(Timed):
    """Memory that was delivered."""

    type: Literal["injection"] = "injection"
    point: Literal["task_start", "after_cell", "near_end", "advisory"]
    cards: tuple[str, ...]
    tokens: int
    text: str = ""


class NotificationRecord(Timed):
    """Something the world told the agent between turns."""

    type: Literal["notification"] = "notification"
    text: str


class OutcomeRecord(Timed):
    """The evaluator's verdict."""

    type: Literal["outcome"] = "outcome"
    passed: bool
    checks: tuple[Check, ...] = ()
    judge_usage: Usage | None = None
    judge_cost_usd: float | None = None


class ErrorRecord(Timed):
    """An infrastructure error, or the words of the limit that was hit."""

    type: Literal["error"] = "error"
    error: str
    message: str


class EndRecord(Timed):
    """The last line of a complete trace, with the totals."""

    type: Literal["end"] = "end"
    status: Literal["passed", "failed", "errored"]
    limit: Literal["steps", "wall", "tokens", "cost", "context"] | None = None
    steps: int
    calls: int
    events: int
    """Agent events: reads, writes, cells that made neither."""
    usage: Usage
    memory_tokens: int = 0
    cost_usd: float | None = None
    wall_s: float


Record = Annotated[
    Header
    | MessageRecord
    | ModelCallRecord
    | CellRecord
    | CallRecord
    | ResultRecord
    | ObservationRecord
    | InjectionRecord
    | NotificationRecord
    | OutcomeRecord
    | ErrorRecord
    | EndRecord,
    Field(discriminator="type"),
]
_RECORD: TypeAdapter[Record] = TypeAdapter(Record)


class TraceWriter:
    """The single writer of one episode's trace. Use as a context manager.

    Lines are flushed as they are written. `finish` renames the file into place; leaving the
    context without it keeps the readable prefix under its `.part` name.
    """

    def __init__(self, path: Path, masker: Masker) -> None:
        self.path = path
        self._masker = masker
        self._part = path.with_name(path.name + PART)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file = self._part.open("w", encoding="utf-8")
        except OSError as error:
            raise TraceError(_cannot_write(self._part, error)) from error

    def write(self, record: Record) -> None:
        """Mask and append one record. Raises `TraceError` where it cannot be written."""
        data = self._masker.mask(record.model_dump(mode="json"))
        try:
            line = _strict_json(data)
        except ValueError:
            line = _strict_json(_spelt_out_numbers(data))
        try:
            self._file.write(SURROGATE.sub(_spelt_out, line) + "\n")
            self._file.flush()
        except (OSError, ValueError) as error:
            raise TraceError(_cannot_write(self._part, error)) from error

    def finish(self) -> None:
        """Make the trace durable and rename it into place."""
        try:
            self._file.flush()
            os.fsync(self._file.fileno())
            self._file.close()
            self._part.replace(self.path)
        except (OSError, ValueError) as error:
            raise TraceError(_cannot_write(self.path, error)) from error

    def close(self) -> None:
        """Close the file without renaming it."""
        try:
            self._file.close()
        except OSError:
            return  # a full disk speaks again on close; it was reported by `write`

    def __enter__(self) -> TraceWriter:
        """Return the writer."""
        return self

    def __exit__(self, *exc: object) -> None:
        """Close the file; an unfinished trace stays a prefix."""
        self.close()


class TraceFile(Value):
    """A trace in memory."""

    path: Path
    header: Header
    records: tuple[Record, ...]
    """All records after the header."""

    @property
    def end(self) -> EndRecord | None:
        """The last record of a complete trace, else None."""
        last = self.records[-1] if self.records else None
        return last if isinstance(last, EndRecord) else None


def read_trace(path: Path, *, complete: bool = True) -> TraceFile:
    """Read and validate a trace.

    Raises `BadFile` naming the line. With `complete=False` a torn last line is dropped and a
    missing `end` is no error: that is the readable prefix of a killed run.
    """
    records: list[Record] = []
    for number, line in _lines(path):
        try:
            records.append(_RECORD.validate_json(line))
        except ValidationError as error:
            if not complete and not line.endswith(b"\n"):
                break
            raise BadFile(path, _problem(error), number) from error
    if not records or not isinstance(records[0], Header):
        raise BadFile(path, "the first line of a trace is its header (type episode, schema 1)", 1)
    trace = TraceFile(path=path, header=records[0], records=tuple(records[1:]))
    if complete and trace.end is None:
        raise BadFile(path, "the trace has no end record: the episode was cut off", len(records))
    return trace


def _lines(path: Path) -> Iterator[tuple[int, bytes]]:
    try:
        with path.open("rb") as file:
            yield from enumerate(file, start=1)
    except FileNotFoundError as error:
        raise BadFile(path, "there is no such trace") from error
    except OSError as error:
        raise BadFile(path, f"cannot be read as a trace ({error.strerror})") from error


def _strict_json(data: Json) -> str:
    return json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def _spelt_out_numbers(data: Json) -> Json:
    """Return `data` with texts for the numbers that JSON does not have: NaN and the infinities."""
    if isinstance(data, dict):
        return {name: _spelt_out_numbers(item) for name, item in data.items()}
    if isinstance(data, list):
        return [_spelt_out_numbers(item) for item in data]
    if isinstance(data, float) and not math.isfinite(data):
        return str(data)
    return data


def _spelt_out(surrogate: re.Match[str]) -> str:
    return f"\\\\u{ord(surrogate.group()):04x}"


def _problem(error: ValidationError) -> str:
    first = error.errors()[0]
    if first["loc"] == ("episode", "schema"):
        return f"this version reads traces of schema {SCHEMA}, not {first['input']!r}"
    where = ".".join(str(part) for part in first["loc"])
    return f"not a trace record: {where + ': ' if where else ''}{first['msg']}"


def _cannot_write(path: Path, error: Exception) -> str:
    mend = "Free space or choose another --out, then run the same command again."
    return f"Cannot write the trace {path}: {error}. {mend}"
