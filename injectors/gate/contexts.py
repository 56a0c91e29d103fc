"""What was seen around a purchase, an appointment or a ride: the gate shows it beside the write.

Recognised by shape, not by app: a product is a record with variants, an event one with a start and
an end, a quotation the answer of a function that quotes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime

from injectors.gate.checklists import verb_class
from injectors.gate.values import as_moment, scalar_key
from runtime.contracts import Json, Kind, ToolCall

__all__ = ["Contexts", "Event", "Variant"]

_MOST = 2_000
_MOST_QUOTATIONS = 50
_RIDE = ("start_location", "end_location", "service_type", "ride_time")


@dataclass(frozen=True)
class Variant:
    """One variant of a product, with its siblings."""

    product: str
    options: Mapping[str, Json]
    siblings: tuple[Mapping[str, Json], ...]
    """The options of every variant of the product, this one's included."""


@dataclass(frozen=True)
class Event:
    """One calendar event."""

    title: str
    start: datetime
    end: datetime


class Contexts:
    """Products, events and quotations of one episode."""

    def __init__(self) -> None:
        self._variants: dict[str, Variant] = {}
        self._events: dict[str, Event] = {}
        self._added: dict[Event, str] = {}
        """The keys of events that this episode added, until a record shows them."""
        self._quotations: list[Mapping[str, Json]] = []
        """What each quotation asked for and was told, the latest last."""

    def note_call(self, call: ToolCall, value: Json) -> None:
        """Learn from a successful call that quotes a ride, or adds, moves or deletes an event."""
        quotes = "quot" in call.function.lower() or "estimate" in call.function.lower()
        if quotes and isinstance(value, dict):
            asked = {name: call.arguments[name] for name in _RIDE if name in call.arguments}
            told = {name: value[name] for name in (*_RIDE, "price") if value.get(name) is not None}
            self._quotations = [*self._quotations[-_MOST_QUOTATIONS:], {**told, **asked}]
        if call.kind is Kind.WRITE and "event_id" in call.arguments:
            self._changed(call)
        elif call.kind is Kind.WRITE and verb_class(call.function) == "create":
            self._add(call, value)

    def note_record(self, record: Mapping[str, Json]) -> None:
        """Learn from one record of an answer."""
        if "variants" in record or "variations" in record:
            self._product(record)
        if "start_datetime" in record or "start_time" in record:
            self._event(record)

    def variant(self, call: ToolCall) -> Variant | None:
        """Return the product variant that a call names."""
        for name in ("item_id", "variant_id", "product_id"):
            found = self._variants.get(scalar_key(call.arguments.get(name)))
            if found is not None:
                return found
        return None

    def overlaps(self, call: ToolCall) -> list[Event]:
        """Return the known events that a call's start and end would overlap."""
        start, end = _span(call.arguments)
        if start is None or end is None:
            return []
        changed = scalar_key(call.arguments.get("event_id"))
        return [
            event
            for event_id, event in self._events.items()
            if event.start < end and start < event.end and event_id != changed
        ]

    def shopping(self, call: ToolCall) -> Json:
        """Return the options of the product that a call names, or None."""
        variant = self.variant(call)
        if variant is None:
            return None
        options: list[Json] = [dict(sibling) for sibling in variant.siblings[:8]]
        return {"product": variant.product, "chosen": dict(variant.options), "options": options}

    def calendar(self, call: ToolCall, now: datetime | None) -> Json:
        """Return overlaps and the current date for a call with a start and an end, or None."""
        if _span(call.arguments)[0] is None:
            return None
        overlaps: list[Json] = [
            f"{event.title}: {event.start:%Y-%m-%d %H:%M} to {event.end:%H:%M}"
            for event in self.overlaps(call)[:5]
        ]
        today = f"{now:%Y-%m-%d %H:%M, %A}" if now else None
        return {"overlaps": overlaps, "current_date": today}

    def cab(self, call: ToolCall) -> Json:
        """Return the quotation that is nearest to a call that orders a ride, or None."""
        quotation = self._quotation(call)
        return dict(quotation) if quotation else None

    def unquoted(self, call: ToolCall) -> list[str]:
        """Return the ride parameters in which a call differs from every quotation."""
        quotation = self._quotation(call)
        return _differing(call, quotation) if quotation else []

    def _quotation(self, call: ToolCall) -> Mapping[str, Json] | None:
        """Return the quotation that differs least from a ride, the latest of several."""
        if not self._quotations or not _is_ride(call):
            return None
        return min(reversed(self._quotations), key=lambda each: len(_differing(call, each)))

    def _changed(self, call: ToolCall) -> None:
        key = scalar_key(call.arguments["event_id"])
        event = self._events.get(key)
        if verb_class(call.function) == "delete":
            self._events.pop(key, None)
        elif event is not None:
            start, end = _span(call.arguments)
            self._events[key] = replace(event, start=start or event.start, end=end or event.end)

    def _add(self, call: ToolCall, value: Json) -> None:
        """Keep a new event under the id that the answer tells, if it tells one."""
        event = _event_of(call.arguments)
        if event is None or len(self._events) >= _MOST or event in self._events.values():
            return
        told = value.get("event_id") or value.get("id") if isinstance(value, dict) else value
        key = scalar_key(told) if isinstance(told, str | int) else ""
        if not key or key in self._events:  # an answer that comes again, such as "ok", is no id
            key = _described(event)
        self._events[key] = event
        self._added[event] = key

    def _product(self, record: Mapping[str, Json]) -> None:
        listed = record.get("variants") or record.get("variations")
        variants = list(listed.values()) if isinstance(listed, dict) else listed
        if not isinstance(variants, list) or len(self._variants) >= _MOST:
            return
        records = [item for item in variants if isinstance(item, dict)]
        siblings = tuple(_options(item) for item in records[:50])
        for item, options in zip(records, siblings, strict=False):
            key = item.get("item_id") or item.get("variant_id") or item.get("product_id")
            product = str(record.get("name") or record.get("product_name") or "")
            self._variants[scalar_key(key)] = Variant(product, options, siblings)

    def _event(self, record: Mapping[str, Json]) -> None:
        event = _event_of(record)
        if event is None or len(self._events) >= _MOST:
            return
        self._events.pop(self._added.pop(event, ""), None)
        event_id = record.get("event_id") or record.get("id") or _described(event)
        self._events[scalar_key(event_id)] = event


