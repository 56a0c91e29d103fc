"""A user's functions as the gate sees them: names, kinds, parameters, arguments as JSON."""

from __future__ import annotations

import functools
import inspect
import json
import typing
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType, NoneType, UnionType
from typing import Any

from pydantic_core import to_jsonable_python

from runtime.catalogue import Catalogue, Function, Parameter
from runtime.contracts import Json, Kind
from runtime.errors import UnknownName, UsageError

__all__ = ["Tool", "Toolbox", "as_json", "result_json"]

_TYPES: Mapping[object, str] = MappingProxyType(
    {str: "string", int: "integer", float: "number", bool: "boolean", list: "array", dict: "object"}
)
_MOST_CHARACTERS = 200_000
"""Of a result that is one text: more is not searched for JSON."""


@dataclass(frozen=True)
class Tool:
    """One function under guard."""

    name: str
    """As the model calls it."""
    run: Callable[..., Any]
    kind: Kind
    function: Function
    """Its entry in the catalogue, named `app.name`."""

    @functools.cached_property
    def signature(self) -> inspect.Signature:
        """The parameters of the function."""
        return inspect.signature(self.run)

    @property
    def is_async(self) -> bool:
        """Whether calling it gives an awaitable."""
        return inspect.iscoroutinefunction(inspect.unwrap(self.run))

    @property
    def open_ended(self) -> bool:
        """Whether it takes any argument name: then every argument counts."""
        kinds = {item.kind for item in self.signature.parameters.values()}
        return inspect.Parameter.VAR_KEYWORD in kinds

    def arguments(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Json]:
        """Return a call's arguments by name. Raises `TypeError` where they do not fit."""
        bound = self.signature.bind(*args, **kwargs).arguments
        named: dict[str, Json] = {}
        for name, value in bound.items():
            if self.signature.parameters[name].kind is inspect.Parameter.VAR_KEYWORD:
                named |= {key: as_json(item) for key, item in value.items()}
            else:
                named[name] = as_json(value)
        return named


class Toolbox:
    """The functions under guard, by name."""

    def __init__(
        self,
        tools: Iterable[Callable[..., Any]] | Mapping[str, Callable[..., Any]],
        kinds: Mapping[str, Kind | str],
        app: str,
    ) -> None:
        """Functions that `kinds` does not name count as WRITE. Raises `UsageError`."""
        self._app = app
        self._kinds = {name: _kind(name, kind) for name, kind in kinds.items()}
        named = tools if isinstance(tools, Mapping) else {_name(tool): tool for tool in tools}
        self.catalogue = Catalogue(())
        """The functions as a catalogue; it grows as functions are wrapped."""
        self._tools: dict[str, Tool] = {}
        for name, run in named.items():
            self.add(run, name)

    def add(self, run: Callable[..., Any], name: str | None = None) -> Tool:
        """Put a function under guard. Raises `UsageError` for a second one of that name."""
        name = name or _name(run)
        known = self._tools.get(name)
        if known is not None:
            if known.run == run:  # a bound method is a new object each time
                return known
            raise UsageError(f"Two functions are named {name!r}: give one of them another name.")
        kind = self._kinds.get(name, Kind.WRITE)
        reason = "named by the user" if name in self._kinds else "not in the kinds table: a write"
        function = Function(
            name=f"{self._app}.{name}", kind=kind, reason=reason, parameters=_parameters(run)
        )
        self._tools[name] = Tool(name, run, kind, function)
        self.catalogue.functions[function.name] = function
        return self._tools[name]

    def check_kinds(self) -> None:
        """Raise `UnknownName` where the kinds table names no tool: a typing error would gate."""
        for name in self._kinds:
            self.get(name)

    def get(self, name: str) -> Tool:
        """Return a tool. Raises `UnknownName`."""
        found = self._tools.get(name)
        if found is None:
            raise UnknownName("tool", name, self._tools)
        return found


def as_json(value: object) -> Json:
    """Return a value as JSON; a text that is JSON is read, and what cannot be one is described."""
    if isinstance(value, str):
        return value
    found: Json = to_jsonable_python(value, fallback=repr)
    return found


def result_json(value: object) -> Json:
    """Return a result as JSON; tools like to answer with JSON in a text."""
    if isinstance(value, str) and value[:1] in "{[" and len(value) <= _MOST_CHARACTERS:
        try:
            found: Json = json.loads(value)
        except (ValueError, RecursionError):
            return value
        return found
    return as_json(value)


def _name(run: Callable[..., Any]) -> str:
    name = getattr(run, "__name__", "")
    if not name.isidentifier():
        raise UsageError(f"{run!r} has no name: pass tools as a mapping of names to functions.")
    return name


def _kind(name: str, kind: Kind | str) -> Kind:
    try:
        return Kind(kind)
    except ValueError:
        raise UsageError(f"{name!r} has kind {kind!r}: use READ, WRITE or FINISH.") from None


def _parameters(run: Callable[..., Any]) -> tuple[Parameter, ...]:
    try:
        hints = typing.get_type_hints(run)
    except (NameError, TypeError):
        hints = {}  # annotations that cannot be resolved here say nothing about types
    return tuple(
        Parameter(
            name=item.name,
            type=_type(hints.get(item.name)),
            required=item.default is item.empty,
            default=None if item.default is item.empty else as_json(item.default),
            has_default=item.default is not item.empty,
        )
        for item in inspect.signature(run).parameters.values()
    )


def _type(hint: object) -> str:
    """Return JSON Schema's word for an annotation; `X | None` counts as X."""
    if typing.get_origin(hint) in {typing.Union, UnionType}:
        rest = [item for item in typing.get_args(hint) if item is not NoneType]
        return _type(rest[0]) if len(rest) == 1 else "any"
    return _TYPES.get(typing.get_origin(hint) or hint, "any")
