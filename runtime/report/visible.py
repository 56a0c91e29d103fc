"""Text of agents, models and worlds, as a terminal may show it."""

from __future__ import annotations

import re

from rich.text import Text

__all__ = ["as_it_is", "visible"]

STEERING = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)
"""Controls but tab and line feed, those that turn the direction of writing, and lone surrogates,
which cannot be written."""


def visible(text: str) -> str:
    """Spell out characters that would steer the terminal: agent code decides what is printed."""
    return STEERING.sub(_spelt_out, text.replace("\r\n", "\n"))


def as_it_is(text: str, style: str = "") -> Text:
    """Return text for a table or a title: a plain string would be read as rich's markup there."""
    return Text(visible(text), style=style)


def _spelt_out(found: re.Match[str]) -> str:
    code = ord(found.group())
    return f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}"
