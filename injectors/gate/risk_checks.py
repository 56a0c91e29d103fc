"""The check behind each risk: one small function a risk, from a situation to a sentence or None."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import timedelta

from injectors.gate.shorten import short
from injectors.gate.situation import Situation
from injectors.gate.values import address_key, as_moment, flat_texts, is_address, number_of
from runtime.contracts import Json

_ID = re.compile(r"(^|_)ids?$")
_PHONE = re.compile(r"(^|_)phone(_number)?s?$")
_RECIPIENT = re.compile(r"email|phone|recipient|receiver|attendee|(^|_)(to|cc|bcc|user_id)$")
_AMOUNT = re.compile(r"(^|_)(amounts?|price|tip|cost|sum|fee)$")
_DAY = re.compile(r"date|time|deadline|(^|_)(due|at|on|day|until)$")
_AHEAD = re.compile(
    r"^(start|due|ride|pickup|reminder|remind|alarm|scheduled?|appointment|booking)"
)
_LONGEST = 60
"""Bytes of a value inside a sentence."""
_TOLERANCE = timedelta(minutes=1)
"""A write takes a moment: what starts now is not in the past."""


def id_never_observed(s: Situation) -> str | None:
    """An id that neither the task nor any answer has shown."""
    if s.observed.saturated or s.finishing:
        return None
    for name, value in _each(s, _ID):
        known = s.observed.has_id(value) or s.observed.has_address(str(value))
        if not isinstance(value, bool) and not known:
            return f"{_told(name, value)} was seen neither in the task nor in any output so far."
    return None


def address_never_observed(s: Situation) -> str | None:
    """An email address or phone number that neither the task nor any answer has shown."""
    if s.observed.saturated or s.finishing:
        return None
    for name, text in _addresses(s):
        if not s.observed.has_address(text):
            return f"{_told(name, text)} was seen neither in the task nor in any output so far."
    return None


def identical_write_already_executed(s: Situation) -> str | None:
    """An equal write that an earlier cell made; without arguments ("next song") it says little."""
    earlier = s.history.earlier_equal(s.key)
    if s.finishing or not earlier or s.key.arguments == "{}":
        return None
    last = earlier[-1]
    where = f"in cell {last.call.cell}" if last.call.cell else f"as call {last.call.n}"
    if last.outcome == "unknown":
        return (
            f"An identical write was sent {where}, and its outcome is unknown: read it back first."
        )
    return f"An identical write was already executed {where}; sending it again would double it."


def completing_after_failed_write(s: Situation) -> str | None:
    """Closing the task although a write failed and nothing made it good."""
    failed = s.history.failed() if s.finishing else ()
    if not failed:
        return None
    count = f" and {len(failed) - 1} more" if len(failed) > 1 else ""
    return f"{failed[-1].call.function}{count} failed and was not made good: the task may be open."


def date_in_the_past(s: Situation) -> str | None:
    """A moment ahead of which something is to happen lies behind the world's clock."""
    now = s.now
    if now is None or s.finishing:
        return None
    for name, value in _each(s, _AHEAD):
        moment = as_moment(value) if _DAY.search(name) else None
        if moment is None:
            continue
        whole_day = isinstance(value, str) and len(value.strip()) <= 10
        past = moment.date() < now.date() if whole_day else moment < now - _TOLERANCE
        if past:
            return f"{_told(name, value)} is in the past: the clock says {now:%Y-%m-%d %H:%M}."
    return None


def recipient_name_ambiguous(s: Situation) -> str | None:
    """The task's name for the recipient fits several persons that were seen."""
    for name, value in _each(s, _RECIPIENT):
        rivals = s.observed.people.namesakes(address_key(str(value)), s.task_text)
        if rivals:
            names = ", ".join(short(rival, _LONGEST) for rival in rivals[:3])
            return f"The name behind {_told(name, value)} also fits {names}."
    return None


