"""Cuts a text to what it may cost where tokens are counted."""

from __future__ import annotations

import json

__all__ = ["short"]


def short(text: str, longest: int) -> str:
    """Return a text of at most `longest` bytes, counted as they stand in JSON.

    Each token is at least one byte, so that this bounds tokens too: 40 characters of a rare script
    or 40 control characters, which JSON spells out, would cost many times what 40 letters do.
    """
    left, whole = longest, True
    kept = 0
    for position, character in enumerate(text):
        left -= len(json.dumps(character, ensure_ascii=False).encode("utf-8", "replace")) - 2
        if left < 0:
            whole = False
            break
        if left >= len("..."):
            kept = position + 1
    return text if whole else f"{text[:kept]}..."
