"""The functions a world offers to agent code: names, parameters and what each does to the world."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property

from runtime.contracts import Json, Kind, Value

__all__ = ["Catalogue", "Function", "Parameter"]


class Parameter(Value):
    """One parameter of a function."""

    name: str
    type: str = "string"
    """JSON Schema's word: string, integer, number, boolean, array, object; `any` where unknown."""
    required: bool = False
    default: Json = None
    has_default: bool = False


class Function(Value):
    """One callable function of a world."""

    name: str
    """`app.function`."""
    kind: Kind
    reason: str
    """Why it is of that kind."""
    parameters: tuple[Parameter, ...] = ()

    @property
    def app(self) -> str:
        """The part before the dot."""
        return self.name.partition(".")[0]

    @property
    def short(self) -> str:
        """The part after the dot."""
        return self.name.partition(".")[2]

    @cached_property
    def by_parameter(self) -> dict[str, Parameter]:
        """Parameters by name."""
        return {parameter.name: parameter for parameter in self.parameters}


class Catalogue:
    """All functions of a world. What it does not hold counts as WRITE."""

    def __init__(self, functions: Iterable[Function]) -> None:
        self.functions: dict[str, Function] = {item.name: item for item in functions}
        self.apps: frozenset[str] = frozenset(item.app for item in self.functions.values())
        self._by_short: dict[str, tuple[Function, ...]] = {}
        for item in self.functions.values():
            self._by_short[item.short] = (*self._by_short.get(item.short, ()), item)

    def get(self, name: str) -> Function | None:
        """Return the function of that full name, if there is one."""
        return self.functions.get(name)

    def by_short(self, short: str) -> tuple[Function, ...]:
        """Return the functions of any app whose short name is `short`."""
        return self._by_short.get(short, ())

    def kind(self, name: str) -> Kind:
        """Return a function's kind; WRITE for an unknown one."""
        function = self.functions.get(name)
        return function.kind if function else Kind.WRITE
