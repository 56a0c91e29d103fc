"""Frees what file tools return of the host: where it keeps the files, whose they are, since when.

Agents see the files of a scenario, and the same in every run. Runs in ARE's interpreter.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

__all__ = ["Roots"]

OF_THE_SCENARIO = frozenset({"name", "size", "type", "islink"})
"""Keys of a file's `info` that say something about the file, not about the host's disk."""


class Roots:
    """The host's folders in which a scenario's file apps keep their files."""

    def __init__(self, apps: Iterable[Any]) -> None:
        found = {str(app.tmpdir) for app in apps if getattr(app, "tmpdir", None)}
        self._folders = sorted(found, key=len, reverse=True)

    def hidden(self, value: Any) -> Any:
        """Return plain data with paths as the scenario has them, from its own root."""
        if isinstance(value, str):
            for folder in self._folders:
                value = value.replace(f"{folder}/", "/").replace(folder, "/")
            return value
        if isinstance(value, list):
            return [self.hidden(item) for item in value]
        if isinstance(value, dict):
            kept = value.keys() & OF_THE_SCENARIO if {"ino", "mtime"} <= value.keys() else value
            return {name: self.hidden(item) for name, item in value.items() if name in kept}
        return value
