"""Calls and ledgers as an agent may see them: live values, but no password and no token."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from injectors.gate.record import Write
from runtime.contracts import Json, ToolCall
from runtime.masking import SECRET_FIELD, SHAPES

__all__ = ["command", "ledger_rows", "masked"]

MASK = "<masked>"
"""Not the trace's numbered mask: a trace must not take it for one of its own."""
_LONGEST_VALUE = 2_000
_LONGEST_COMMAND = 240
_LONGEST_ROW = 120


def masked(arguments: Mapping[str, Json]) -> dict[str, Json]:
    """Return arguments without secrets, and without what no advisory has room for."""
    return {name: _mask(value, name) for name, value in arguments.items()}


def command(call: ToolCall, longest: int = _LONGEST_COMMAND) -> str:
    """Return a call as one line of code."""
    parts = (
        f"{name}={json.dumps(value, ensure_ascii=False)}"
        for name, value in masked(call.arguments).items()
    )
    return _short(f"{call.function}({', '.join(parts)})", longest)


def ledger_rows(writes: Sequence[Write]) -> list[Json]:
    """Return a ledger in order: each write with its outcome."""
    return [
        {"call": command(write.call, _LONGEST_ROW), "outcome": write.outcome} for write in writes
    ]


def _mask(value: Json, field: str) -> Json:
    if SECRET_FIELD.search(field) and not isinstance(value, bool) and value is not None:
        return MASK
    if isinstance(value, dict):
        return {name: _mask(item, name) for name, item in value.items()}
    if isinstance(value, list):
        return [_mask(item, field) for item in value]
    return SHAPES.sub(MASK, _short(value, _LONGEST_VALUE)) if isinstance(value, str) else value


def _short(text: str, longest: int) -> str:
    return text if len(text) <= longest else f"{text[: longest - 3]}..."
