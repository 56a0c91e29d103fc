"""What a cell's code may reach at run time: attributes, also those that format strings name.

Runs in the cell process. Attributes with a leading underscore are read where a cell has defined
them, and nowhere else; frames, code and dunders never. Library functions that read attributes by
name for their caller (`str.format`, `operator.attrgetter`, `getattr` itself) come in versions that
ask `read_attribute` too; built-in ones are in `built_ins.py`, those that make classes in
`makers.py`. This is a fence for code that means well; the wall is the process: it has no file, no
socket but its own two, and no state of the world.
"""

from __future__ import annotations

import string
import types
from abc import ABCMeta
from collections.abc import Callable, Mapping, Sequence
from datetime import date
from typing import Any, ForwardRef

from adapters.gaia2.names import (
    EXCEPTION_DUNDERS,
    INSPECT_ATTRIBUTES,
    NAMEDTUPLE_API,
    OWN_METHODS,
    READABLE_DUNDERS,
    WATCHED,
    attribute_refusal,
)

__all__ = [
    "CELL_MODULE",
    "NotAllowed",
    "Sealed",
    "delete_attribute",
    "kind_of",
    "read_attribute",
    "set_attribute",
    "writable",
]

CELL_MODULE = "__main__"
"""`__module__` of every class that a cell defines."""

_WALL_CLOCK = frozenset({"now", "today", "utcnow"})
_MISSING = object()


class NotAllowed(Exception):
    """Raised in a cell for what it may not do; its text says what to write instead."""

    __module__ = "builtins"  # tracebacks show the bare name


class Sealed:
    """Base of the objects we hand into cells: their attributes cannot be written there."""

    __slots__ = ()

    def __copy__(self) -> Sealed:
        """Return the object itself: copying one would lay its inside open."""
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Sealed:
        """Return the object itself."""
        return self


def read_attribute(value: Any, name: str, default: Any = _MISSING) -> Any:
    """Read an attribute for a cell. Raises `AttributeError` as Python would, or with advice.

    What is refused is not there for a cell, so that a default answers that, too.
    """
    if type(name) is not str:
        raise TypeError("attribute name must be string")
    try:
        _check_readable(value, name)
        found = getattr(value, name)
        return _watched(found, name) if name in WATCHED else found
    except AttributeError as error:
        if default is not _MISSING:
            return default
        raise AttributeError(_advice(value, name) or str(error)) from None


def _check_readable(value: Any, name: str) -> None:
    if name[:1] == "_" and name != "_":
        _check_private(value, name)
    if name in INSPECT_ATTRIBUTES:
        raise AttributeError(f'"{name}" reaches into the interpreter and is not available.')
    if name in _SECRET:
        _check_secret(value, name)


def _check_private(value: Any, name: str) -> None:
    if name in READABLE_DUNDERS:
        if name == "__class__":
            kind_of(value)
        return
    if name in EXCEPTION_DUNDERS and isinstance(value, BaseException):
        return
    if type(value) is super and (name in OWN_METHODS or _may_be_own(name)):
        return
    if _may_be_own(name) and _is_own(value, name):
        return
    instead = "Use a public method or function."
    if name in OWN_METHODS:
        other = _INSTEAD_OF_OPERATOR.get(name, "the function or operator itself")
        instead = f"Write super().{name}(...) in a class, or {other}."
    raise AttributeError(f'"{name}" is private. {instead}')


_INSTEAD_OF_OPERATOR = {
    "__contains__": "lambda item: item in value",
    "__getitem__": "value.get, or lambda key: value[key]",
}


def _may_be_own(name: str) -> bool:
    return not attribute_refusal(name, reading=False)


def _is_own(value: Any, name: str) -> bool:
    """Tell whether a cell has defined this attribute: not a library's class, nor a metaclass."""
    if type(value) is types.MethodType:
        value = value.__func__
    if isinstance(value, types.FunctionType):
        return value.__module__ == CELL_MODULE and name in vars(value)
    kind = value if isinstance(value, type) else type(value)
    if name in NAMEDTUPLE_API and issubclass(kind, tuple):
        return True
    if kind.__module__ != CELL_MODULE:
        return False
    holders = [base.__module__ for base in kind.__mro__ if name in vars(base)]
    if holders:
        return holders[0] == CELL_MODULE
    return not (isinstance(value, type) and hasattr(type(value), name))


