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

from pydantic import TypeAdapter, ValidationError

from runtime.contracts import Json, Value
from runtime.errors import BadFile, TraceError
from runtime.masking import Masker
from runtime.records import EndRecord, Header, Record

__all__ = ["PART", "TraceFile", "TraceWriter", "part_of", "read_trace"]

SCHEMA = 1
PART = ".part"
SURROGATE = re.compile("[\ud800-\udfff]")
"""A lone one: a program can print it, but neither UTF-8 nor a strict JSON reader takes it."""


_RECORD: TypeAdapter[Record] = TypeAdapter(Record)


def part_of(trace: Path) -> Path:
    """Return where a trace lies while its episode runs, and what a killed one leaves there."""
    return trace.with_name(trace.name + PART)


class TraceWriter:
    """The single writer of one episode's trace. Use as a context manager.

    Lines are flushed as they are written. `finish` renames the file into place; leaving the
    context without it keeps the readable prefix under its `.part` name.
    """

    def __init__(self, path: Path, masker: Masker) -> None:
        self.path = path
        self._masker = masker
        self._part = part_of(path)
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
