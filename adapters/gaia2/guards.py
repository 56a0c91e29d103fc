"""What a cell's code may reach at run time: attributes, built-in functions, format strings.

Runs in the cell process. Attribute names with a leading underscore are read on objects of classes
that cells have defined, and nowhere else; frames, code and dunders never. Library functions that
read attributes by name for their caller (`str.format`, `operator.attrgetter`, `getattr` itself)
come in versions that ask `read_attribute` too. This is a fence for code that means well; the wall
is the process: it has no file, no socket but its own two, and no state of the world.
"""

from __future__ import annotations

import builtins
import string
import types
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from RestrictedPython.transformer import INSPECT_ATTRIBUTES

from adapters.gaia2.policy import NAMEDTUPLE_API, READABLE_DUNDERS, SUPER_METHODS

__all__ = ["BUILTINS", "CELL_MODULE", "NotAllowed", "Sealed", "read_attribute", "refusing"]

CELL_MODULE = "__main__"
"""`__module__` of every class that a cell defines."""

_EXCEPTION_SECRETS = frozenset({"obj", "with_traceback"})
_WALL_CLOCK = frozenset({"now", "today", "utcnow"})
_MISSING = object()


class NotAllowed(Exception):
    """Raised in a cell for what it may not do; its text says what to write instead."""

    __module__ = "builtins"  # tracebacks show the bare name


class Sealed:
    """Base of the objects we hand into cells: their attributes cannot be written there."""

    __slots__ = ()


def read_attribute(value: Any, name: str, default: Any = _MISSING) -> Any:
    """Read an attribute for a cell. Raises `AttributeError` as Python would, or with advice."""
    if type(name) is not str:
        raise TypeError("attribute name must be string")
    if name[:1] == "_" and name != "_":
        _check_private(value, name)
    if name in INSPECT_ATTRIBUTES:
        raise AttributeError(f'"{name}" reaches into the interpreter and is not available.')
    if name in _GUARDED:
        replaced = _GUARDED[name](value, name)
        if replaced is not _MISSING:
            return replaced
    try:
        return getattr(value, name)
    except AttributeError as error:
        if default is not _MISSING:
            return default
        raise AttributeError(_advice(value, name) or str(error)) from None


def _check_private(value: Any, name: str) -> None:
    kind = type(value)
    if name in READABLE_DUNDERS:
        if name == "__class__":
            kind_of(value)
        return
    if kind is super and (name in SUPER_METHODS or not name.startswith("__")):
        return
    if not name.startswith("__"):
        owner = value if isinstance(value, type) else kind
        if owner.__module__ == CELL_MODULE or (name in NAMEDTUPLE_API and issubclass(owner, tuple)):
            return
    raise AttributeError(f'"{name}" is private. Use a public method or function.')


def _advice(value: Any, name: str) -> str:
    if isinstance(value, dict) and name in value:
        return f"This is a dict. Write value[{name!r}] instead of value.{name}."
    if isinstance(value, list) and name in {"get", "items", "keys", "values"}:
        return f"This is a list of {len(value)} items and has no .{name}. Take an item first."
    return ""


# attributes that are replaced or refused by the kind of their owner


def _format_method(value: Any, name: str) -> Any:
    if isinstance(value, str):
        return types.MethodType(_METHODS[name], value)
    if isinstance(value, type) and issubclass(value, str):
        return _METHODS[name]
    if type(value) is super:
        raise AttributeError("format is not available on super(). Use an f-string.")
    return _MISSING


def _exception_detail(value: Any, name: str) -> Any:
    if isinstance(value, BaseException) or (
        isinstance(value, type) and issubclass(value, BaseException)
    ):
        raise AttributeError(  # noqa: TRY004 - as a missing attribute
            f'"{name}" of an exception is not available. Use str(error).'
        )
    return _MISSING


