"""Reads the conversation in a provider's request, in the shapes of the four providers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from adapters.importing.sources import Row, text_of

__all__ = ["Said", "conversation", "news"]

Role = Literal["system", "user", "assistant", "tool"]
ROLES: dict[str, Role] = {
    "system": "system",
    "developer": "system",
    "assistant": "assistant",
    "model": "assistant",
    "tool": "tool",
    "function": "tool",
}


@dataclass(frozen=True)
class Said:
    """One message: what a tool gave back counts as one."""

    role: Role
    text: str


def conversation(request: object) -> tuple[Said, ...]:
    """Return the messages of a request body; () if it has none."""
    if isinstance(request, list):
        request = {"messages": request}
    if not isinstance(request, dict):
        return ()
    orders = (_texts(request.get(key)) for key in ("system", "instructions", "systemInstruction"))
    said = [Said("system", text) for text in orders if text]
    turns = request.get("messages") or request.get("input") or request.get("contents")
    if isinstance(turns, str):
        said.append(Said("user", text_of(turns)))
    for turn in turns if isinstance(turns, list) else ():
        if isinstance(turn, dict):
            said += _turn(turn)
    return tuple(said)


def news(before: tuple[Said, ...], after: tuple[Said, ...]) -> tuple[Said, ...]:
    """Return what a conversation added since the call before."""
    same = 0
    while same < min(len(before), len(after)) and before[same] == after[same]:
        same += 1
    return after[same:]


def _turn(turn: Row) -> list[Said]:
    if turn.get("type") == "function_call_output":
        return [Said("tool", _texts(turn.get("output")))]
    if turn.get("type") in {"function_call", "reasoning"}:
        return []
    role = ROLES.get(text_of(turn.get("role")), "user")
    content = turn.get("parts", turn.get("content"))
    parts = content if isinstance(content, list) else [content]
    said = [Said("tool", _result(part)) for part in _dicts(parts) if _is_result(part)]
    rest = [part for part in parts if not (isinstance(part, dict) and _is_result(part))]
    if text := _texts(rest):
        said.append(Said(role, text))
    return said


def _is_result(part: Row) -> bool:
    return part.get("type") == "tool_result" or "functionResponse" in part


def _result(part: Row) -> str:
    response = part.get("functionResponse")
    if isinstance(response, dict):
        return text_of(response.get("response"))
    return _texts(part.get("content"))


def _texts(content: Any) -> str:
    """Return the text in a content: text, a part, a list of parts, or any other value."""
    if isinstance(content, list):
        return "\n".join(filter(None, map(_texts, content)))
    if isinstance(content, dict):
        if "text" in content:
            return text_of(content["text"])
        if "parts" in content:
            return _texts(content["parts"])
        known = {"tool_use", "thinking", "redacted_thinking", "image", "image_url", "input_image"}
        if content.get("type") in known or "functionCall" in content:
            return ""
    return text_of(content)


def _dicts(value: Any) -> list[Row]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []
