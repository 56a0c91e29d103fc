"""The library's makers of classes, as cells get them: they check names of fields and members.

Runs in the cell process. `dataclass` writes the names of fields into source that it executes, and
its other functions read fields by name; a field's name also is what a `match` pattern by position
reads without the guards; and `Enum("E", names)` would take dunders, which decide what attributes
mean. In a `class` statement the names have been checked already, when it was compiled.
"""

from __future__ import annotations

import collections
import dataclasses
import enum
import importlib
import inspect
import sys
import types
import typing
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from adapters.gaia2.guards import CELL_MODULE, NotAllowed, Sealed
from adapters.gaia2.names import attribute_refusal, field_refusal

__all__ = ["ENUMS", "NAMED_TUPLE", "dataclass", "namedtuple"]


def dataclass(kind: type | None = None, /, **options: Any) -> Any:
    """`dataclasses.dataclass`, for classes that cells have defined."""

    def make(kind: type) -> type:
        if not isinstance(kind, type) or kind.__module__ != CELL_MODULE:
            raise NotAllowed("dataclass() works on classes of your own. Write class C: ...")
        _check(_annotations(kind), field_refusal)
        return dataclasses.dataclass(**options)(kind)

    return make if kind is None else make(kind)


def _annotations(kind: type) -> Iterable[str]:
    """Return what `dataclasses` takes for the names of a class's fields."""
    if sys.version_info >= (3, 14):
        library = importlib.import_module("annotationlib")  # not there before
        return library.get_annotations(kind, format=library.Format.FORWARDREF)
    return inspect.get_annotations(kind)


def namedtuple(typename: str, field_names: Any, **options: Any) -> type:
    """`collections.namedtuple`, which checks most of the names itself."""
    make: Callable[..., Any] = collections.namedtuple
    made: type = make(typename, field_names, **{"module": CELL_MODULE, **options})
    _check(made._fields, _attribute)  # type: ignore[attr-defined]
    return made


class _NamedTuple(Sealed):
    """`typing.NamedTuple`, which is a function and a base."""

    __slots__ = ()

    def __call__(self, typename: str, fields: Iterable[tuple[str, Any]]) -> type:
        names, kinds = zip(*fields, strict=True)
        made = namedtuple(typename, names)
        made.__annotations__ = dict(zip(names, kinds, strict=True))
        return made

    def __mro_entries__(self, bases: tuple[Any, ...]) -> tuple[type, ...]:
        entries: Callable[[Any], tuple[type, ...]] = typing.NamedTuple.__mro_entries__  # type: ignore[attr-defined]
        return entries((typing.NamedTuple,))


NAMED_TUPLE = _NamedTuple()


class _EnumType(enum.EnumType):
    """What enums are made by, and called on to look a member up."""

    def __call__(cls, *args: Any, **options: Any) -> Any:
        if not cls._member_map_:
            args, options = _definition(*args, **options)
        return super().__call__(*args, **options)


def _definition(name: str, names: Any, **options: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Return the arguments that make an enum, once its names are known to be harmless."""
    if isinstance(names, str):
        names = names.replace(",", " ").split()
    listed = list(names.items() if isinstance(names, Mapping) else names)
    members = [item if isinstance(item, str) else tuple(item) for item in listed]
    _check((item if isinstance(item, str) else item[0] for item in members), _attribute)
    return (name, members), {"module": CELL_MODULE, **options}


ENUMS: dict[str, Any] = {
    base.__name__: types.new_class(
        base.__name__,
        (base,),
        {"metaclass": _EnumType},
        lambda namespace: namespace.__setitem__("__module__", "enum"),
    )
    for base in (enum.Enum, enum.IntEnum, enum.StrEnum, enum.Flag, enum.IntFlag)
}


def _attribute(name: str) -> str:
    return attribute_refusal(name, reading=False)


def _check(names: Iterable[object], refusal: Callable[[str], str]) -> None:
    for name in names:
        if type(name) is not str:  # a subclass could answer as it likes
            raise TypeError("names of fields and members must be plain text")
        if words := refusal(name):
            raise NotAllowed(words)