def _wall_clock(value: Any, name: str) -> Any:
    owner = value if isinstance(value, type) else type(value)
    if any(base.__module__ == "datetime" for base in owner.__mro__):
        raise NotAllowed(
            f"datetime.{name}() would tell the time outside of this world. Its clock is"
            " apps.SystemApp.get_current_time()."
        )
    return _MISSING


_GUARDED: dict[str, Callable[[Any, str], Any]] = {
    "format": _format_method,
    "format_map": _format_method,
    **dict.fromkeys(_EXCEPTION_SECRETS, _exception_detail),
    **dict.fromkeys(_WALL_CLOCK, _wall_clock),
}


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
    return _Formatter().vformat(str(text), args, kwargs)


def _format_map(text: str, mapping: Mapping[str, Any], /) -> str:
    return _Formatter().vformat(str(text), (), mapping)


_METHODS: dict[str, Callable[..., str]] = {"format": _format, "format_map": _format_map}


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
    if name.startswith("__") or name in INSPECT_ATTRIBUTES:
        raise NotAllowed(f"The attribute name {name!r} is reserved. Choose another.")


# built-in functions


def has_attribute(value: Any, name: str) -> bool:
    """`hasattr` for cells."""
    try:
        read_attribute(value, name)
    except (AttributeError, NotAllowed):
        return False
    return True


def kind_of(value: Any, /) -> type:
    """`type(x)` for cells: the one with three arguments would make classes."""
    if isinstance(value, (type, Sealed)):
        raise NotAllowed("The type of a class or module is not available. Use isinstance().")
    return type(value)


def public_names(value: Any, /) -> list[str]:
    """`dir(x)` for cells: public names only."""
    return [name for name in dir(value) if not name.startswith("_")]


def attributes(value: Any, /) -> dict[str, Any]:
    """`vars(x)` for cells: a copy, of objects whose class a cell has defined."""
    if isinstance(value, type) or type(value).__module__ != CELL_MODULE:
        raise NotAllowed("vars() works on objects of your own classes only. Try dir().")
    return {name: item for name, item in value.__dict__.items() if not name.startswith("__")}


def refusing(what: str, instead: str) -> Callable[..., Any]:
    """Return a function that tells its caller what to write instead."""

    def refuse(*_: Any, **__: Any) -> Any:
        raise NotAllowed(f"{what} is not available here. {instead}")

    return refuse


_PLAIN = (
    "abs all any ascii bin bool bytearray bytes callable chr classmethod complex dict divmod",
    "enumerate filter float format frozenset hash hex id int isinstance issubclass iter len list",
    "map max min next object oct ord pow print property range repr reversed round set slice",
    "sorted staticmethod str sum super tuple zip Ellipsis NotImplemented __build_class__",
)
_FILES = "Files of this world are read with apps.Files, if it is there."
_NAMESPACES = "Keep what you need in variables or a dict."

BUILTINS: dict[str, Any] = {
    **{name: getattr(builtins, name) for names in _PLAIN for name in names.split()},
    **{
        name: value
        for name, value in vars(builtins).items()
        if isinstance(value, type) and issubclass(value, BaseException)
    },
    "getattr": read_attribute,
    "hasattr": has_attribute,
    "setattr": set_attribute,
    "delattr": delete_attribute,
    "type": kind_of,
    "dir": public_names,
    "vars": attributes,
    "NotAllowed": NotAllowed,
    "open": refusing("open()", _FILES),
    "input": refusing(
        "input()", "Ask with apps.AgentUserInterface.send_message_to_user(content=...)."
    ),
    "eval": refusing("eval()", "Write the expression itself; json.loads reads data."),
    "exec": refusing("exec()", "Write the statements themselves."),
    "compile": refusing("compile()", "Write the statements themselves."),
    "globals": refusing("globals()", _NAMESPACES),
    "locals": refusing("locals()", _NAMESPACES),
    "memoryview": refusing("memoryview()", "Use bytes or a list."),
    "breakpoint": refusing("breakpoint()", "Use print()."),
}
"""What a cell finds without an import. `__import__` and `help` are added by the session."""
