"""What one episode has observed: every id, address, number and day that its task or world showed.

Results are only set aside as they come and read when a question is asked, which is when a write is
looked up: a cell that reads a thousand times and writes nothing pays nothing. The work per result
and the size of the index are bounded; once a bound was hit, `saturated` says that "never observed"
can no longer be claimed, and the risks that would claim it fall silent.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date, datetime

from injectors.gate.contexts import Contexts
from injectors.gate.pages import Pages
from injectors.gate.people import People
from injectors.gate.values import (
    address_key,
    as_moment,
    dates_in,
    emails_in,
    month_days_in,
    number_of,
    numbers_in,
    phone_key,
    relative_dates_in,
    scalar_key,
    words_with_digits,
)
from runtime.catalogue import Catalogue
from runtime.contracts import CallResult, Json, Kind, Task, ToolCall

__all__ = ["Observed"]

_NODES = 20_000
"""Values read of one result."""
_TEXT = 100_000
"""Characters read of one text."""
_VALUES = 300_000
"""Values kept in all."""
_PENDING = 2_000
"""Results set aside before they are read after all, so that they do not pile up."""
_HAS_VALUES = re.compile(r"[\d@]")
_MEASURE = re.compile(
    r"(^|_)(price|amount|cost|count|counts|quantity|rating|duration|limit|index|page|total|year|"
    r"month|volume|score|position|seconds|minutes|days|percent|percentage|size|balance)$"
)
"""Fields whose numbers are never ids: a 3 seen as a rating is no sighting of record 3."""
_PHONE = re.compile(r"\d[\d ().-]{5,}\d")


class Observed:
    """The index of one episode."""

    def __init__(self, catalogue: Catalogue, task: Task | None = None) -> None:
        self.task_text = ""
        """What the user said: the task, and later messages."""
        self.people = People()
        self.pages = Pages()
        self.contexts = Contexts()
        self.saturated = False
        self.clock: datetime | None = as_moment(task.context.get("datetime")) if task else None
        """The moment at which the task plays, where its context tells it."""
        self.last_read_empty: str | None = None
        """The function of the latest read, if it found nothing."""
        self._catalogue = catalogue
        self._pending: list[tuple[ToolCall, CallResult]] = []
        self._texts: set[str] = set()
        self._keys: set[str] = set()
        self._phones: set[str] = set()
        self._numbers: set[float] = set()
        self._days: set[date] = set()
        self._task_days: set[tuple[int, int]] = set()
        self._task_is_relative = False
        self.hear(_task_text(task))

    def hear(self, text: str) -> None:
        """Take in what the user said, or what the world told the agent between its turns."""
        text = text[:_TEXT]
        self.task_text = f"{self.task_text}\n{text}".strip()[-_TEXT:]
        self._text(text)
        self._keys |= {word.strip(".,;:!?'\"()").casefold() for word in text.split()}
        self._numbers |= numbers_in(text)
        self._task_days |= month_days_in(text)
        self._task_is_relative |= relative_dates_in(text)

    def note(self, call: ToolCall, result: CallResult) -> None:
        """Set one result aside."""
        self._pending.append((call, result))
        if len(self._pending) >= _PENDING:
            self.settle()

    def settle(self) -> None:
        """Read the results that were set aside."""
        pending, self._pending = self._pending, []
        for call, result in pending:
            self._read(call, result)

    def has_id(self, value: Json) -> bool:
        """Say whether an id was observed, whatever the field and the type it came in."""
        return scalar_key(value) in self._keys

    def has_address(self, text: str) -> bool:
        """Say whether an email address or phone number was observed."""
        key = address_key(text)
        return key in self._keys if "@" in key else key in self._phones

    def has_number(self, value: float) -> bool:
        """Say whether a number was observed, to the cent."""
        return round(value, 2) in self._numbers

    def has_day(self, day: date) -> bool:
        """Say whether a day was observed, or the task leaves it to be worked out."""
        return (
            self._task_is_relative or day in self._days or (day.month, day.day) in self._task_days
        )

    def _read(self, call: ToolCall, result: CallResult) -> None:
        if call.kind is Kind.READ:
            function = self._catalogue.get(call.function)
            self.last_read_empty = call.function if result.ok and _empty(result.value) else None
            if result.ok:
                self.pages.note(call, function, result.value)
        for field, node in self._nodes(result.value):
            if isinstance(node, dict):
                self.people.note(node)
                self.contexts.note_record(node)
            else:
                self._scalar(field, node)
        if result.ok:
            self.contexts.note_call(call, result.value)  # a deletion may answer with the record
        if len(self._keys) + len(self._numbers) + len(self._texts) > _VALUES:
            self.saturated = True

    def _nodes(self, value: Json) -> Iterator[tuple[str, Json]]:
        """Yield mappings and scalars with their field, as many as one result may cost.

        Keys count as scalars: some worlds answer with records by id.
        """
        open_: list[tuple[str, Json]] = [("", value)]
        left = _NODES
        while open_ and left > 0:
            field, node = open_.pop()
            left -= 1
            if isinstance(node, dict):
                self.saturated |= len(node) > left
                inside = list(node.items())[:left]
                open_ += inside
                open_ += [("", name) for name, _ in inside]
                yield field, node
            elif isinstance(node, list):
                self.saturated |= len(node) > left
                open_ += [(field, item) for item in node[:left]]
            else:
                yield field, node
        self.saturated |= bool(open_)

    def _scalar(self, field: str, value: Json) -> None:
        if self.saturated or value is None or isinstance(value, bool):
            return
        if isinstance(value, str):
            self._text(value)
            return
        if not _MEASURE.search(field):
            self._keys.add(scalar_key(value))
        number = number_of(value)
        if number is not None:
            self._numbers.add(number)
        moment = as_moment(value)
        if moment is not None:
            self._days.add(moment.date())

    def _text(self, text: str) -> None:
        if text in self._texts:
            return
        self._texts.add(text)
        if len(text) > _TEXT:
            self.saturated = True
            text = text[:_TEXT]
        if len(text) <= 200:
            self._keys.add(scalar_key(text))
        if not _HAS_VALUES.search(text):
            return
        self._keys |= emails_in(text) | words_with_digits(text)
        self._numbers |= {round(number, 2) for number in numbers_in(text)}
        self._days |= dates_in(text)
        self._phones |= {phone_key(match) for match in _PHONE.findall(text)}


def _task_text(task: Task | None) -> str:
    return "\n".join((task.instruction, *task.context.values())) if task else ""


def _empty(value: Json) -> bool:
    """Say whether a listing found nothing. No value at all (a wait, a ping) is no listing."""
    if not isinstance(value, dict):
        return value in ([], "")
    lists = [item for item in value.values() if isinstance(item, list)]
    told = any(isinstance(item, str) and item for item in value.values())
    return bool(lists) and not any(lists) and not told
