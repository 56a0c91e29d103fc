"""Storing many records of a kind at once, several times faster than one by one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

__all__ = ["add_records"]


def add_records(kind: Any, rows: Iterable[Mapping[str, Any]]) -> list[Any]:
    """Create one record of the model class `kind` for each row and store them together."""
    records = [kind.create(**row) for row in rows]
    kind.save_all(records)
    return records
