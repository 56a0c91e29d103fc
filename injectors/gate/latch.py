"""When two calls are the same call: one canonical form of function, arguments and account.

The form is deliberately blind to what a model changes without meaning to: 25, 25.0 and "25" for a
number, the order of keys, blanks around a text, arguments the function does not have, defaults
written out, and a fresh access token of the same account.
"""

from __future__ import annotations

import base64
import binascii
import json
import re
from typing import NamedTuple

from runtime.catalogue import Function, Parameter
from runtime.contracts import Json, ToolCall

__all__ = ["CallKey", "call_key", "known_arguments"]

_INTEGER = re.compile(r"[+-]?\d{1,400}")
_DECIMAL = re.compile(r"[+-]?(\d{1,400}\.\d{0,400}|\.\d{1,400}|\d{1,400})([eE][+-]?\d{1,5})?")
_EXACT = 2**53
"""Up to here a float and an integer of equal value are one number."""


class CallKey(NamedTuple):
    """A call without what may differ between two equal ones."""

    function: str
    arguments: str
    """Canonical JSON."""
    account: str | None


def call_key(call: ToolCall, function: Function | None) -> CallKey:
    """Return the canonical form of a call. An unknown function keeps all its arguments."""
    canonical: dict[str, Json] = {}
    for name, value in known_arguments(call, function).items():
        parameter = function.by_parameter.get(name) if function else None
        form = _canonical(value, parameter.type if parameter else "any", name)
        if parameter is None or form != _default(parameter):
            canonical[name] = form
    return CallKey(call.function, json.dumps(canonical, sort_keys=True), call.account)


def known_arguments(call: ToolCall, function: Function | None) -> dict[str, Json]:
    """Return the arguments that the function has: worlds ignore the others."""
    if function is None:
        return dict(call.arguments)
    return {name: value for name, value in call.arguments.items() if name in function.by_parameter}


def _default(parameter: Parameter) -> Json | object:
    """Return the canonical default, or something that equals no argument."""
    if not parameter.has_default:
        return _NO_DEFAULT
    return _canonical(parameter.default, parameter.type, parameter.name)


_NO_DEFAULT = object()


def _canonical(value: Json, type_: str, name: str = "") -> Json:
    if isinstance(value, str):
        return _canonical_text(value.strip(), type_, name)
    if isinstance(value, bool) or value is None:
        return value
    if isinstance(value, int | float):
        number = _one_number(value)
        return json.dumps(number) if type_ == "string" else number
    if isinstance(value, dict):
        return {str(key).strip(): _canonical(item, "any") for key, item in value.items()}
    return [_canonical(item, "any") for item in value]


def _canonical_text(text: str, type_: str, name: str) -> Json:
    if type_ in {"integer", "number"}:
        return _number_in(text)
    if type_ == "boolean" and text.lower() in {"true", "false"}:
        return text.lower() == "true"
    if name.endswith("access_token"):
        return _subject(text)
    return text


def _number_in(text: str) -> Json:
    if _INTEGER.fullmatch(text):
        return _one_number(int(text))
    if _DECIMAL.fullmatch(text):
        return _one_number(float(text))
    return text


def _one_number(value: float) -> int | float:
    if isinstance(value, float) and value.is_integer() and abs(value) < _EXACT:
        return int(value)
    return value


def _subject(token: str) -> str:
    """Return the account inside a JSON web token, or the token where it is none."""
    parts = token.split(".")
    if len(parts) != 3:
        return token
    padded = parts[1] + "=" * (-len(parts[1]) % 4)
    try:
        claims = json.loads(base64.urlsafe_b64decode(padded))
    except (ValueError, binascii.Error, RecursionError):
        return token
    subject = claims.get("sub") if isinstance(claims, dict) else None
    return subject if isinstance(subject, str) else token
