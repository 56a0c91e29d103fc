"""Which names a cell may use, of variables, methods, attributes and fields, and what instead.

Runs in the cell process. Names with one leading underscore are the cell's own business, and so are
those with two, which Python gives to the class they are written in. Dunders and names such as
`_getattr_`, which the guards use, are not.
"""

from __future__ import annotations

import keyword
import re

from RestrictedPython.transformer import INSPECT_ATTRIBUTES

__all__ = [
    "EXCEPTION_DUNDERS",
    "INSPECT_ATTRIBUTES",
    "NAMEDTUPLE_API",
    "OWN_METHODS",
    "READABLE_DUNDERS",
    "WATCHED",
    "attribute_refusal",
    "field_refusal",
    "mangled",
    "method_refusal",
    "name_refusal",
    "pattern_refusal",
]

READABLE_DUNDERS = frozenset({"__class__", "__doc__", "__name__", "__qualname__", "__members__"})
"""Dunder attributes that give away a name, a type or an enum's members, and nothing else."""
EXCEPTION_DUNDERS = frozenset({"__cause__", "__context__", "__notes__"})
"""Dunder attributes of an exception that lead to exceptions and texts only."""
NAMEDTUPLE_API = frozenset({"_asdict", "_replace", "_fields", "_make"})
WATCHED = frozenset(
    {"format", "format_map", "now", "today", "utcnow", "register", "mro"}
    | {"evaluate", "obj", "with_traceback"}
)
"""Attributes whose value the guards look at, so that nothing may read them without the guards."""
OWN_METHODS = frozenset(
    f"__{name}__"
    for names in (
        "init post_init str repr hash bool len iter next contains call enter exit reversed",
        "getitem setitem delitem missing format eq ne lt le gt ge neg pos abs invert",
        "add radd iadd sub rsub isub mul rmul imul matmul truediv rtruediv itruediv",
        "floordiv rfloordiv ifloordiv mod rmod imod divmod pow rpow and rand iand or ror ior",
        "xor rxor ixor lshift rshift int float complex index round trunc floor ceil bytes",
    )
    for name in names.split()
)
"""Dunder methods a class may define and call on `super()`: none decides how attributes are found,
classes are made or objects are copied."""
ENUM_METHODS = frozenset({"_missing_", "_generate_next_value_"})
"""Methods that an enum may define."""

_RESERVED = re.compile(r"_\w*_")
_INSTEAD_OF_ATTRIBUTE = {
    "__dict__": "vars(value) gives a copy to read; setattr(value, name, item) sets one.",
    "__setattr__": (
        "Write setattr(value, name, item). In a frozen dataclass leave out frozen=True, or compute"
        " the value before."
    ),
    "__traceback__": "traceback.format_exc() words the exception that is being handled.",
    "__annotations__": "dataclasses.fields(value) lists the fields of a dataclass.",
    "__new__": "Write an __init__, or a function that makes the object.",
}
_INSTEAD_OF_METHOD = {
    "__new__": "Write an __init__, or a function that makes the object.",
    "__del__": "Write a context manager.",
    "__getattr__": "Write a method, or a property for each name.",
    "__setattr__": "Write a method, or a property with a setter.",
}


def name_refusal(name: str) -> str:
    """Return why a variable may not have this name, or ""."""
    if not name.strip("_"):
        return ""  # "_" and "__", for what is thrown away
    if _RESERVED.fullmatch(name):
        return f'the name "{name}" is reserved. Choose one without underscores around it.'
    if name in INSPECT_ATTRIBUTES:
        return f'the name "{name}" is reserved. Choose another.'
    return ""


def method_refusal(name: str) -> str:
    """Return why a function or a method may not have this name, or ""."""
    if name in OWN_METHODS or name in ENUM_METHODS:
        return ""
    if name.startswith("__") and _RESERVED.fullmatch(name) and name.strip("_"):
        instead = _INSTEAD_OF_METHOD.get(name, "Leave it out.")
        return f'the method "{name}" is not available. {instead}'
    return name_refusal(name)


def attribute_refusal(name: str, *, reading: bool) -> str:
    """Return why an attribute of this name may not be read or written, or ""."""
    if name in INSPECT_ATTRIBUTES:
        return f'".{name}" reaches into the interpreter and is not available.'
    if name.startswith("__"):
        if reading and name in READABLE_DUNDERS | EXCEPTION_DUNDERS | OWN_METHODS:
            return ""
        if not _RESERVED.fullmatch(name):
            return f'".{name}" belongs to the class it is written in. Use one underscore.'
        instead = _INSTEAD_OF_ATTRIBUTE.get(name, "Use a public method or function.")
        return f'".{name}" is not available. {instead}'
    if name != "_" and _RESERVED.fullmatch(name):
        return f'the attribute name ".{name}" is reserved. Choose another.'
    return ""


def pattern_refusal(name: str) -> str:
    """Return why a `match` pattern, which Python reads without the guards, may not read a name."""
    if name.startswith("_") or name in INSPECT_ATTRIBUTES or name in WATCHED:
        return f'a pattern may not read ".{name}". Capture the object: case x if x.{name} == ...:'
    return ""


def field_refusal(name: str) -> str:
    """Return why a field, which library code reads and writes into source, may not have a name."""
    if not name.isidentifier() or keyword.iskeyword(name):
        return f"the field name {name!r} is no name. Choose a plain one."
    if name.startswith("__") or name in INSPECT_ATTRIBUTES or name in WATCHED:
        return f'the field name "{name}" is reserved. Choose another, such as "the_{name}".'
    return ""


def mangled(name: str, class_name: str | None) -> str:
    """Return an attribute's name as Python stores it where it is written: `_Class__name`."""
    owner = (class_name or "").lstrip("_")
    return f"_{owner}{name}" if owner and name[:2] == "__" and name[-2:] != "__" else name
