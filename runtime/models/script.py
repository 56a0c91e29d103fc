"""The file format of scripted models: Markdown with one `## turn` heading a reply.

docs/models.md describes it with an example.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from runtime.errors import BadFile

__all__ = ["Turn", "read_turns"]

_LIKE_A_HEADING = re.compile(r"## turn\b", re.IGNORECASE)
_HEADING = re.compile(r"## turn(?:[ \t]+when:[ \t]*(?P<pattern>\S.*?))?[ \t]*")
_FENCE = re.compile(r" {0,3}(?P<marks>`{3,}|~{3,})(?P<info>.*)")


@dataclass(frozen=True)
class Turn:
    """One reply, and the pattern that the last user message has to match, if any."""

    text: str
    when: re.Pattern[str] | None = None

    def suits(self, observation: str) -> bool:
        """Whether this turn may answer `observation`."""
        return self.when is None or self.when.search(observation) is not None


def read_turns(path: Path) -> tuple[Turn, ...]:
    """Read a script. Raises `BadFile` with the line. Text before the first turn is a comment."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise BadFile(path, f"cannot be read: {reason}") from error
    headings = list(_headings(lines))
    if not headings:
        raise BadFile(path, "has no turn: each reply begins with a line `## turn`")
    ends = [*headings[1:], len(lines)]
    return tuple(_turn(path, lines, *span) for span in zip(headings, ends, strict=True))


def _headings(lines: list[str]) -> Iterator[int]:
    """Yield the index of each heading; one inside a code fence belongs to the reply."""
    fence = ""
    for index, line in enumerate(lines):
        marks = _FENCE.fullmatch(line)
        if fence:
            closes = marks and marks["marks"].startswith(fence) and not marks["info"].strip()
            fence = "" if closes else fence
        elif marks:
            fence = marks["marks"]
        elif _LIKE_A_HEADING.match(line):
            yield index


def _turn(path: Path, lines: list[str], start: int, end: int) -> Turn:
    heading = _HEADING.fullmatch(lines[start])
    if heading is None:
        raise BadFile(path, "a turn begins with `## turn` or `## turn when: REGEX`", start + 1)
    pattern = heading["pattern"]
    try:
        when = re.compile(pattern, re.DOTALL | re.MULTILINE) if pattern else None
    except re.error as error:
        raise BadFile(path, f"not a regular expression: {error}", start + 1) from error
    return Turn(text="\n".join(lines[start + 1 : end]).strip(), when=when)
