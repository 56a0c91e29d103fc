"""Finds the line of a TOML file that an error is about: `tomllib` keeps no positions of values."""

from __future__ import annotations

import re
import tomllib
from bisect import bisect_left
from collections.abc import Iterator, Sequence

__all__ = ["line_given_up", "line_of", "line_of_syntax_error"]

_HEADER = re.compile(r"\s*(\[.+\])\s*(?:#.*)?")
_KEY = re.compile(r"\s*([^=#\[{]+?)\s*=")


def line_of(text: str, location: Sequence[object]) -> int | None:
    """Return the number (from 1) of the line nearest to `location`: the first of those that share
    most of its keys.

    `location` is a path of keys such as `("models", "mini", "prices", "input")`. None where not
    even its first key stands in the text.
    """
    wanted = tuple(str(part) for part in location)
    best, best_depth = None, 0
    for number, path in _paths(text):
        depth = _common(path, wanted)
        if depth > best_depth:
            best, best_depth = number, depth
    return best


def line_of_syntax_error(error: tomllib.TOMLDecodeError, text: str) -> int:
    """Return the line of a syntax error; Python before 3.14 says it in the error's words only."""
    stated = re.search(r"at line (\d+)", str(error))
    return int(stated.group(1)) if stated else max(1, len(text.splitlines()))


def line_given_up(text: str) -> int:
    """Return the line of what `tomllib` gives up on although it is no syntax error, such as
    nesting without end: the shortest beginning of the file that it gives up on ends there.
    """
    lines = text.splitlines()
    lengths = range(1, len(lines))
    return 1 + bisect_left(lengths, True, key=lambda n: _gives_up("\n".join(lines[:n])))


def _gives_up(text: str) -> bool:
    try:
        tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return False
    except (RecursionError, ValueError):
        return True
    return False


def _paths(text: str) -> Iterator[tuple[int, tuple[str, ...]]]:
    """Yield each table header and each key with its full path."""
    table: tuple[str, ...] = ()
    for number, line in enumerate(text.splitlines(), start=1):
        if header := _HEADER.fullmatch(line):
            table = _path_of(header.group(1))
            yield number, table
        elif key := _KEY.match(line):
            yield number, table + _path_of(f"{key.group(1)} = 0")


def _path_of(line: str) -> tuple[str, ...]:
    """Read the dotted and perhaps quoted path of one header or key, by the TOML reader itself."""
    try:
        node: object = tomllib.loads(line)
    except tomllib.TOMLDecodeError:
        return ()  # a line inside of a longer value that only looks like a key
    path: list[str] = []
    while isinstance(node, dict) and node:
        name, node = next(iter(node.items()))
        path.append(name)
    return tuple(path)


def _common(left: Sequence[str], right: Sequence[str]) -> int:
    pairs = zip(left, right, strict=False)
    return next((n for n, (a, b) in enumerate(pairs) if a != b), min(len(left), len(right)))
