"""Where a benchmark's data lies: a folder the user named, the official data, our mini world."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from adapters.folders import home

__all__ = ["Root", "recorded", "remember"]


@dataclass(frozen=True)
class Root:
    """A folder of data and how it came here."""

    name: str
    """`path` (the user's own), `official` or `mini`: also the order in which they are searched."""
    path: Path


def remember(world: str, path: Path) -> None:
    """Note the folder of data that the user named for a benchmark."""
    note = _note(world)
    draft = note.with_suffix(".partial")
    draft.write_text(json.dumps({"path": str(path)}), encoding="utf-8")
    draft.replace(note)


def recorded(world: str) -> Path | None:
    """Return the folder that `remember` noted, or None. It may be gone by now."""
    try:
        note = json.loads(_note(world).read_text(encoding="utf-8"))
        return Path(note["path"])
    except (OSError, ValueError, KeyError, TypeError):
        return None  # never noted, or damaged: the same command notes it again


def _note(world: str) -> Path:
    return home() / f"{world}.json"
