"""Folds a provider's event stream into the JSON of the same reply without streaming.

A stream that was cut off gives what had arrived; a line that is no JSON is passed over.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from adapters.importing.sources import Row

__all__ = ["fold", "is_stream"]


def is_stream(raw: str) -> bool:
    """Whether a response body is an event stream."""
    return raw.lstrip().startswith(("data:", "event:", ":"))


def fold(raw: str) -> Row:
    """Return the reply that a stream adds up to, or {} if it says nothing."""
    events = list(_events(raw))
    if any("candidates" in event for event in events):
        return _google(events)
    if any("choices" in event for event in events):
        return _chat(events)
    if any(str(event.get("type")).startswith("response.") for event in events):
        return _responses(events)
    if any(event.get("type") == "message_start" for event in events):
        return _anthropic(events)
    return next((event for event in events if "error" in event), {})


def _events(raw: str) -> Iterator[Row]:
    for line in raw.split("\n"):  # `splitlines` would also split inside a text
        if line.startswith("data:"):
            try:
                event = json.loads(line[5:])
            except (ValueError, RecursionError):
                continue
            if isinstance(event, dict):
                yield event


def _chat(events: list[Row]) -> Row:
    message: dict[str, Any] = {"content": "", "tool_calls": []}
    whole: dict[str, Any] = {"choices": [{"message": message, "finish_reason": None}]}
    calls: dict[object, dict[str, Any]] = {}
    for event in events:
        whole.update({key: event[key] for key in ("model", "usage") if event.get(key)})
        for choice in _dicts(event.get("choices")):
            delta = choice.get("delta")
            if choice.get("finish_reason"):
                whole["choices"][0]["finish_reason"] = choice["finish_reason"]
            if not isinstance(delta, dict):
                continue
            message["content"] += _text(delta.get("content"))
            for call in _dicts(delta.get("tool_calls")):
                kept = calls.setdefault(str(call.get("index")), {"name": "", "arguments": ""})
                said = call.get("function")
                for key in kept:
                    kept[key] += _text(said.get(key)) if isinstance(said, dict) else ""
    message["tool_calls"] = [{"function": call} for call in calls.values()]
    return whole


def _responses(events: list[Row]) -> Row:
    ends = {"response.completed", "response.incomplete", "response.failed"}
    for event in events:
        if event.get("type") in ends and isinstance(event.get("response"), dict):
            return event["response"]  # type: ignore[return-value]
    items = [
        event.get("item") for event in events if event.get("type") == "response.output_item.done"
    ]
    if not items:
        deltas = [
            _text(event.get("delta"))
            for event in events
            if event.get("type") == "response.output_text.delta"
        ]
        items = [{"type": "message", "content": [{"text": "".join(deltas)}]}]
    return {"output": items, "status": "incomplete"}


def _anthropic(events: list[Row]) -> Row:
    whole: dict[str, Any] = {"content": [], "usage": {}}
    blocks: dict[str, dict[str, Any]] = {}
    for event in events:
        kind = event.get("type")
        if kind == "message_start" and isinstance(message := event.get("message"), dict):
            whole["model"] = message.get("model")
            whole["usage"].update(_dict(message.get("usage")))
        elif kind == "content_block_start":
            block = _dict(event.get("content_block"))
            blocks[str(event.get("index"))] = {
                **block,
                "text": _text(block.get("text")),
                "json": "",
            }
        elif kind == "content_block_delta":
            block = blocks.setdefault(
                str(event.get("index")), {"type": "text", "text": "", "json": ""}
            )
            delta = _dict(event.get("delta"))
            block["text"] += _text(delta.get("text"))
            block["json"] += _text(delta.get("partial_json"))
        elif kind == "message_delta":
            whole["stop_reason"] = _dict(event.get("delta")).get("stop_reason")
            whole["usage"].update(_dict(event.get("usage")))
    for block in blocks.values():
        if block["json"]:
            block["input"] = _parsed(block["json"])
    whole["content"] = list(blocks.values())
    return whole


def _google(events: list[Row]) -> Row:
    parts: list[object] = []
    whole: dict[str, Any] = {"candidates": [{"content": {"parts": parts}}]}
    for event in events:
        kept = ("usageMetadata", "modelVersion")
        whole.update({key: event[key] for key in kept if event.get(key)})
        for candidate in _dicts(event.get("candidates"))[:1]:
            content = _dict(candidate.get("content"))
            parts += _dicts(content.get("parts"))
            if candidate.get("finishReason"):
                whole["candidates"][0]["finishReason"] = candidate["finishReason"]
    return whole


def _parsed(text: str) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _dict(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _dicts(value: object) -> list[dict[str, Any]]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []
