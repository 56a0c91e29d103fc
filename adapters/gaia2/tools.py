"""Describes ARE's tools: names, parameters, kinds, documentation. Runs in ARE's interpreter."""

from __future__ import annotations

import dataclasses
import inspect
import typing
from typing import Any

from adapters.gaia2.kinds import HIDDEN, kind_of

__all__ = ["agent_tools", "describe", "name_of"]

JSON_TYPES = {
    "str": "string",
    "int": "integer",
    "float": "number",
    "bool": "boolean",
    "list": "array",
    "dict": "object",
}


def agent_tools(app: Any) -> list[Any]:
    """Return the tools of an app that agents get."""
    hidden = HIDDEN if type(app).__name__ == "AgentUserInterface" else frozenset()
    return [tool for tool in app.get_tools() if name_of(tool) not in hidden]


def name_of(tool: Any) -> str:
    """Return a tool's function name, without its app."""
    return str(tool.name).partition("__")[2]


def describe(app: Any, tool: Any) -> dict[str, Any]:
    """Return one row of the table that the parent works with."""
    operation = getattr(tool.function, "__operation_type__", None)
    kind, reason = kind_of(
        type(app).__name__,
        name_of(tool),
        operation.value if operation is not None else None,
        type(app).__module__,
    )
    return {
        "app": app.name,
        "class": type(app).__name__,
        "function": name_of(tool),
        "kind": kind,
        "reason": reason,
        "parameters": [_parameter(item) for item in _named(tool)],
        "returns": str(tool.return_type or "Any").replace("NoneType", "None"),
        "text": _text(tool),
        "summary": (tool.function_description or "").strip().split("\n")[0],
    }


def _named(tool: Any) -> list[Any]:
    """Return the parameters that a call can name: not the `**kwargs` of the file tools."""
    known = inspect.signature(tool.function).parameters
    return [item for item in tool.args if known[item.name].kind.name != "VAR_KEYWORD"]


def _parameter(item: Any) -> dict[str, Any]:
    type_text = str(item.arg_type)
    words = [part.partition("[")[0].strip() for part in type_text.split("|")]
    named = [JSON_TYPES[word] for word in words if word in JSON_TYPES]
    return {
        "name": item.name,
        "type": "number" if set(named) == {"integer", "number"} else (named or ["any"])[0],
        "text": type_text,
        "required": not item.has_default,
        "default": item.default if _is_plain(item.default) else str(item.default),
        "has_default": bool(item.has_default),
    }


def _text(tool: Any) -> str:
    lines = [(tool.function_description or "").strip()]
    lines += [
        f"  {item.name}: {' '.join(item.description.split())}"
        for item in _named(tool)
        if item.description
    ]
    if tool.return_description:
        lines.append(f"Returns: {' '.join(tool.return_description.split())}")
    lines += [
        f"A {name} is a dict with the keys {', '.join(fields)}."
        for name, fields in _records(tool).items()
    ]
    return "\n".join(line for line in lines if line)


def _records(tool: Any) -> dict[str, list[str]]:
    """Return the record types in a tool's result with their public fields."""
    found: dict[str, list[str]] = {}
    try:
        waiting = [typing.get_type_hints(tool.function).get("return")]
    except (NameError, TypeError):
        return found  # a hint that names what is not there describes nothing
    while waiting:
        hint = waiting.pop()
        waiting += typing.get_args(hint)
        if isinstance(hint, type) and dataclasses.is_dataclass(hint) and hint.__name__ not in found:
            fields = dataclasses.fields(hint)
            found[hint.__name__] = [item.name for item in fields if not item.name.startswith("_")]
            waiting += [item.type for item in fields]
    return found


def _is_plain(value: object) -> bool:
    return value is None or isinstance(value, bool | int | float | str | list | dict)
