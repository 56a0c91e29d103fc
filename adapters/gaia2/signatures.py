"""One line a tool: its name, parameters, types and result, as Python would write them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = ["signature"]


def signature(row: Mapping[str, Any]) -> str:
    """Return `function(a: str, b: int = 0) -> list[str]` for a row of the tool table."""
    parameters = ", ".join(_parameter(item) for item in row["parameters"])
    return f"{row['function']}({parameters}) -> {row['returns']}"


def _parameter(item: Mapping[str, Any]) -> str:
    text = f"{item['name']}: {item['text']}"
    return f"{text} = {item['default']!r}" if item["has_default"] else text
