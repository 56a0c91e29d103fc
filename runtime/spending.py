"""What a run has spent on attempts that later ones replaced. A budget counts it, no result does.

RUN/spent.jsonl     {"episode": "arm/task", "usd": 0.12} a line, one per replaced attempt
"""

from __future__ import annotations

import json
from pathlib import Path

from pydantic import Field, ValidationError

from runtime.contracts import Value
from runtime.errors import BadFile, TraceError
from runtime.records import ModelCallRecord
from runtime.trace import read_trace

__all__ = ["Spending", "cost_of_prefix"]

FILE = "spent.jsonl"


class Spent(Value):
    """One line."""

    episode: str
    usd: float = Field(ge=0)


class Spending:
    """The account of one run folder. Several processes may write to it, a line at a time."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / FILE

    def total_usd(self) -> float:
        """Return the sum, 0 where there is no account yet. Raises `BadFile`."""
        try:
            lines = self._path.read_bytes().splitlines(keepends=True)
        except FileNotFoundError:
            return 0.0
        except OSError as error:
            raise BadFile(self._path, f"cannot be read ({error.strerror})") from None
        return sum(self._read(number, line).usd for number, line in enumerate(lines, start=1))

    def note(self, episode: str, usd: float) -> None:
        """Add a replaced attempt. Raises `TraceError` if it cannot be written."""
        if not usd:
            return
        line = json.dumps({"episode": episode, "usd": usd}) + "\n"
        try:
            with self._path.open("a", encoding="utf-8") as file:
                file.write(line)
        except OSError as error:
            raise TraceError(
                f"Cannot write to {self._path}: {error.strerror}. Free space, then run the same"
                " command again."
            ) from None

    def _read(self, number: int, line: bytes) -> Spent:
        try:
            return Spent.model_validate_json(line)
        except ValidationError:
            raise BadFile(
                self._path,
                'is no line such as {"episode": "arm/task", "usd": 0.12}. Mend or delete it: the'
                " budget then counts without it.",
                number,
            ) from None


def cost_of_prefix(part: Path) -> float:
    """Return what the completions in a killed episode's trace have cost, in US dollars."""
    try:
        records = read_trace(part, complete=False).records
    except BadFile:  # not there, or killed before its first line was whole
        return 0.0
    return sum(record.cost_usd or 0.0 for record in records if isinstance(record, ModelCallRecord))
