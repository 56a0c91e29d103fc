"""What an import gave, and what it could not read."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from runtime.errors import BadFile

__all__ = ["ImportReport"]


@dataclass(frozen=True)
class ImportReport:
    """The traces that were written, and one error for each thing that had to be left out.

    A trace with a problem is kept as far as it could be read: it holds the problem as an `error`
    record.
    """

    traces: tuple[Path, ...]
    problems: tuple[BadFile, ...] = ()
