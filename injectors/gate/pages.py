"""Which listings were read only in part: a full first page, and no further one."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from injectors.gate.values import scalar_key
from runtime.catalogue import Function
from runtime.contracts import Json, ToolCall

__all__ = ["Pages"]

_POSITION = {"page_index", "page", "page_number", "offset", "page_token", "cursor"}
_SIZE = {"page_limit", "limit", "page_size", "per_page"}
_MEMBER_ID = re.compile(r"(^|_)(id|email|phone_number)$")
_MOST_QUERIES = 5_000
_MOST_MEMBERS = 200


@dataclass(eq=False)
class Listing:
    """One query and the pages of it that were read."""

    function: str
    positions: set[str] = field(default_factory=set)
    full: bool = False
    """Whether the last page read was as long as a page can be."""

    @property
    def cut(self) -> bool:
        """One full page was read and no other."""
        return self.full and len(self.positions) == 1


class Pages:
    """Listings by query, and the listings that each member's id was seen in."""

    def __init__(self) -> None:
        self._listings: dict[str, Listing] = {}
        self._of_member: dict[str, list[Listing]] = {}

    def note(self, call: ToolCall, function: Function | None, value: Json) -> None:
        """Learn from a read that has a page size."""
        size = _argument(call, function, _SIZE)
        if size is None or len(self._listings) >= _MOST_QUERIES:
            return
        rest = {k: v for k, v in call.arguments.items() if k not in _POSITION | _SIZE}
        key = json.dumps([call.function, rest, call.account], sort_keys=True)
        listing = self._listings.setdefault(key, Listing(call.function))
        items = _items(value)
        listing.positions.add(json.dumps(_argument(call, function, _POSITION)))
        listing.full = isinstance(size, int) and len(items) >= size > 0 and not _all(value, items)
        for item in items[:_MOST_MEMBERS]:
            for member in _members(item):
                known = self._of_member.setdefault(member, [])
                if listing not in known and len(known) < 8:
                    known.append(listing)

    def cut_listing_of(self, member: Json) -> str | None:
        """Return the function whose listing gave this id, if every such listing was cut."""
        listings = self._of_member.get(scalar_key(member), [])
        return listings[0].function if listings and all(item.cut for item in listings) else None


def _argument(call: ToolCall, function: Function | None, names: set[str]) -> Json:
    for name in names:
        if name in call.arguments:
            return call.arguments[name]
    parameters = function.parameters if function else ()
    return next((item.default for item in parameters if item.name in names), None)


def _items(value: Json) -> list[Json]:
    if isinstance(value, list):
        return value
    if isinstance(value, dict):
        return next((item for item in value.values() if isinstance(item, list)), [])
    return []


def _all(value: Json, items: list[Json]) -> bool:
    """Say whether the answer itself tells that there is nothing more."""
    if not isinstance(value, dict):
        return False
    names = ["total", *(f"total_{name}" for name, item in value.items() if isinstance(item, list))]
    for source in (value, value.get("metadata"), value.get("pagination")):
        told = (
            [source[name] for name in names if name in source] if isinstance(source, dict) else []
        )
        totals = [total for total in told if isinstance(total, int)]
        if totals:
            return totals[0] <= len(items)
    return False


def _members(item: Json) -> list[str]:
    if isinstance(item, Mapping):
        return [
            scalar_key(value)
            for name, value in item.items()
            if isinstance(value, str | int) and _MEMBER_ID.search(name)
        ]
    return [scalar_key(item)] if isinstance(item, str | int) else []
