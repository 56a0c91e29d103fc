"""Text of agents, models and worlds, as a terminal may show it."""

from __future__ import annotations

import re

__all__ = ["visible"]

STEERING = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")
"""Controls but tab and line feed, and those that turn the direction of writing."""


def visible(text: str) -> str:
    """Spell out characters that would steer the terminal: agent code decides what is printed."""
    return STEERING.sub(lambda found: f"\\x{ord(found.group()):02x}", text.replace("\r\n", "\n"))
