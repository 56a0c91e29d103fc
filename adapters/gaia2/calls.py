"""Reads a cell's request as a call of a tool, in canonical form, or refuses it with words.

A call is bound to the tool's parameters and its arguments' types are checked here, before the gate
or the world see it: what has a wrong name or type is no call, writes nothing and is not judged.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from adapters.gaia2.kinds import kind_of_call
from adapters.gaia2.signatures import signature
from adapters.gaia2.stubs import Doc
from runtime.bridge.wire import Frame
from runtime.bridge.world import Route, Unrouted
from runtime.catalogue import Catalogue, Function, Parameter
from runtime.contracts import CallResult, Json, Kind

__all__ = ["Tools"]

DEEPEST = 64
"""Levels of lists and dicts in one call's arguments: far fewer than what validation can follow."""
PYTHON_TYPES: dict[str, tuple[type, ...]] = {
    "str": (str,),
    "int": (int,),
    "float": (int, float),
    "bool": (bool,),
    "list": (list,),
    "dict": (dict,),
    "None": (type(None),),
    "NoneType": (type(None),),
}


class Tools:
    """Implements `runtime.bridge.world.Wiring` over a table of ARE's tools."""

    def __init__(self, rows: Iterable[Mapping[str, Any]]) -> None:
        """`rows`: the table as the world process describes it."""
        self.rows = {f"{row['app']}.{row['function']}": dict(row) for row in rows}
        self.catalogue = Catalogue(_function(name, row) for name, row in self.rows.items())

    def docs(self) -> list[Doc]:
        """Return what cells are told about the tools."""
        return [
            {
                "name": name,
                "signature": signature(row),
                "parameters": [item["name"] for item in row["parameters"]],
                "text": row["text"],
            }
            for name, row in self.rows.items()
        ]

    def kind(self, function: str, arguments: Mapping[str, Json]) -> Kind:
        """Classify a call; WRITE for an unknown function."""
        row = self.rows.get(function)
        if row is None:
            return Kind.WRITE
        return Kind(kind_of_call(row["kind"], row["reason"], arguments))

    def route(self, frame: Frame) -> Route | Unrouted:
        """Read a hostile frame."""
        function, arguments = str(frame.get("function"))[:200], frame.get("arguments")
        row = self.rows.get(function)
        if row is None or not isinstance(arguments, dict):
            return _refused(function, "AttributeError", f"There is no function {function}.")
        if _too_deep(arguments):
            return _refused(function, "ValueError", "the arguments are nested too deeply.")
        if problem := _problem(row, arguments):
            return _refused(function, "TypeError", problem)
        order = [item["name"] for item in row["parameters"]]
        bound = {name: arguments[name] for name in order if name in arguments}
        return Route(
            function=function,
            arguments=bound,
            kind=self.kind(function, bound),
            frame={"function": function, "arguments": bound},
        )

    def result(self, reply: Frame) -> CallResult:
        """Read the world's reply."""
        if "exception" in reply:
            return CallResult(ok=False, value=": ".join(reply["exception"][1:]), reply=reply)
        if "raise" in reply:
            return CallResult(ok=False, value=str(reply["raise"]), reply=reply)
        return CallResult(ok=True, value=reply.get("value"), reply=reply)


def _function(name: str, row: Mapping[str, Any]) -> Function:
    fields = ("name", "type", "required", "default", "has_default")
    parameters = tuple(
        Parameter.model_validate({field: item[field] for field in fields})
        for item in row["parameters"]
    )
    return Function(name=name, kind=Kind(row["kind"]), reason=row["reason"], parameters=parameters)


def _problem(row: Mapping[str, Any], arguments: Mapping[str, Any]) -> str:
    """Return what is wrong with a call's arguments, or "" if nothing is."""
    parameters = {item["name"]: item for item in row["parameters"]}
    for name in arguments:
        if name not in parameters:
            return f"got an unexpected argument {name!r}. It is: {signature(row)}"
    for name, item in parameters.items():
        if name not in arguments:
            if item["required"]:
                return f"the argument {name!r} is missing. It is: {signature(row)}"
        elif not _fits(arguments[name], item["text"]):
            kind = type(arguments[name]).__name__
            return f"Argument {name!r} must be of type {item['text']}, got {kind}."
    return ""


def _fits(value: object, type_text: str) -> bool:
    """Tell whether a value is of a type as ARE writes it: `str`, `list[str] | None`, ..."""
    options = [option.strip() for option in type_text.split("|")]
    return any(_fits_one(value, option) for option in options)


def _fits_one(value: object, option: str) -> bool:
    outer, _, inner = option.partition("[")
    accepted = PYTHON_TYPES.get(outer)
    if accepted is None:
        return True  # a type that JSON has no word for: the tool itself decides
    if isinstance(value, bool) and bool not in accepted:
        return False
    if not isinstance(value, accepted):
        return False
    if isinstance(value, list) and re.fullmatch(r"\w+\]", inner):
        return all(_fits_one(item, inner[:-1]) for item in value)
    return True


def _too_deep(value: object, room: int = DEEPEST) -> bool:
    if room == 0:
        return True
    items = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return any(_too_deep(item, room - 1) for item in items)


def _refused(function: str, error: str, words: str) -> Unrouted:
    return Unrouted(request=function, reason=words, reply={"exception": ["builtins", error, words]})
