"""Asks a person about a write that the agent has confirmed. Only a clear yes lets it through."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable

from runtime.contracts import Json, Value
from runtime.errors import UsageError

__all__ = ["Answer", "Ask", "Question", "ask_later", "ask_now"]


class Question(Value):
    """One write, as a person is asked about it."""

    function: str
    arguments: dict[str, Json]
    """Live values, secrets masked."""
    risks: tuple[str, ...] = ()
    """One sentence each."""


class Answer(Value):
    """What the person said. A denial is final for that call."""

    approved: bool
    reason: str = ""


Reply = bool | Answer
Ask = Callable[[Question], Reply | Awaitable[Reply]]


def ask_now(ask: Ask, question: Question) -> Answer:
    """Ask from code that cannot await. Raises `UsageError` where only `await` would do."""
    reply = ask(question)
    if not inspect.isawaitable(reply):
        return _answer(reply)
    if not _loop_is_running():
        return _answer(asyncio.run(_awaited(reply)))
    if inspect.iscoroutine(reply):
        reply.close()
    raise UsageError(
        "An async ask hook cannot serve a plain function while an event loop runs: make the "
        "function async, or the hook plain."
    )


async def ask_later(ask: Ask, question: Question) -> Answer:
    """Ask from async code; the hook may be plain or async."""
    reply = ask(question)
    return _answer(await reply if inspect.isawaitable(reply) else reply)


def _answer(reply: object) -> Answer:
    """Anything but a clear answer counts as none: silence must not mean yes."""
    if isinstance(reply, Answer):
        return reply
    if isinstance(reply, bool):
        return Answer(approved=reply)
    raise UsageError(f"The ask hook returned {reply!r}: return True, False or an Answer.")


async def _awaited(reply: Awaitable[Reply]) -> Reply:
    return await reply


def _loop_is_running() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True
