"""A user's functions as the gate sees them: names, kinds, parameters, arguments as JSON."""

from __future__ import annotations

import functools
import inspect
import typing
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType, NoneType, UnionType
from typing import Any

from injectors.around.describe import Describer, as_json
from runtime.catalogue import Catalogue, Function, Parameter
from runtime.contracts import Json, Kind
from runtime.errors import UnknownName, UsageError

__all__ = ["Tool", "Toolbox"]

_TYPES: Mapping[object, str] = MappingProxyType(
    {str: "string", int: "integer", float: "number", bool: "boolean", list: "array", dict: "object"}
)


@dataclass(frozen=True)
class Tool:
    """One function under guard."""

    name: str
    """As the model calls it."""
    run: Callable[..., Any]
    kind: Kind
    function: Function
    """Its entry in the catalogue, named `app.name`."""
    _kept: dict[int, object] = field(default_factory=dict, repr=False, compare=False)
    """What arguments of writes are known by an address (see `Describer`)."""

    @functools.cached_property
    def signature(self) -> inspect.Signature:
        """The parameters of the function."""
        return inspect.signature(self.run)

    @property
    def is_async(self) -> bool:
        """Whether calling it gives a coroutine, as far as one can tell without calling it."""
        calls = (self.run, type(self.run).__call__)
        return any(inspect.iscoroutinefunction(call) for call in calls)

    @property
    def open_ended(self) -> bool:
        """Whether it takes any argument name: then every argument counts."""
        kinds = {item.kind for item in self.signature.parameters.values()}
        return inspect.Parameter.VAR_KEYWORD in kinds

    def arguments(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Json]:
        """Return a call's arguments by name.

        Raises `TypeError` where they do not fit, or where a write could not be told from another.
        """
        bound = self.signature.bind(*args, **kwargs).arguments
        values: dict[str, object] = {}
        for name, value in bound.items():
            if self.signature.parameters[name].kind is inspect.Parameter.VAR_KEYWORD:
                values |= value
            else:
                values[name] = value
        return {name: self._described(name, value) for name, value in values.items()}

    def _described(self, name: str, value: object) -> Json:
        describer = Describer()
        described = describer.json(value)
        if self.kind is not Kind.READ:
            if describer.problem:
                raise TypeError(f"{name} {describer.problem}: pass a list or another plain value")
            self._kept.update((id(item), item) for item in describer.kept)
        return described


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
        """Put a function under guard.

        Raises `UsageError` for a second one of that name, and for one that has no signature.
        """
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

    def find(self, name: str) -> Tool | None:
        """Return a tool, if there is one of that name."""
        return self._tools.get(name)

    def get(self, name: str) -> Tool:
        """Return a tool. Raises `UnknownName`."""
        found = self.find(name)
        if found is None:
            raise UnknownName("tool", name, self._tools)
        return found


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
    except Exception:  # noqa: BLE001 - an annotation is code; if it fails, it tells no type
        hints = {}
    try:
        signature = inspect.signature(run)
    except (ValueError, TypeError):
        raise UsageError(
            f"{run!r} does not tell its parameters: write a function around it that names them."
        ) from None
    return tuple(
        Parameter(
            name=item.name,
            type=_type(hints.get(item.name)),
            required=item.default is item.empty,
            default=None if item.default is item.empty else as_json(item.default),
            has_default=item.default is not item.empty,
        )
        for item in signature.parameters.values()
    )


def _type(hint: object) -> str:
    """Return JSON Schema's word for an annotation; `X | None` counts as X."""
    if typing.get_origin(hint) in {typing.Union, UnionType}:
        rest = [item for item in typing.get_args(hint) if item is not NoneType]
        return _type(rest[0]) if len(rest) == 1 else "any"
    return _TYPES.get(typing.get_origin(hint) or hint, "any")
