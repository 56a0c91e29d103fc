"""Any Python value as JSON: for advisories, the audit log, and to tell whether two calls are equal.

Nothing is used up by being described: a generator is not iterated. What has no JSON is known by its
repr.
"""

from __future__ import annotations

import dataclasses
import json
import math
from collections import deque
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping
from enum import Enum

from pydantic import BaseModel
from pydantic_core import to_jsonable_python

from runtime.contracts import Json

__all__ = ["Describer", "as_json", "result_json"]

_DEEPEST = 100
"""Containers inside each other; pydantic and json give up somewhere above."""
_MOST_BITS = 14_000
"""Of an integer: Python writes no more than 4300 digits."""
_MOST_CHARACTERS = 200_000
"""Of a result that is one text: more is not searched for JSON."""


def as_json(value: object) -> Json:
    """Return a value as JSON. Never raises, whatever the value."""
    return Describer().json(value)


def result_json(value: object) -> Json:
    """Return a result as JSON; tools like to answer with JSON in a text."""
    if isinstance(value, str) and value[:1] in "{[" and len(value) <= _MOST_CHARACTERS:
        try:
            return as_json(json.loads(value))
        except (ValueError, RecursionError):
            return value
    return as_json(value)


class Describer:
    """Describes values, and keeps those that are known by an address.

    As long as they are kept, nothing else can come to have that address, and so the same
    description.
    """

    def __init__(self) -> None:
        self.kept: list[object] = []
        self.problem = ""
        """Why a later value might be described alike without being equal, if that is so."""
        self._open: set[int] = set()
        """The containers around the value that is being described, by their ids."""

    def json(self, value: object) -> Json:
        """Return a value as JSON. Never raises, whatever the value."""
        try:
            return self._json(value)
        except Exception:  # noqa: BLE001 - reading a value may run code of its own
            return self._text(value)

    def _json(self, value: object) -> Json:
        if isinstance(value, BaseModel):
            value = value.model_dump(by_alias=True, warnings=False)
        elif isinstance(value, Enum):
            value = value.value
        if value is None or isinstance(value, str | int | float):
            return _scalar(value)
        if isinstance(value, Iterator | AsyncIterator):
            return self._iterator(value)
        inside = _inside(value)
        if inside is not None:
            return self._container(value, inside)
        found: Json = to_jsonable_python(value, fallback=self._text)
        return found

    def _container(self, value: object, inside: Iterable[object]) -> Json:
        if id(value) in self._open or len(self._open) >= _DEEPEST:
            self.problem = "is nested too deeply, or holds itself"
            return "..."
        self._open.add(id(value))
        try:
            if isinstance(inside, Mapping):
                return {self._key(key): self.json(item) for key, item in inside.items()}
            items = [self.json(item) for item in inside]
        finally:
            self._open.discard(id(value))
        return sorted(items, key=json.dumps) if isinstance(value, set | frozenset) else items

    def _key(self, key: object) -> str:
        return key if isinstance(key, str) else str(self.json(key))

    def _iterator(self, value: object) -> Json:
        """Files and cursors are handles, which others may hold; the rest is there to be read."""
        if type(value).__module__ in {"builtins", "itertools"}:
            self.problem = f"is or holds a {type(value).__name__}, which can be read only once"
        return self._text(value)

    def _text(self, value: object) -> str:
        try:
            text = repr(value)
        except Exception:  # noqa: BLE001 - a repr may raise anything
            text = object.__repr__(value)
        if "0x" in text:
            self.kept.append(value)
        elif "..." in text or "\u2026" in text:  # cut short: what was left out may differ
            self.kept.append(value)
            text = f"{text} at {id(value):#x}"
        return text


def _scalar(value: str | float | None) -> Json:
    """Return what json, pydantic and an int's own digits can all write."""
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, float) and not math.isfinite(value):
        return str(float(value))
    if isinstance(value, int) and value.bit_length() > _MOST_BITS:
        return hex(value)
    return value


def _inside(value: object) -> Iterable[object] | None:
    """Return what a container holds: a mapping, or its items."""
    if isinstance(value, Mapping | list | tuple | set | frozenset | deque):
        return value
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    return None
