"""Card text is data: makes it one harmless line that carries no concrete value.

Whatever a card says, its text cannot open or close a fence, start a line, speak as another role or
carry an address, id, number or date into a prompt. Placeholders such as <PERSON> stay.
"""

from __future__ import annotations

import re
import unicodedata

__all__ = ["carries_value", "plain"]

_MONTH = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|june?|july?|aug(?:ust)?|"
    r"sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)"
)
_DAY = r"\d{1,2}(?:st|nd|rd|th)?"
_YEAR = r"(?:,? \d{4}\b)?"
_NUMBER_OF_DAY = r"(?:\d{4}|\d{1,3}(?:st|nd|rd|th)?)"
_AM_PM = r" ?(?:[ap]m\b|[ap]\.m\b\.?)"
_CURRENCY = r"(?:usd|eur|gbp|dollars?|euros?|pounds?|cents?)"
_NUMBERED = r"(?:id|user|account|order|transaction|invoice|ticket|booking|card)s?"


def _any_case(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


_VALUES = (
    ("<TEXT>", _any_case(r"\b(?:[a-z][a-z0-9+.-]{0,30}://|www\.)\S+")),
    ("<EMAIL>", re.compile(r"(?<![\w.+-])[\w.+-]+@[\w-]+(?:\.[\w-]+)*")),
    ("<ID>", re.compile(r"\beyJ[\w-]{6,}(?:\.[\w-]+)*")),
    ("<ID>", _any_case(r"\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b")),
    ("<DATE_OR_TIME>", re.compile(r"\b\d{4}-\d{1,2}(?:-\d{1,2})?(?!\d)(?:[T ]\d{1,2}:\d{2}\S*)?")),
    ("<DATE_OR_TIME>", re.compile(r"\b\d{1,2}[./]\d{1,2}[./]\d{2,4}\b")),
    ("<DATE_OR_TIME>", re.compile(r"\b\d{4}[./]\d{1,2}[./]\d{1,2}\b")),
    ("<DATE_OR_TIME>", _any_case(r"\b(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*,? \d{1,2}/\d{1,2}\b")),
    ("<DATE_OR_TIME>", re.compile(r"(?<![\d/])(?:0\d/\d{1,2}|\d{1,2}/0\d)(?![\d/])")),
    (
        "<DATE_OR_TIME>",
        _any_case(rf"\b(?:{_DAY} (?:of )?)?(?:{_MONTH}|may)\.? {_NUMBER_OF_DAY}\b{_YEAR}"),
    ),
    # "page 3 may be empty" is no date: without "of", this month needs its capital
    ("<DATE_OR_TIME>", _any_case(rf"\b{_DAY} (?:of )?(?:{_MONTH}|(?-i:May)|(?<=of )may)\b{_YEAR}")),
    ("<DATE_OR_TIME>", _any_case(rf"\b\d{{1,2}}:\d{{2}}(?::\d{{2}})?(?:{_AM_PM})?")),
    ("<DATE_OR_TIME>", _any_case(rf"\b\d{{1,2}}{_AM_PM}")),
    ("<AMOUNT>", re.compile(r"[$€£] ?\d[\d,.]*\d|[$€£] ?\d")),
    ("<AMOUNT>", _any_case(rf"(?<![\w,.])\d[\d,.]* ?{_CURRENCY}\b")),
    ("<PHONE>", re.compile(r"(?<![\w.])\+?\(?\d{2,4}\)?(?:[ .-]\(?\d{2,4}\)?){2,}(?!\w)")),
    ("<PHONE>", re.compile(r"(?<![\w.-])\d{3}-\d{4}(?![\w-])")),
    (r"\1<ID>", _any_case(rf"\b({_NUMBERED}[ :=#]{{1,3}})\d{{3,}}\b")),
    (r"\1<ID>", _any_case(r"\b(ids?[ :=#]{1,3})(?=[a-z]+\d|\d+[a-z])\w{4,}")),
    (r"\1<ID>", re.compile(r"(\b[A-Za-z_]+_|#)\d{3,}\b")),
    ("<ID>", re.compile(r"\b(?=[0-9a-z]*[a-z])(?=[0-9a-z]*\d)[0-9a-f]{7,}(?:_\d+)?\b")),
    ("<ID>", re.compile(r"\b[0-9a-f]{7}_\d{1,2}\b")),
    ("<ID>", re.compile(r"\d{5,}")),
)
_PLACEHOLDER = (
    "<(?:PERSON|EMAIL|PHONE|ID|PATH|DATE_OR_TIME|LOCATION|AMOUNT|TITLE_TEXT|PRODUCT_TEXT|TEXT)>"
)
_ROLES = (
    "system|user|assistant|developer|tool|function|human|ai|model|task|output|observation|"
    "instructions?|environment"
)
_KEY = rf"(?<=[\"'])(?:{_ROLES})[\"']"
_SPEAKS = _any_case(rf"(?<![a-z0-9])(?<![a-z0-9]_)(?!{_KEY})({_ROLES})([\W_]{{0,12}}):")
"""A role that opens a line of speech, in whatever markup ("system:", "**Task**:"), not a key."""
_FORMS = (
    (re.compile(r"`"), "'"),
    (re.compile(r"~{2,}"), "~"),
    (re.compile(r"'{3,}|\"{3,}"), "'"),
    (re.compile(r"<\|+|<{2,}"), "("),
    (re.compile(r"(?<!\|)\|+>|>{3,}"), ")"),
    (re.compile(r"\[{2,}"), "["),
    (re.compile(r"\]{2,}"), "]"),
    (_any_case(r"\[(\s*/?\s*(?:INST|SYS)\s*)\]"), r"(\1)"),
)
_ANGLE = re.compile(rf"{_PLACEHOLDER}|(?P<opens><(?=/?[A-Za-z|!?]))|[<>]")
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
    return _SPEAKS.sub(_said, _untagged(text))


def _untagged(text: str) -> str:
    """Put round brackets around each tag, inside of other tags too. Placeholders stay."""
    chars = list(text)
    open_: list[int] = []
    for angle in _ANGLE.finditer(text):
        if angle["opens"]:
            open_.append(angle.start())
        elif angle[0] != ">":
            open_.clear()  # what stays an angle is inside of no tag
        elif open_:
            chars[open_.pop()], chars[angle.start()] = "()"
    return "".join(chars)


def _said(role: re.Match[str]) -> str:
    markup = role[2].replace(":", "").rstrip()
    return f"{role[1]}{markup} -"
