"""Tool calls in the shape of OpenAI's chat completions: read them, and word their answers."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from injectors.around.tools import as_json
from runtime.contracts import Json
from runtime.errors import UsageError

__all__ = ["ToolRequest", "requests_of", "tool_message"]


@dataclass(frozen=True)
class ToolRequest:
    """One tool call as the model made it."""

    id: str
    name: str
    arguments: dict[str, Json]
    problem: str = ""
    """Why the arguments cannot be read, for the model; then there are none."""


def requests_of(reply: object) -> list[ToolRequest]:
    """Return the tool calls of an assistant message, or of a list of tool calls.

    Raises `UsageError` for what is neither.
    """
    data = _plain(reply)
    calls = data.get("tool_calls") or [] if isinstance(data, Mapping) else data
    if not isinstance(calls, list | tuple):
        raise UsageError("Pass an assistant message or its tool_calls: this is neither.")
    return [_request(_plain(call)) for call in calls]


def tool_message(request: ToolRequest, content: object) -> dict[str, str]:
    """Return the message that answers a tool call."""
    text = content if isinstance(content, str) else json.dumps(as_json(content), ensure_ascii=False)
    return {"role": "tool", "tool_call_id": request.id, "content": text}


def _request(call: Any) -> ToolRequest:  # noqa: ANN401
    try:
        id_, function = str(call["id"]), call["function"]
        name, text = str(function["name"]), function.get("arguments") or "{}"
    except (KeyError, TypeError, AttributeError):
        raise UsageError(
            "A tool call needs id and function {name, arguments}, as in chat completions."
        ) from None
    try:
        arguments = json.loads(text) if isinstance(text, str) else text
    except (ValueError, RecursionError) as error:
        return ToolRequest(id_, name, {}, f"The arguments are no JSON: {error}.")
    if not isinstance(arguments, dict):
        return ToolRequest(id_, name, {}, "The arguments are no JSON object.")
    return ToolRequest(id_, name, arguments)


def _plain(value: Any) -> Any:  # noqa: ANN401
    """Return an API object as the dict it stands for."""
    return value.model_dump() if hasattr(value, "model_dump") else value
