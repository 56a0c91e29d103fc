"""Folds a provider's event stream into the JSON of the same reply without streaming.

A stream that was cut off gives what had arrived; a line that is no JSON is passed over.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from adapters.importing.sources import Row

__all__ = ["fold", "is_stream"]


FIELD = re.compile(r"(?:data|event|id|retry)?:")
"""How a line of an event stream begins, by its specification; a comment has no name."""
ENDS = {"response.completed", "response.incomplete", "response.failed"}
GROWING = {
    "response.output_text.delta": ("message", "text"),
    "response.function_call_arguments.delta": ("function_call", "arguments"),
}
"""Events of an OpenAI response that add to an item: the item's type, the field that grows."""


def is_stream(raw: str) -> bool:
    """Whether a response body is an event stream."""
    return FIELD.match(raw) is not None


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
            older = {"index": "older form", "function": delta.get("function_call")}
            for call in [*_dicts(delta.get("tool_calls")), older]:
                if said := _dict(call.get("function")):
                    kept = calls.setdefault(str(call.get("index")), {"name": "", "arguments": ""})
                    for key in kept:
                        kept[key] += _text(said.get(key))
    message["tool_calls"] = [{"function": call} for call in calls.values()]
    return whole


def _responses(events: list[Row]) -> Row:
    whole: dict[str, Any] = {}
    for event in events:
        whole.update(_dict(event.get("response")))  # the last one says most
    if not any(event.get("type") in ENDS for event in events):
        whole["status"] = "incomplete"
    whole["output"] = whole.get("output") or _items(events)
    return whole


def _items(events: list[Row]) -> list[dict[str, Any]]:
    """Return a response's items, those that were cut off before they were done too."""
    items: list[dict[str, Any]] = []
    growing: dict[str, dict[str, Any]] = {}
    for event in events:
        kind, place = str(event.get("type")), str(event.get("output_index"))
        if kind == "response.output_item.added":
            growing[place] = dict(_dict(event.get("item")))
            items.append(growing[place])
        elif kind == "response.output_item.done":
            if (item := growing.pop(place, None)) is None:
                items.append(item := {})
            item.clear()
            item.update(_dict(event.get("item")))
        elif kind in GROWING:
            item_type, field = GROWING[kind]
            if place not in growing:
                items.append(growing.setdefault(place, {"type": item_type}))
            growing[place][field] = _text(growing[place].get(field)) + _text(event.get("delta"))
    for item in growing.values():
        if "text" in item:
            item["content"] = [{"text": item["text"]}]
    return items


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