_UNCHOSEN = {"price", "available", "item_id", "variant_id", "product_id", "options"}


def _options(item: Mapping[str, Json]) -> Mapping[str, Json]:
    options = item.get("options")
    if isinstance(options, dict):
        return options
    return {k: v for k, v in item.items() if k not in _UNCHOSEN and v is not None}


def _event_of(record: Mapping[str, Json]) -> Event | None:
    start, end = _span(record)
    if start is None or end is None:
        return None
    return Event(str(record.get("title") or record.get("name") or "event"), start, end)


def _described(event: Event) -> str:
    """Return a key for an event whose id is not known."""
    return scalar_key(f"{event.title} {event.start}")


def _span(record: Mapping[str, Json]) -> tuple[datetime | None, datetime | None]:
    start = as_moment(record.get("start_datetime") or record.get("start_time"))
    return start, as_moment(record.get("end_datetime") or record.get("end_time"))


def _differing(call: ToolCall, quotation: Mapping[str, Json]) -> list[str]:
    return [
        name
        for name in _RIDE
        if name in quotation and _same_form(call.arguments.get(name)) != _same_form(quotation[name])
    ]


def _same_form(value: Json) -> str | datetime:
    return as_moment(value) or scalar_key(value)


def _is_ride(call: ToolCall) -> bool:
    return "start_location" in call.arguments and "end_location" in call.arguments
