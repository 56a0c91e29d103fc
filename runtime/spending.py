"""What a run has spent on attempts that later ones replaced. A budget counts it, no result does.

RUN/spent.jsonl     {"id": "1f", "episode": "arm/task", "usd": 0.12} a line and attempt
"""

from __future__ import annotations

import uuid
from collections.abc import Collection
from pathlib import Path

from pydantic import Field, ValidationError

from runtime.contracts import Value
from runtime.errors import BadFile, TraceError
from runtime.records import ModelCallRecord
from runtime.trace import read_trace

__all__ = ["SPENT", "Spending", "cost_of_prefix"]

SPENT = "spent.jsonl"


class Spent(Value):
    """One line."""

    id: str
    """Tells lines of several folders apart when they are joined."""
    episode: str
    usd: float = Field(ge=0)


class Spending:
    """The account of one run folder. Several processes may write to it, a line at a time."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / SPENT

    def total_usd(self, episodes: Collection[str]) -> float:
        """Return what attempts at these episodes have cost; 0 without an account.

        Raises `BadFile`.
        """
        return sum(line.usd for line in self._lines() if line.episode in episodes)

    def note(self, episode: str, usd: float) -> None:
        """Add a replaced attempt. Raises `TraceError` if it cannot be written."""
        if usd:
            self._append(Spent(id=uuid.uuid4().hex, episode=episode, usd=usd))

    def join(self, other: Spending) -> None:
        """Add what is noted in another folder of the run, once. Raises `BadFile`, `TraceError`."""
        known = {line.id for line in self._lines()}
        for line in other._lines():
            if line.id not in known:
                self._append(line)

    def _append(self, spent: Spent) -> None:
        line = spent.model_dump_json() + "\n"
        try:
            with self._path.open("a", encoding="utf-8") as file:
                file.write(line)
        except OSError as error:
            raise TraceError(
                f"Cannot write to {self._path}: {error.strerror}. Free space, then run the same"
                " command again."
            ) from None

    def _lines(self) -> list[Spent]:
        try:
            lines = self._path.read_bytes().splitlines(keepends=True)
        except FileNotFoundError:
            return []
        except OSError as error:
            raise BadFile(self._path, f"cannot be read ({error.strerror})") from None
        return [self._read(number, line) for number, line in enumerate(lines, start=1)]

    def _read(self, number: int, line: bytes) -> Spent:
        try:
            return Spent.model_validate_json(line)
        except ValidationError:
            raise BadFile(
                self._path,
                'is no line such as {"id": "1f", "episode": "arm/task", "usd": 0.12}. Mend or'
                " delete it: the budget then counts without it.",
                number,
            ) from None


def cost_of_prefix(part: Path) -> float:
    """Return what the completions in a killed episode's trace have cost, in US dollars."""
    try:
        records = read_trace(part, complete=False).records
    except BadFile:  # not there, or killed before its first line was whole
        return 0.0
    return sum(record.cost_usd or 0.0 for record in records if isinstance(record, ModelCallRecord))
