"""Runs a tool to its end: awaits what there is to await, reads out what there is to read.

A call whose end is not seen has an unknown outcome: it may have been made.
"""

from __future__ import annotations

import inspect
from collections.abc import AsyncIterator, Iterator
from typing import Any

from injectors.around.refusals import words_of
from injectors.around.tools import Tool
from runtime.errors import UsageError

__all__ = ["is_stream", "leaves_open", "read_out", "read_out_later", "run_later", "run_now"]

_LOST = {
    "ChunkedEncodingError",
    "ClientConnectionError",
    "ConnectionError",
    "EOFError",
    "NetworkError",
    "RemoteProtocolError",
}
"""A connection that broke off, as Python, requests, httpx and aiohttp name it."""
_NEVER_SENT = {
    "ClientConnectorError",
    "ConnectError",
    "ConnectionRefusedError",
    "NewConnectionError",
}
"""A connection that never came about."""


class Unawaited(UsageError):
    """A plain call gave something to await, which plain code cannot do."""

    def __init__(self, name: str, value: object) -> None:
        super().__init__(
            f"{name} returned a {type(value).__name__}, which plain code cannot await or read out, "
            "so its outcome is unknown: make the function `async def`, or use "
            "`await guard.answer_async(...)`."
        )


def run_now(tool: Tool, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:  # noqa: ANN401
    """Call a tool from plain code. Raises `UsageError` for a result that is to be awaited."""
    value = tool.run(*args, **kwargs)
    if not inspect.isawaitable(value):
        return value
    if inspect.iscoroutine(value):
        value.close()
    raise Unawaited(tool.name, value)


async def run_later(tool: Tool, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:  # noqa: ANN401
    """Call a tool of either kind from async code."""
    value = tool.run(*args, **kwargs)
    return await value if inspect.isawaitable(value) else value


def is_stream(value: object) -> bool:
    """Say whether a result can be read only once, so that only one may read it."""
    return isinstance(value, Iterator | AsyncIterator)


def read_out(tool: Tool, value: object) -> object:
    """Return the items of a result that comes in parts. Raises `UsageError` for an async one."""
    if isinstance(value, AsyncIterator):
        raise Unawaited(tool.name, value)
    return list(value) if isinstance(value, Iterator) else value


async def read_out_later(value: object) -> object:
    """Do the same in async code, for either kind."""
    if isinstance(value, AsyncIterator):
        return [item async for item in value]
    return list(value) if isinstance(value, Iterator) else value


def leaves_open(error: Exception) -> bool:
    """Say whether a call that ended with this error may have been made all the same."""
    kinds = {kind.__name__ for kind in type(error).__mro__}
    if kinds & _NEVER_SENT or "connection refused" in words_of(error).lower():
        return False
    timed_out = any("timeout" in kind.lower() for kind in kinds)
    return timed_out or bool(kinds & _LOST) or isinstance(error, Unawaited)
