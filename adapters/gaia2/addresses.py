"""What keeps memory addresses, which differ from run to run, out of what a cell shows.

Runs in the cell process. `id(x)` is a number in order of asking, `hash(x)` the same number where
Python would go by the address, and `<map object at 0x7f...>` is written without the address.
"""

from __future__ import annotations

import re
from typing import Any

__all__ = ["Identities", "without_addresses"]

_ADDRESS = re.compile(r" at 0x[0-9a-f]{6,16}(?=>)")

_BY_ADDRESS: Any = object.__hash__


def without_addresses(text: str) -> str:
    """Leave out the address in each `<... at 0x...>`, as Python writes an object without a text."""
    return _ADDRESS.sub("", text)


class Identities:
    """The numbers of the objects that a session has asked for."""

    def __init__(self) -> None:
        self._asked: dict[int, tuple[int, Any]] = {}

    def number(self, value: Any, /) -> int:
        """`id(x)` for cells. The object is kept, so that no other takes over its number."""
        return self._asked.setdefault(id(value), (len(self._asked) + 1, value))[0]

    def hash(self, value: Any, /) -> int:
        """`hash(x)` for cells."""
        return self.number(value) if type(value).__hash__ is _BY_ADDRESS else hash(value)
