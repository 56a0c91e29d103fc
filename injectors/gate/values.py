"""Reads addresses, numbers, dates and id-like words out of texts, in one comparable form each.

Two spellings of one value must compare equal: "Bob@X.com" and "bob@x.com", 5 and "5", "+1 555-0100"
and "15550100", "$1,200" and 1200.0, an epoch second and its ISO day.
"""

from __future__ import annotations

import re
from datetime import UTC, date, datetime

from runtime.contracts import Json

__all__ = [
    "address_key",
    "as_moment",
    "dates_in",
    "day_of",
    "emails_in",
    "flat_texts",
    "is_address",
    "month_days_in",
    "number_of",
    "numbers_in",
    "phone_key",
    "relative_dates_in",
    "scalar_key",
    "words_with_digits",
]

EMAIL = re.compile(r"(?<![\w.+-])[\w.+-]+@[\w-]+(?:\.[\w-]+)+")
_NUMBER = re.compile(r"(?<![\w.])\d{1,3}(?:,\d{3})+(?:\.\d+)?|(?<![\w.])\d+(?:\.\d+)?")
_ISO_DAY = re.compile(r"(?<!\d)(\d{4})-(\d{1,2})-(\d{1,2})(?!\d)")
_CODE = re.compile(r"(?<![A-Za-z0-9_-])[A-Za-z_-]*\d[A-Za-z0-9_-]*")
_MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
_MONTH = rf"(?P<month>{'|'.join(_MONTHS)})[a-z]*\.?"
_DAY = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?"
_MONTH_DAY = re.compile(rf"\b{_MONTH}\s+{_DAY}\b", re.IGNORECASE)
_DAY_MONTH = re.compile(rf"\b{_DAY}\s+(?:of\s+)?{_MONTH}", re.IGNORECASE)
_SLASHED = re.compile(r"(?<![\d/])(\d{1,2})/(\d{1,2})(?![\d])")
_RELATIVE = re.compile(
    r"\b(today|tonight|tomorrow|yesterday|now|(next|this|last|coming|following) \w+|"
    r"(mon|tues|wednes|thurs|fri|satur|sun)days?|in \w+ (days?|weeks?|months?|hours?|minutes?)|"
    r"\w+ (days?|weeks?|months?|hours?) (later|before|after|from)|end of|daily|weekly|every)\b",
    re.IGNORECASE,
)
_SPELLED: dict[str, float] = {
    "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8,
    "nine": 9, "ten": 10, "twelve": 12, "fifteen": 15, "twenty": 20, "thirty": 30, "forty": 40,
    "fifty": 50, "hundred": 100,
}  # fmt: skip
_WORD = re.compile(r"[a-z]+")
_EPOCH = (946_684_800, 4_102_444_800)
"""Seconds from the year 2000 to 2100: a number in between may be a moment."""


def scalar_key(value: Json) -> str:
    """Return the form under which ids are compared: 5, 5.0 and "5" are one."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return str(value).strip().casefold()


def address_key(text: str) -> str:
    """Return the comparable form of an email address or phone number."""
    return text.strip().casefold() if "@" in text else phone_key(text)


def phone_key(text: str) -> str:
    """Return a phone number's last ten digits: country codes and signs differ by source."""
    return re.sub(r"\D", "", text)[-10:]


def is_address(text: str) -> bool:
    """Say whether a whole text is one email address."""
    return EMAIL.fullmatch(text.strip()) is not None


def emails_in(text: str) -> set[str]:
    """Return the email addresses of a text."""
    return {match.casefold().rstrip(".") for match in EMAIL.findall(text)} if "@" in text else set()


def words_with_digits(text: str) -> set[str]:
    """Return what may be an id or a phone number in a text."""
    return {match.casefold().strip("-") for match in _CODE.findall(text)}


def numbers_in(text: str) -> set[float]:
    """Return the numbers of a text, small ones in words too."""
    found = {float(match.replace(",", "")) for match in _NUMBER.findall(text) if len(match) < 40}
    spelled = {_SPELLED[word] for word in _WORD.findall(text.lower()) if word in _SPELLED}
    return found | spelled


def number_of(value: Json) -> float | None:
    """Return a scalar as a number, if it is one."""
    if isinstance(value, bool) or value is None:
        return None
    try:
        return round(float(value), 2) if isinstance(value, int | float | str) else None
    except (ValueError, OverflowError):
        return None


def dates_in(text: str) -> set[date]:
    """Return the ISO days of a text."""
    days = (_day(int(y), int(m), int(d)) for y, m, d in _ISO_DAY.findall(text))
    return {day for day in days if day}


def month_days_in(text: str) -> set[tuple[int, int]]:
    """Return days that a text names without a year, as (month, day): "May 3rd", "3 May", "5/3"."""
    found = set()
    for pattern in (_MONTH_DAY, _DAY_MONTH):
        for match in pattern.finditer(text):
            month = _MONTHS.index(match["month"].lower()) + 1
            found.add((month, int(match["day"])))
    for first, second in _SLASHED.findall(text):
        found |= {(int(first), int(second)), (int(second), int(first))}
    return found


def relative_dates_in(text: str) -> bool:
    """Say whether a text speaks of days by their distance ("tomorrow", "next Friday")."""
    return _RELATIVE.search(text) is not None


def day_of(value: Json) -> date | None:
    """Return the day that a scalar stands for: ISO text, or epoch seconds."""
    moment = as_moment(value)
    return moment.date() if moment else None


def as_moment(value: Json) -> datetime | None:
    """Return the moment that a scalar stands for, in UTC; without a time of day, midnight."""
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, int | float):
        within = _EPOCH[0] <= value <= _EPOCH[1]
        return datetime.fromtimestamp(value, UTC) if within else None
    if not isinstance(value, str) or not _ISO_DAY.match(value.strip()):
        return None
    try:
        moment = datetime.fromisoformat(value.strip())
    except ValueError:
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def flat_texts(value: Json) -> list[str]:
    """Return the texts of an argument: itself, or a list's items."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, list):
        return [item for item in value if isinstance(item, str)]
    return []


def _day(year: int, month: int, day: int) -> date | None:
    try:
        return date(year, month, day)
    except ValueError:
        return None