def amount_not_observed(s: Situation) -> str | None:
    """An amount that stands in neither task nor output; a sum or a share must be checked."""
    for name, value in _each(s, _AMOUNT):
        number = number_of(value)
        if number and not s.observed.saturated and not s.observed.has_number(number):
            return f"{_told(name, value)} stands in neither task nor output: check its origin."
    return None


def date_not_observed(s: Situation) -> str | None:
    """A day that stands in neither task nor output."""
    for name, value in _each(s, _DAY):
        moment = as_moment(value) if isinstance(value, str) else None
        if moment is None or s.observed.saturated or (s.now and moment.date() == s.now.date()):
            continue
        if not s.observed.has_day(moment.date()):
            return f"{_told(name, value)} stands in neither task nor output."
    return None


def first_page_only(s: Situation) -> str | None:
    """Several targets, taken from a listing of which only a full first page was read."""
    values = [value for _, value in _each(s, _ID)] + [text for _, text in _addresses(s)]
    if not s.looped and len(values) < 3:
        return None
    for value in values:
        listing = s.observed.pages.cut_listing_of(value)
        if listing:
            return f"The targets come from the full first page of {listing}; no next page was read."
    return None


def calendar_overlap(s: Situation) -> str | None:
    """An event that overlaps a known one."""
    overlaps = s.observed.contexts.overlaps(s.call)
    if not overlaps:
        return None
    title, start, end = short(overlaps[0].title, _LONGEST), overlaps[0].start, overlaps[0].end
    return f"It overlaps {title} ({start:%Y-%m-%d %H:%M} to {end:%H:%M})."


def variant_not_stated(s: Situation) -> str | None:
    """One of several variants, chosen by an option that the task does not state."""
    variant = s.observed.contexts.variant(s.call)
    if variant is None or len(variant.siblings) < 2:
        return None
    for name, value in variant.options.items():
        differs = any(sibling.get(name) != value for sibling in variant.siblings)
        if differs and not _states(s.task_text, str(value)):
            stands = f"{len(variant.siblings)} variants exist"
            return f"{stands} and the task does not state {_told(name, value)}."
    return None


def ride_not_as_quoted(s: Situation) -> str | None:
    """A ride that differs from every quotation."""
    names = s.observed.contexts.unquoted(s.call)
    return f"The ride differs from its quotation in {', '.join(names)}." if names else None


def write_after_empty_read(s: Situation) -> str | None:
    """The latest read found nothing."""
    empty = s.observed.last_read_empty
    return f"The latest read, {empty}, found nothing." if empty and not s.finishing else None


def _each(s: Situation, pattern: re.Pattern[str]) -> Iterator[tuple[str, Json]]:
    """Yield the non-empty scalar values of arguments whose name fits, a list's items one by one."""
    for name, value in s.arguments.items():
        if pattern.search(name):
            items = value if isinstance(value, list) else [value]
            yield from (
                (name, item)
                for item in items[:50]
                if isinstance(item, str | int | float) and item != ""
            )


def _addresses(s: Situation) -> Iterator[tuple[str, str]]:
    """Yield whole arguments that are addresses, in whatever argument they stand."""
    for name, value in s.arguments.items():
        for text in flat_texts(value)[:50]:
            digits = sum(character.isdigit() for character in text)
            if is_address(text) or (_PHONE.search(name) and digits >= 7):
                yield name, text


def _states(text: str, value: str) -> bool:
    """Say whether a text holds a value as words of its own: "my" and "I'm" state no size M."""
    words = r"\s+".join(map(re.escape, value.split()))
    return re.search(rf"(?<!\w)(?<!\w['\u2019]){words}(?!\w)", text, re.IGNORECASE) is not None


def _told(name: str, value: Json) -> str:
    """Return an argument as a sentence names it: sentences are never cut, so their values are."""
    return f"{short(name, _LONGEST)} {short(str(value), _LONGEST)}"
