"""Reads foreign files, which may be huge, torn, malformed or hostile."""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Iterator
from pathlib import Path

from runtime.contracts import Json
from runtime.errors import BadFile

__all__ = [
    "LARGEST_FILE",
    "LONGEST_TEXT",
    "Row",
    "as_count",
    "as_list",
    "as_row",
    "clean",
    "json_rows",
    "read_object",
    "read_text",
    "safe_name",
    "tame",
    "text_of",
]

LARGEST_FILE = 256 << 20
LONGEST_TEXT = 1 << 20
"""Characters kept of one text."""
MOST_ITEMS = 20_000
DEEPEST = 48
Row = dict[str, Json]


def read_text(path: Path) -> str:
    """Return a file's text; bytes that are no UTF-8 become marks. Raises `BadFile`."""
    try:
        size = path.stat().st_size
        if size > LARGEST_FILE:
            raise BadFile(path, f"holds {size >> 20} MB, more than {LARGEST_FILE >> 20}: split it")
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise BadFile(path, f"cannot be read: {error.strerror or error}") from error


def read_object(path: Path, expected: str) -> Row:
    """Read a JSON object, tamed. Raises `BadFile` saying what was `expected`, with the line."""
    return _object(read_text(path), path, expected, None)


def json_rows(path: Path, expected: str) -> Iterator[tuple[int, Row | BadFile]]:
    """Yield each line's number with its object, or with the error that stands for it."""
    for number, line in enumerate(read_text(path).split("\n"), start=1):
        if line.strip():
            try:
                yield number, _object(line, path, expected, number)
            except BadFile as problem:
                yield number, problem


def tame(value: object, depth: int = 0) -> Json:
    """Return JSON that any reader takes: bounded in size and depth, with valid text and numbers."""
    if not isinstance(value, dict | list | tuple):
        return _scalar(value)
    if depth >= DEEPEST:
        return "... [nested too deep for an import]"
    if isinstance(value, dict):
        kept = list(value.items())[:MOST_ITEMS]
        return {clean(str(name)): tame(item, depth + 1) for name, item in kept}
    return [tame(item, depth + 1) for item in value[:MOST_ITEMS]]


def clean(text: str) -> str:
    """Return the text without lone surrogates, cut at a length that a trace can bear."""
    text = text.encode("utf-8", "replace").decode()
    if len(text) <= LONGEST_TEXT:
        return text
    kept = text[: LONGEST_TEXT - 64]
    return f"{kept}\n... [{len(text) - len(kept)} characters cut at import]"


def text_of(value: object) -> str:
    """Return a value as text: itself if it is text, JSON otherwise."""
    if isinstance(value, str):
        return clean(value)
    return "" if value is None else json.dumps(tame(value), ensure_ascii=False)


def as_row(value: Json) -> Row:
    """Return an object, {} for anything else."""
    return value if isinstance(value, dict) else {}


def as_list(value: Json) -> list[Json]:
    """Return a list, [] for anything else."""
    return value if isinstance(value, list) else []


def as_count(value: Json) -> int:
    """Return a number of tokens, 0 for anything else."""
    return value if isinstance(value, int) and 0 <= value < 2**53 else 0


def safe_name(name: str) -> str:
    """Return a name that is one plain file name; another name gives another result."""
    plain = re.sub(r"[^A-Za-z0-9._-]+", "_", name)[:80].lstrip(".")
    if plain and plain == name:
        return plain
    mark = hashlib.sha256(name.encode("utf-8", "replace")).hexdigest()[:8]
    return f"{plain or 'unnamed'}-{mark}"


def _scalar(value: object) -> Json:
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int) and value.bit_length() < 64:
        return value
    if isinstance(value, float) and math.isfinite(value):
        return value
    return clean(str(value))


def _object(text: str, path: Path, expected: str, line: int | None) -> Row:
    try:
        value = json.loads(text)
    except json.JSONDecodeError as error:
        where = line or error.lineno
        raise BadFile(
            path, f"expected {expected}, but it is no JSON: {error.msg}", where
        ) from error
    except (ValueError, RecursionError) as error:
        raise BadFile(
            path, f"expected {expected}, but the JSON is too deep or long", line
        ) from error
    tamed = tame(value)
    if not isinstance(tamed, dict):
        found = type(value).__name__
        raise BadFile(path, f"expected {expected}, found a JSON {found}", line or 1)
    return tamed
