"""Names that are broken after a hyphen, an underscore or the like, and only where they have to."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from rich.console import Console, ConsoleOptions
from rich.measure import Measurement
from rich.text import Text

from runtime.report.visible import visible

__all__ = ["Breakable"]

PART = re.compile(r"[^-_/@ ]*[-_/@ ]|[^-_/@ ]+")


@dataclass(frozen=True)
class Breakable:
    """A name in a cell of a table, or several in a line each."""

    text: str

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        """Return the widths from the longest part to the longest line."""
        lines = visible(self.text).splitlines()
        parts = [len(part) for line in lines for part in PART.findall(line)]
        whole = Measurement(max(parts, default=0), max(map(len, lines), default=0))
        return whole.with_maximum(options.max_width)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Text]:
        """Write each line as it is if it fits, else in as few as do."""
        lines = [
            part
            for line in visible(self.text).splitlines()
            for part in _broken(line, options.max_width)
        ]
        yield Text("\n".join(lines), overflow="fold", justify=options.justify)


def _broken(line: str, width: int) -> list[str]:
    lines = [""]
    for part in PART.findall(line):
        if lines[-1] and len(lines[-1]) + len(part.rstrip()) > width:
            lines.append("")
        lines[-1] += part
    return lines
