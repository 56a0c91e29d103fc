"""Tool calls, and what became of them, for the tests of the guard."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any


def tool_call(n: int, name: str, arguments: object) -> dict[str, object]:
    text = arguments if isinstance(arguments, str) else json.dumps(arguments)
    return {"id": f"call_{n}", "type": "function", "function": {"name": name, "arguments": text}}


def reply(*calls: dict[str, object]) -> dict[str, object]:
    return {"role": "assistant", "content": None, "tool_calls": [*calls]}


def contents(messages: list[dict[str, str]]) -> list[Any]:
    return [json.loads(message["content"]) for message in messages]


def lines(log: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in log.read_text().splitlines()]


def decisions(log: Path) -> list[str]:
    return [line["decision"] for line in lines(log)]
