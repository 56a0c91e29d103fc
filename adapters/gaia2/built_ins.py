"""The built-in functions as cells get them. Runs in the cell process."""

from __future__ import annotations

import builtins
import typing
from collections.abc import Callable
from typing import Any

from adapters.gaia2.guards import (
    CELL_MODULE,
    NotAllowed,
    Sealed,
    delete_attribute,
    kind_of,
    read_attribute,
    set_attribute,
)

__all__ = ["BUILTINS", "TYPE", "refusing"]

_MISSING = object()


def has_attribute(value: Any, name: str) -> bool:
    """`hasattr` for cells."""
    try:
        read_attribute(value, name)
    except (AttributeError, NotAllowed):
        return False
    return True


class _Type(Sealed):
    """`type` and `typing.Type` for cells: a call, a question and an annotation, but no base."""

    __slots__ = ()

    def __call__(self, value: Any, /) -> type:
        return kind_of(value)

    def __instancecheck__(self, value: Any) -> bool:
        return isinstance(value, type)

    def __subclasscheck__(self, kind: Any) -> bool:
        return issubclass(kind, type)

    def __getitem__(self, kind: Any) -> _Type:
        return self  # the library's own would hand on `type.mro`

    def __or__(self, other: Any) -> Any:
        return typing.Union[self, other]  # noqa: UP007 - `self | other` is this very method

    __ror__ = __or__

    def __mro_entries__(self, bases: tuple[Any, ...]) -> tuple[type, ...]:
        raise NotAllowed("A class of classes is not available. Write a class decorator.")

    def __repr__(self) -> str:
        return repr(type)


TYPE = _Type()


def public_names(value: Any = _MISSING, /) -> list[str]:
    """`dir(x)` for cells: public names only."""
    if value is _MISSING:
        raise NotAllowed(f"dir() of the cell is not available here. {_NAMESPACES}")
    return [name for name in dir(value) if not name.startswith("_")]


def refusing(what: str, instead: str) -> Callable[..., Any]:
    """Return a function that tells its caller what to write instead."""

    def refuse(*_: Any, **__: Any) -> Any:
        raise NotAllowed(f"{what} is not available here. {instead}")

    return refuse


class _Attributes(dict[str, Any]):
    """A copy of an object's attributes. It refuses changes, which the object would not see."""

    __slots__ = ()

    __setitem__ = __delitem__ = __ior__ = clear = pop = popitem = setdefault = update = refusing(
        "Writing to vars(value)", "It is a copy to read; setattr(value, name, item) sets one."
    )

    def __reduce__(self) -> tuple[Any, ...]:
        return dict, (dict(self),)  # what `copy` makes of it can be changed


def attributes(value: Any = _MISSING, /) -> dict[str, Any]:
    """`vars(x)` for cells: a copy to read, of objects whose class a cell has defined."""
    if value is _MISSING:
        raise NotAllowed(f"vars() of the cell is not available here. {_NAMESPACES}")
    if isinstance(value, type) or type(value).__module__ != CELL_MODULE:
        raise NotAllowed("vars() works on objects of your own classes only. Try dir().")
    return _Attributes(item for item in value.__dict__.items() if not item[0].startswith("__"))


_PLAIN = (
    "abs all any ascii bin bool bytearray bytes callable chr classmethod complex dict divmod",
    "enumerate filter float format frozenset hex int isinstance issubclass iter len list",
    "map max min next object oct ord pow print property range repr reversed round set slice",
    "sorted staticmethod str sum super tuple zip Ellipsis NotImplemented __build_class__",
)
_FILES = "Files of this world are read with apps.Files, if it is there."
_NAMESPACES = (
    "Variables stay between cells: use them by name, and keep what you look up by name in a dict."
    " To see whether there is one, write try: x, except NameError: ..."
)
_ENDING = "A cell ends by itself after its last line; return ends a function, break a loop."

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
    "type": TYPE,
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
    "exit": refusing("exit()", _ENDING),
    "quit": refusing("quit()", _ENDING),
}
"""What a cell finds without an import. The session adds `__import__`, `help`, `id` and `hash`."""
