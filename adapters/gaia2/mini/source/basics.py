"""What all parts of the small world share: its clock, its ids, its user."""

from __future__ import annotations

import hashlib
from datetime import UTC, datetime, timedelta
from typing import Any

State = dict[str, Any]

START = datetime(2024, 11, 5, 9, 0, tzinfo=UTC)
"""When every scenario begins: a Tuesday morning."""

USER_NAME = "Mira Falk"
USER_EMAIL = "mira.falk@postbox.example"
USER_PHONE = "+351910000001"


def ident(kind: str, name: str) -> str:
    """Return a stable id that looks like the engine's own (32 hexadecimal digits)."""
    return hashlib.sha256(f"{kind}:{name}".encode()).hexdigest()[:32]


def stamp(days: int = 0, hour: int = 9, minute: int = 0) -> float:
    """Return seconds since the epoch for a time of day, `days` after the first day."""
    day = START.replace(hour=0, minute=0) + timedelta(days=days)
    return (day + timedelta(hours=hour, minutes=minute)).timestamp()


def when(days: int = 0, hour: int = 9, minute: int = 0) -> str:
    """Return the same time in the engine's notation."""
    return datetime.fromtimestamp(stamp(days, hour, minute), UTC).strftime("%Y-%m-%d %H:%M:%S")
