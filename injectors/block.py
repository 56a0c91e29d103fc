"""Fits cards into a token budget, in a fixed order of what goes first.

A block is a frame (heading, rules) around sections; a section is one card. Over a cap, optional
lines go by kind, from the end of the block; then whole cards, the lowest rank first.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from injectors.tokens import count_tokens

__all__ = ["DROP_ORDER", "Line", "Section", "fit", "shortened"]

CORE = "core"
DROP_ORDER = ("idiom", "procedure", "functions", "recovery", "success", "pitfall")
"""Kinds of line in the order in which they go. Lines of another kind go with their card only."""


@dataclass(frozen=True)
class Line:
    """One line of a section."""

    kind: str
    text: str


@dataclass(frozen=True)
class Section:
    """What a block says of one card."""

    card_id: str
    rank: int
    """From 1 within the card's own kind; skills and functions are ranked apart."""
    lines: tuple[Line, ...]

    @property
    def text(self) -> str:
        """The lines as they stand in the block."""
        return "\n".join(line.text for line in self.lines)


def shortened(section: Section, cap: int) -> Section | None:
    """Return the section within `cap` tokens, or None if its core alone is over it."""
    for kind in ("", *DROP_ORDER):
        section = _without(section, kind)
        if count_tokens(section.text) <= cap:
            return section
    return None


def fit(
    sections: Sequence[Section], write: Callable[[Sequence[Section]], str], cap: int
) -> tuple[str, tuple[Section, ...]]:
    """Return the block of as much as fits, and the sections that are in it.

    `write` makes the whole text of some sections. With no section left the text is empty.
    """
    kept = list(sections)
    while kept:
        text = write(kept)
        if count_tokens(text) <= cap:
            return text, tuple(kept)
        if not _drop_line(kept):
            lowest = max(range(len(kept)), key=lambda n: (kept[n].rank, n))
            del kept[lowest]
    return "", ()


def _drop_line(sections: list[Section]) -> bool:
    """Take the next optional line away, from the end of the block; say whether there was one."""
    for kind in DROP_ORDER:
        for n in reversed(range(len(sections))):
            if any(line.kind == kind for line in sections[n].lines):
                sections[n] = _without(sections[n], kind)
                return True
    return False


def _without(section: Section, kind: str) -> Section:
    return replace(section, lines=tuple(line for line in section.lines if line.kind != kind))
