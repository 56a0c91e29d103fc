"""Turns what ARE's tools return into plain data. Runs in ARE's interpreter."""

from __future__ import annotations

import dataclasses
import enum
import re
from collections.abc import Mapping
from datetime import date
from typing import Any

__all__ = ["plain"]

ADDRESS = re.compile(r" at 0x[0-9a-f]{6,16}")


def plain(value: Any) -> Any:  # noqa: PLR0911 - a table of types reads best as one
    """Return a copy made of dicts, lists, strings, numbers, booleans and None.

    Records become dicts of their public fields, enum members their values, moments ISO text, bytes
    text. Whatever else there is becomes its text without memory addresses, which differ by run.
    """
    if value is None or isinstance(value, bool | int | float | str):
        return value.value if isinstance(value, enum.Enum) else value
    if isinstance(value, enum.Enum):
        return plain(value.value)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        names = [item.name for item in dataclasses.fields(value) if not item.name.startswith("_")]
        return {name: plain(getattr(value, name)) for name in names}
    if isinstance(value, Mapping):
        return {str(plain(key)): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, set | frozenset):
        return sorted((plain(item) for item in value), key=str)
    if isinstance(value, date):
        return str(value)
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if hasattr(value, "model_dump"):
        return plain(value.model_dump())
    return ADDRESS.sub("", str(value))
