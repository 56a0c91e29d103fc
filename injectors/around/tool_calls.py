"""Tool calls in the shape of OpenAI's chat completions: read them, and word their answers."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Any

from injectors.around.describe import as_json
from runtime.contracts import Json
from runtime.errors import UsageError

__all__ = ["Answers", "ToolRequest", "requests_of"]

_CUT_SHORT = {"error": "Interrupted: the call may have been made. Read it back before going on."}
_NOT_BEGUN = {"executed": False, "error": "Not made: the turn was interrupted before this call."}


@dataclass(frozen=True)
class ToolRequest:
    """One tool call as the model made it."""

    id: str
    name: str
    arguments: dict[str, Json]
    problem: str = ""
    """Why the arguments cannot be read, for the model; then there are none."""


class Answers:
    """The tool messages of one reply: one for each call, even if the reply is cut short."""

    def __init__(self, requests: Sequence[ToolRequest], into: list[Any]) -> None:
        """Each message is put `into` the conversation too, as soon as there is one."""
        self._requests, self._into = requests, into
        self.messages: list[dict[str, str]] = []

    def add(self, content: object) -> None:
        """Answer the next call."""
        message = _tool_message(self._requests[len(self.messages)], content)
        self.messages.append(message)
        self._into.append(message)

    def __enter__(self) -> Answers:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if len(self.messages) < len(self._requests):
            self.add(_CUT_SHORT)
        while len(self.messages) < len(self._requests):
            self.add(_NOT_BEGUN)


def requests_of(reply: object) -> list[ToolRequest]:
    """Return the tool calls of an assistant message, or of a list of tool calls.

    Raises `UsageError` for what is neither.
    """
    data = _plain(reply)
    calls = data.get("tool_calls") or [] if isinstance(data, Mapping) else data
    if not isinstance(calls, list | tuple):
        raise UsageError("Pass an assistant message or its tool_calls: this is neither.")
    return [_request(_plain(call)) for call in calls]


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


def _tool_message(request: ToolRequest, content: object) -> dict[str, str]:
    text = content if isinstance(content, str) else json.dumps(as_json(content), ensure_ascii=False)
    return {"role": "tool", "tool_call_id": request.id, "content": text}


def _plain(value: Any) -> Any:  # noqa: ANN401
    """Return an API object as the dict it stands for."""
    return value.model_dump() if hasattr(value, "model_dump") else value
