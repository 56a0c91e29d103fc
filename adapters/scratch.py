"""A folder for what nobody asked to keep, removed when its owner closes.

The owner's process id is part of the name: what a killed process left is removed by the next one.
"""

from __future__ import annotations

import os
import shutil
import uuid
from pathlib import Path

__all__ = ["Scratch"]


class Scratch:
    """One scratch folder below `parent`, made on first use."""

    def __init__(self, parent: Path) -> None:
        self._parent = parent / "outputs"
        self._folder: Path | None = None

    def make(self) -> Path:
        """Return the folder."""
        if self._folder is None:
            self._remove_orphans()
            self._folder = self._parent / f"{os.getpid()}-{uuid.uuid4().hex[:8]}"
            self._folder.mkdir(parents=True)
        return self._folder

    def remove(self) -> None:
        """Remove the folder and what is in it."""
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)
            self._folder = None

    def _remove_orphans(self) -> None:
        for folder in self._parent.glob("*-*"):
            owner = folder.name.partition("-")[0]
            if owner.isdigit() and not _alive(int(owner)):
                shutil.rmtree(folder, ignore_errors=True)


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
