"""Reads what a provider answered: Anthropic, OpenAI chat, OpenAI responses, Google; JSON or SSE.

The providers' own documentation defines the shapes. A stream is first folded into the JSON that
the same call would have given without streaming.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from adapters.importing.sources import Row, as_count, as_list, as_row, tame, text_of
from adapters.importing.streams import fold, is_stream
from runtime.contracts import Json, Usage

__all__ = ["ForeignReply", "ToolUse", "Unreadable", "parse_reply", "read_prepared", "read_reply"]


BYTE_ORDER_MARK = "\ufeff"
CHAT_TOKENS = ("prompt_tokens", "completion_tokens")


class Unreadable(Exception):
    """A reply of no known shape. Its text says what was expected."""


@dataclass(frozen=True)
class ToolUse:
    """One tool call that a reply asks for."""

    name: str
    arguments: Json


@dataclass(frozen=True)
class ForeignReply:
    """One completion."""

    text: str
    tools: tuple[ToolUse, ...] = ()
    usage: Usage | None = None
    model: str = ""
    finish_reason: str = ""

    @property
    def says_something(self) -> bool:
        """Whether it holds text or asks for a tool."""
        return bool(self.text.strip() or self.tools)


def parse_reply(raw: str) -> ForeignReply:
    """Read a response body. Raises `Unreadable`."""
    raw = raw.removeprefix(BYTE_ORDER_MARK).lstrip()
    if is_stream(raw):
        return read_reply(tame(fold(raw)))
    try:
        body = json.loads(raw)
    except (ValueError, RecursionError) as error:
        raise Unreadable(f"expected a provider's JSON or event stream ({error})") from error
    return read_reply(tame(body))


def read_prepared(body: Row) -> ForeignReply:
    """Read a reply that its log has taken apart: content, tool_calls, usage, model."""
    calls = []
    for call in map(as_row, as_list(body.get("tool_calls"))):
        inner = as_row(call.get("function")) or call
        arguments = inner.get("arguments", inner.get("input"))
        calls.append(ToolUse(text_of(inner.get("name")), _json(arguments)))
    if not calls and not isinstance(body.get("content"), str | list):
        raise Unreadable("expected a `response` with `content` or `tool_calls`")
    spent = as_row(body.get("usage"))
    names = ("input_tokens", "output_tokens") if "input_tokens" in spent else CHAT_TOKENS
    return ForeignReply(
        text=_joined(body.get("content")),
        tools=tuple(calls),
        usage=_usage(spent, names, "prompt_tokens_details", "completion_tokens_details"),
        model=text_of(body.get("model")),
        finish_reason=text_of(body.get("finish_reason")),
    )


def read_reply(body: object) -> ForeignReply:
    """Read a parsed response body. Raises `Unreadable`."""
    if isinstance(body, list) and body and all(isinstance(part, dict) for part in body):
        body = fold("\n".join("data: " + json.dumps(part) for part in body))  # Google's stream
    if isinstance(body, dict):
        for key, reader in _READERS.items():
            if isinstance(body.get(key), list):
                return reader(body)
        if isinstance(body.get("error"), dict | str):
            raise Unreadable(
                f"expected a completion, found an error: {text_of(body['error'])[:300]}"
            )
    raise Unreadable(
        "expected a reply with `choices` (OpenAI chat), `output` (OpenAI responses), `content`"
        " (Anthropic) or `candidates` (Google)"
    )


def _chat(body: Row) -> ForeignReply:
    choice = _first(body["choices"])
    message = as_row(choice.get("message"))
    calls = [as_row(as_row(call).get("function")) for call in as_list(message.get("tool_calls"))]
    if older := as_row(message.get("function_call")):
        calls.append(older)
    return ForeignReply(
        text=_joined(message.get("content")),
        tools=tuple(
            ToolUse(text_of(call.get("name")), _json(call.get("arguments"))) for call in calls
        ),
        usage=_usage(
            body.get("usage"),
            CHAT_TOKENS,
            "prompt_tokens_details",
            "completion_tokens_details",
        ),
        model=text_of(body.get("model")),
        finish_reason=text_of(choice.get("finish_reason")),
    )


def _responses(body: Row) -> ForeignReply:
    items = [as_row(item) for item in as_list(body["output"])]
    texts = [_joined(item.get("content")) for item in items if item.get("type") == "message"]
    tools = [
        ToolUse(text_of(item.get("name")), _json(item.get("arguments")))
        for item in items
        if item.get("type") == "function_call"
    ]
    return ForeignReply(
        text="\n".join(text for text in texts if text),
        tools=tuple(tools),
        usage=_usage(
            body.get("usage"),
            ("input_tokens", "output_tokens"),
            "input_tokens_details",
            "output_tokens_details",
        ),
        model=text_of(body.get("model")),
        finish_reason=text_of(body.get("status")),
    )


def _anthropic(body: Row) -> ForeignReply:
    blocks = [as_row(block) for block in as_list(body["content"])]
    spent = as_row(body.get("usage"))
    cached = as_count(spent.get("cache_read_input_tokens"))
    read = as_count(spent.get("input_tokens")) + cached
    usage = Usage(
        input=read + as_count(spent.get("cache_creation_input_tokens")),
        cached=cached,
        output=as_count(spent.get("output_tokens")),
    )
    return ForeignReply(
        text=_joined([block for block in blocks if block.get("type") == "text"]),
        tools=tuple(
            ToolUse(text_of(block.get("name")), block.get("input"))
            for block in blocks
            if block.get("type") == "tool_use"
        ),
        usage=usage if spent else None,
        model=text_of(body.get("model")),
        finish_reason=text_of(body.get("stop_reason")),
    )


def _google(body: Row) -> ForeignReply:
    candidate = _first(body["candidates"])
    parts = [as_row(part) for part in as_list(as_row(candidate.get("content")).get("parts"))]
    calls = [as_row(part["functionCall"]) for part in parts if "functionCall" in part]
    spent = as_row(body.get("usageMetadata"))
    thoughts = as_count(spent.get("thoughtsTokenCount"))
    usage = Usage(
        input=as_count(spent.get("promptTokenCount")),
        cached=as_count(spent.get("cachedContentTokenCount")),
        output=as_count(spent.get("candidatesTokenCount")) + thoughts,
        reasoning=thoughts,
    )
    return ForeignReply(
        text="".join(text_of(part.get("text")) for part in parts if not part.get("thought")),
        tools=tuple(ToolUse(text_of(call.get("name")), call.get("args")) for call in calls),
        usage=usage if spent else None,
        model=text_of(body.get("modelVersion")),
        finish_reason=text_of(candidate.get("finishReason")),
    )


_READERS = {
    "choices": _chat,
    "output": _responses,
    "content": _anthropic,
    "candidates": _google,
}


def _usage(value: Json, counts: tuple[str, str], read: str, written: str) -> Usage | None:
    spent = as_row(value)
    if not spent:
        return None
    return Usage(
        input=as_count(spent.get(counts[0])),
        cached=as_count(as_row(spent.get(read)).get("cached_tokens")),
        output=as_count(spent.get(counts[1])),
        reasoning=as_count(as_row(spent.get(written)).get("reasoning_tokens")),
    )


def _joined(content: Any) -> str:
    """Return the text of a message's content, which is text or a list of parts."""
    if isinstance(content, list):
        return "\n".join(text_of(as_row(part).get("text")) for part in content)
    return text_of(content)


def _json(text: Any) -> Json:
    """Return a tool's arguments, which most providers send as JSON in a string."""
    if not isinstance(text, str):
        return text  # type: ignore[no-any-return]
    try:
        value: Json = json.loads(text)
    except (ValueError, RecursionError):
        return text
    return value


def _first(value: Any) -> Row:
    return as_row(value[0]) if isinstance(value, list) and value else {}
