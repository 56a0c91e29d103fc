"""Compares two traces of one episode: what was run, what was decided, what came back.

Times, latencies and prices are left out: they differ between equal runs.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

from runtime.contracts import Json, Value
from runtime.records import (
    CallRecord,
    CellRecord,
    EndRecord,
    InjectionRecord,
    MessageRecord,
    NotificationRecord,
    ObservationRecord,
    OutcomeRecord,
    Record,
    ResultRecord,
)
from runtime.trace import TraceFile

__all__ = ["Difference", "first_difference"]

COMPARED: dict[type[Record], tuple[str, ...]] = {
    MessageRecord: ("role", "content"),
    CellRecord: ("source",),
    CallRecord: ("function", "arguments", "kind", "account", "simulated_time", "decision"),
    ResultRecord: ("n", "ok", "status", "value"),
    ObservationRecord: ("text", "notes", "end", "done"),
    InjectionRecord: ("point", "cards", "tokens"),
    NotificationRecord: ("text",),
    OutcomeRecord: ("passed", "checks"),
    EndRecord: ("status", "limit"),
}


class Difference(Value):
    """Where two traces part."""

    where: str
    """The cell, call or other record, in words."""
    field: str
    recorded: str
    replayed: str

    def __str__(self) -> str:
        """Return one sentence."""
        return f"{self.where}, {self.field}: recorded {self.recorded}, replayed {self.replayed}"


def first_difference(recorded: TraceFile, replayed: TraceFile) -> Difference | None:
    """Return the first record that differs, or None."""
    before, after = list(_comparable(recorded)), list(_comparable(replayed))
    for old, new in zip(before, after, strict=False):
        if type(old) is not type(new):
            return Difference(
                where=_where(old), field="record", recorded=_name(old), replayed=_where(new)
            )
        for field in COMPARED[type(old)]:
            left, right = _json(getattr(old, field)), _json(getattr(new, field))
            if left != right:
                shown = _around(left, right)
                return Difference(
                    where=_where(old), field=field, recorded=shown[0], replayed=shown[1]
                )
    if len(before) != len(after):
        longer = (before if len(before) > len(after) else after)[min(len(before), len(after))]
        there = len(before) > len(after)
        return Difference(
            where=_where(longer),
            field="record",
            recorded=_name(longer) if there else "nothing",
            replayed="nothing" if there else _where(longer),
        )
    return None


def _comparable(trace: TraceFile) -> Iterator[Record]:
    return (record for record in trace.records if type(record) in COMPARED)


def _json(value: object) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=False, default=_plain)


def _plain(value: object) -> Json:
    assert isinstance(value, Value)
    dumped: Json = value.model_dump(mode="json")
    return dumped


def _around(left: str, right: str, width: int = 60) -> tuple[str, str]:
    """Cut two long texts down to the place where they part."""
    same = next(
        (at for at, (a, b) in enumerate(zip(left, right, strict=False)) if a != b),
        min(len(left), len(right)),
    )
    start = max(0, same - width // 2)

    def cut(text: str) -> str:
        head = "..." if start else ""
        tail = "..." if len(text) > start + width else ""
        return f"{head}{text[start : start + width]}{tail}"

    return cut(left), cut(right)


def _name(record: Record) -> str:
    return record.type


def _where(record: Record) -> str:
    if isinstance(record, CallRecord):
        return f"call {record.n} (cell {record.cell}, {record.function})"
    if isinstance(record, ResultRecord):
        return f"result of call {record.n}"
    if isinstance(record, CellRecord | ObservationRecord):
        return f"{record.type} of cell {record.cell}"
    if isinstance(record, MessageRecord):
        return f"message of the {record.role}"
    if isinstance(record, InjectionRecord):
        return f"injection at {record.point}"
    return record.type
