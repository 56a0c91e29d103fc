"""The one exception tree. Each message names the thing and the next step.

ContramemError
├── UsageError              exit code 2: the caller can mend it
│   ├── UnknownName         with the nearest names
│   ├── BadFile             with path and, where known, line
│   └── RunMismatch         a run folder of another configuration
├── NotReady                exit code 3: something is not set up; says which command mends it
├── BudgetSpent             exit code 4
└── EpisodeError            exit code 1: ends one episode as `errored`
    ├── WorldError          a world process failed or fell silent
    ├── TraceError          a trace could not be written
    └── ModelError          the model's side failed for good
        ├── ContextOverflow the one that counts as a limit, not as an error
        ├── RecordingEnds   the recording ends here, by a limit: counts as that limit
        └── RecordingMiss   strict playback found no recorded reply
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from pathlib import Path
from typing import Literal


class ContramemError(Exception):
    """Base of all errors that carry a sentence for the user."""

    exit_code = 1


class UsageError(ContramemError):
    """Wrong usage or input."""

    exit_code = 2


class UnknownName(UsageError):
    """A name that nothing answers to."""

    def __init__(self, what: str, name: str, known: Iterable[str], hint: str = "") -> None:
        names = sorted(known)
        near = difflib.get_close_matches(name, names, n=3, cutoff=0.4)
        offer = f" Nearest: {', '.join(near)}." if near else ""
        if not near and names:
            more = f" and {len(names) - 8} more" if len(names) > 8 else ""
            offer = f" Known: {', '.join(names[:8])}{more}."
        super().__init__(f"There is no {what} named {name!r}.{offer}{' ' + hint if hint else ''}")


class BadFile(UsageError):
    """A file that does not hold what it should."""

    def __init__(self, path: Path | str, problem: str, line: int | None = None) -> None:
        where = f"{path}, line {line}" if line is not None else f"{path}"
        super().__init__(f"{where}: {problem}")


class RunMismatch(UsageError):
    """A run folder that belongs to another configuration."""


class NotReady(ContramemError):
    """Something has to be set up first."""

    exit_code = 3


class BudgetSpent(ContramemError):
    """The run's budget ended before its episodes did."""

    exit_code = 4


class EpisodeError(ContramemError):
    """Ends one episode as `errored`: infrastructure, never the agent's fault."""


class WorldError(EpisodeError):
    """A world process failed or fell silent."""


class TraceError(EpisodeError):
    """A trace could not be written."""


class ModelError(EpisodeError):
    """The model's side failed for good, retries included."""


class ContextOverflow(ModelError):
    """The conversation no longer fits the model. Counts as `limit: context`."""


class RecordingEnds(ModelError):
    """The recorded episode ended here by a limit. Counts as that limit."""

    def __init__(self, limit: Literal["steps", "wall", "tokens", "cost", "context"]) -> None:
        super().__init__(f"The recording ends here (limit: {limit}).")
        self.limit = limit


class RecordingMiss(ModelError):
    """Strict playback has no recorded reply here."""
