"""Short names for what is given by its path."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

__all__ = ["told_apart"]


def told_apart(paths: Sequence[str]) -> list[str]:
    """Return each path's last part, or as many of them as tell different paths apart."""
    parts = [Path(path).parts for path in paths]
    different = len(set(parts))
    names: list[str] = []
    for length in range(1, max(map(len, parts), default=0) + 1):
        names = ["-".join(each[-length:]) for each in parts]
        if len(set(names)) == different:
            break
    return names
