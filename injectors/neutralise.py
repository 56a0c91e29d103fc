"""Card text is data: makes it one harmless line that carries no concrete value.

Whatever a card says, its text cannot open or close a fence, start a line, speak as another role or
carry an address, id, number or date into a prompt. Placeholders such as <PERSON> stay.
"""

from __future__ import annotations

import re
import unicodedata

__all__ = ["carries_value", "plain"]

_VALUES = (
    ("<TEXT>", re.compile(r"\b[a-z][a-z0-9+.-]*://\S+", re.IGNORECASE)),
    ("<EMAIL>", re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+")),
    ("<ID>", re.compile(r"\beyJ[\w-]{6,}(?:\.[\w-]+)*")),
    ("<ID>", re.compile(r"\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b", re.IGNORECASE)),
    ("<DATE_OR_TIME>", re.compile(r"\b\d{4}-\d{1,2}(?:-\d{1,2})?(?:[T ]\d{1,2}:\d{2}\S*)?")),
    ("<DATE_OR_TIME>", re.compile(r"\b\d{1,2}[./]\d{1,2}[./]\d{2,4}\b")),
    (
        "<DATE_OR_TIME>",
        re.compile(
            r"\b(?:\d{1,2}(?:st|nd|rd|th)? )?(?:january|february|march|april|may|june|july|august|"
            r"september|october|november|december) \d{1,4}(?:st|nd|rd|th)?\b(?:,? \d{4}\b)?",
            re.IGNORECASE,
        ),
    ),
    (
        "<DATE_OR_TIME>",
        re.compile(r"\b\d{1,2}:\d{2}(?::\d{2})?(?: ?[ap]\.?m\b\.?)?", re.IGNORECASE),
    ),
    ("<AMOUNT>", re.compile(r"[$€£] ?\d[\d,.]*\d|[$€£] ?\d")),
    ("<PHONE>", re.compile(r"(?<![\w.])\+?\(?\d{2,4}\)?(?:[ .-]\(?\d{2,4}\)?){2,}(?!\w)")),
    ("<ID>", re.compile(r"\b(?=[0-9a-z]*[a-z])(?=[0-9a-z]*\d)[0-9a-f]{7,}(?:_\d+)?\b")),
    ("<ID>", re.compile(r"\d{5,}")),
)
_PLACEHOLDER = r"<[A-Z][A-Z_]*>"
_ROLES = (
    "system|user|assistant|developer|tool|function|human|ai|model|task|output|observation|"
    "instructions?|environment"
)
_FORMS = (
    (re.compile(r"`"), "'"),
    (re.compile(r"~{2,}"), "~"),
    (re.compile(r"'{3,}|\"{3,}"), "'"),
    (re.compile(r"<\|+|<{2,}"), "("),
    (re.compile(r"\|+>|>{3,}"), ")"),
    (re.compile(r"\[{2,}"), "["),
    (re.compile(r"\]{2,}"), "]"),
    (re.compile(r"\[(\s*/?\s*(?:INST|SYS)\s*)\]", re.IGNORECASE), r"(\1)"),
    (re.compile(rf"(?!{_PLACEHOLDER})<(/?[A-Za-z|!?][^<>]*)>"), r"(\1)"),
    (re.compile(rf"\b({_ROLES})\s*:", re.IGNORECASE), r"\1 -"),
)
_BREAKS = {"Cc", "Zl", "Zp", "Zs"}
_HIDDEN = {"Cf", "Cs", "Co", "Cn"}


def plain(text: str) -> str:
    """Return `text` as one line of data. Applying it again changes nothing."""
    while (neutral := _pass(text)) != text:  # taking one thing out may bring another together
        text = neutral
    return neutral


def carries_value(text: str) -> bool:
    """Say whether a text holds a concrete value that would be replaced."""
    return any(pattern.search(text) for _, pattern in _VALUES)


def _visible(char: str) -> str:
    """Blanks for line breaks and controls; nothing for marks that hide in a word."""
    category = unicodedata.category(char)
    if category in _BREAKS:
        return " "
    return "" if category in _HIDDEN else char


def _pass(text: str) -> str:
    text = unicodedata.normalize("NFKC", "".join(map(_visible, text)))
    text = " ".join(text.split())
    for placeholder, pattern in _VALUES:
        text = pattern.sub(placeholder, text)
    for pattern, harmless in _FORMS:
        text = pattern.sub(harmless, text)
    return text