def _advice(value: Any, name: str) -> str:
    if isinstance(value, dict) and name in value:
        return f"This is a dict. Write value[{name!r}] instead of value.{name}."
    if isinstance(value, list) and name in {"get", "items", "keys", "values"}:
        return f"This is a list of {len(value)} items and has no .{name}. Take an item first."
    return ""


# attributes that are looked at: by their value, since `super()`, `Annotated[str, 1]` and other
# stand-ins hand on what belongs to somebody else


def _watched(found: Any, name: str) -> Any:
    """Return an attribute's value, or what cells get instead. Raises `NotAllowed`."""
    owner = getattr(found, "__self__", None)
    if isinstance(found, types.BuiltinMethodType):
        if name in _METHODS and isinstance(owner, str):
            return types.MethodType(_METHODS[name], owner)
        if isinstance(owner, type) and issubclass(owner, date) and name in _WALL_CLOCK:
            raise NotAllowed(
                f"datetime.{name}() would tell the time outside of this world. Its clock is"
                " apps.SystemApp.get_current_time()."
            )
        if isinstance(owner, type) and name == "mro":
            raise NotAllowed("mro() is not available here. Use isinstance() or issubclass().")
    if name in _METHODS and found is getattr(str, name):
        return _METHODS[name]
    if getattr(found, "__func__", found) is ABCMeta.register:
        raise NotAllowed("register() is not available here. Write class C(Base): ... instead.")
    if isinstance(owner, ForwardRef):
        raise NotAllowed("evaluate() is not available here. Write the type itself.")
    return found


_SECRET = frozenset({"obj", "with_traceback"})


def _check_secret(value: Any, name: str) -> None:
    kind = value if isinstance(value, type) else type(value)
    if issubclass(kind, (BaseException, super)):
        raise AttributeError(  # noqa: TRY004 - as a missing attribute
            f'"{name}" of an exception is not available. Use str(error).'
        )


class _Formatter(string.Formatter):
    """`str.format` whose fields read attributes as cells do."""

    def get_field(
        self, field_name: str, args: Sequence[Any], kwargs: Mapping[str, Any]
    ) -> tuple[Any, Any]:
        """Follow a field such as `user.name[0]`."""
        # `_string` is what string.Formatter itself uses; it has no public door.
        first, rest = _split_field(field_name)
        value = self.get_value(first, args, kwargs)
        for is_attribute, key in rest:
            value = read_attribute(value, key) if is_attribute else value[key]
        return value, first


_split_field = __import__("_string").formatter_field_name_split


def _format(text: str, /, *args: Any, **kwargs: Any) -> str:
    return _Formatter().vformat(str.__str__(text), args, kwargs)


def _format_map(text: str, mapping: Mapping[str, Any], /) -> str:
    return _Formatter().vformat(str.__str__(text), (), mapping)


_METHODS: dict[str, Callable[..., str]] = {"format": _format, "format_map": _format_map}


_TYPES_OF_TYPES = frozenset({"types", "typing", "annotationlib"})
"""Where the types of `list[int]` and its like are, which hand on attributes of anything."""


def kind_of(value: Any, /) -> type:
    """`type(x)` for cells: the one with three arguments would make classes."""
    if isinstance(value, (type, Sealed)) or type(value).__module__ in _TYPES_OF_TYPES:
        raise NotAllowed("The type of a class or module is not available. Use isinstance().")
    return type(value)


# writing


def writable(value: Any) -> Any:
    """Return `value` if a cell may set its attributes, else raise."""
    owner = value if isinstance(value, type) else type(value)
    if owner.__module__ == CELL_MODULE and not isinstance(value, Sealed):
        return value
    if isinstance(value, types.FunctionType) and value.__module__ == CELL_MODULE:
        return value
    if isinstance(value, dict):
        raise NotAllowed("A dict has no attributes to set. Write value['key'] = ... instead.")
    raise NotAllowed(
        f"Attributes of {owner.__name__} cannot be set. Keep the value in a variable or a dict."
    )


def set_attribute(value: Any, name: str, item: Any) -> None:
    """`setattr` for cells."""
    _check_settable(name)
    setattr(writable(value), name, item)


def delete_attribute(value: Any, name: str) -> None:
    """`delattr` for cells."""
    _check_settable(name)
    delattr(writable(value), name)


def _check_settable(name: Any) -> None:
    if type(name) is not str:
        raise TypeError("attribute name must be string")
    if words := attribute_refusal(name, reading=False):
        raise NotAllowed(words)
