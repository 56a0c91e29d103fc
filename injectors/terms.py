"""From text to the terms that retrieval compares."""

from __future__ import annotations

import re

__all__ = ["terms"]

_WORD = re.compile(r"[^\W\d_]+|\d+")
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_EMPTY = frozenset(
    """
    a about after all also am an and any are as at be been before but by can could did do does
    each for from give had has have he her him his how i if in into is it its just like me my need
    no not of on one only or other our out please s she should so some t tell than that the their
    them then there these they this to up us using want was we were what when where which while
    who whom whose will with would you your
    """.split()  # noqa: SIM905 - a paragraph reads better than ninety quoted words
)
"""Words too common to say what a task is about. A card must share another one to be selected."""


def terms(text: str) -> tuple[str, ...]:
    """Return a text's terms in order: lower case, names split, plurals folded, no empty words."""
    words = _WORD.findall(_HUMP.sub(" ", text).lower())
    return tuple(_singular(word) for word in words if word not in _EMPTY)


def _singular(word: str) -> str:
    """Fold a plural: the "S stemmer" of Harman, "How effective is suffixing?", JASIS 1991."""
    if len(word) > 4 and word.endswith("ies") and not word.endswith(("eies", "aies")):
        return word[:-3] + "y"
    if len(word) > 3 and word.endswith("es") and not word.endswith(("aes", "ees", "oes")):
        return word[:-1]
    if len(word) > 3 and word.endswith("s") and not word.endswith(("us", "ss")):
        return word[:-1]
    return word
