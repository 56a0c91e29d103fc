"""Every call of a reply gets its answer, whatever goes wrong: nothing done stays unknown."""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from around_samples import contents, decisions, reply, tool_call

from injectors.around.asking import Question
from injectors.around.guard import Guard, WriteStopped
from injectors.gate.risks import Risk
from injectors.gate.situation import Situation
from runtime.errors import UsageError

PAYMENTS = reply(*(tool_call(n, "pay", {"amount": n}) for n in (1, 2, 3)))


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / "audit.jsonl"


class Till:
    """`paid` is what really happened."""

    def __init__(self) -> None:
        self.paid: list[int] = []
        self.error: BaseException | None = None
        """Raised after the second payment."""

    def pay(self, amount: int) -> str:
        self.paid.append(amount)
        if self.error is not None and amount == 2:
            raise self.error
        return f"paid {amount}"

    async def pay_later(self, amount: int) -> str:
        await asyncio.sleep(0)
        return self.pay(amount)

    def pay_promised(self, amount: int) -> Awaitable[str]:
        return self.pay_later(amount)


@pytest.fixture
def till() -> Till:
    return Till()


def texts(messages: list[dict[str, str]]) -> list[str]:
    return [message["content"] for message in messages]


# --- failures around one call of several


def test_a_hook_that_raises_loses_no_result(till: Till, log: Path) -> None:
    def ask(question: Question) -> bool:
        if question.arguments["amount"] == 2:
            raise TimeoutError("nobody is there")
        return True

    guard = Guard([till.pay], ask=ask, audit=log)
    guard.answer(PAYMENTS)
    first, second, third = texts(guard.answer(PAYMENTS))
    assert (first, third) == ("paid 1", "paid 3")
    assert second == '{"executed": false, "error": "TimeoutError: nobody is there"}'
    assert till.paid == [1, 3]
    assert decisions(log) == ["stopped"] * 3 + ["verified", "refused", "verified"]


async def test_a_hook_that_raises_loses_no_result_of_async_code(till: Till) -> None:
    async def ask(question: Question) -> bool:
        if question.arguments["amount"] == 2:
            raise ConnectionError("nobody is there")
        return True

    guard = Guard({"pay": till.pay_later}, ask=ask)
    await guard.answer_async(PAYMENTS)
    told = texts(await guard.answer_async(PAYMENTS))
    assert (told[0], told[2]) == ("paid 1", "paid 3")
    assert '"executed": false' in told[1]


def test_an_audit_log_that_fails_in_mid_reply_loses_no_result(till: Till, log: Path) -> None:
    class Breaking(Till):
        def pay(self, amount: int) -> str:
            if amount == 1:
                log.rename(log.with_suffix(".old"))
                log.mkdir()
            return super().pay(amount)

    till = Breaking()
    guard = Guard([till.pay], audit=log)
    guard.answer(PAYMENTS)
    first, *others = texts(guard.answer(PAYMENTS))
    assert first == "paid 1"
    assert all("The call was not made" in text for text in others)
    assert till.paid == [1]


def test_a_risk_that_raises_loses_no_result(till: Till, log: Path) -> None:
    def check(situation: Situation) -> str | None:
        return (
            "round" if situation.arguments["amount"] / (situation.arguments["amount"] - 2) else None
        )

    guard = Guard([till.pay], risks=[Risk("own", "low", check)], audit=log)
    told = contents(guard.answer(PAYMENTS))
    assert "ZeroDivisionError" in told[1]["error"]
    assert decisions(log) == ["stopped", "refused", "stopped"]


def test_a_hook_that_fails_is_told_even_if_it_cannot_be_logged(till: Till, log: Path) -> None:
    def ask(question: Question) -> bool:
        log.unlink()
        log.mkdir()
        raise ConnectionError("nobody is there")

    pay = Guard(ask=ask, audit=log).wrap(till.pay)
    with pytest.raises(WriteStopped):
        pay(1)
    with pytest.raises(ConnectionError) as failed:
        pay(1)
    assert "Cannot write the audit log" in failed.value.__notes__[0]


def test_an_async_tool_is_told_before_any_call_is_made(till: Till, log: Path) -> None:
    guard = Guard([till.pay, till.pay_later], audit=log)
    guard.answer(PAYMENTS)
    mixed = reply(tool_call(1, "pay", {"amount": 1}), tool_call(2, "pay_later", {"amount": 2}))
    with pytest.raises(UsageError, match="answer_async"):
        guard.answer(mixed)
    assert till.paid == []


def test_calls_with_one_id_are_answered_one_by_one(till: Till) -> None:
    guard = Guard([till.pay])
    same = reply(tool_call(1, "pay", {"amount": 1}), tool_call(1, "pay", {"amount": 3}))
    guard.answer(same)
    messages = guard.answer(same)
    assert texts(messages) == ["paid 1", "paid 3"]
    assert [message["tool_call_id"] for message in messages] == ["call_1", "call_1"]


# --- interruptions


def test_an_interruption_leaves_the_conversation_complete(till: Till) -> None:
    guard = Guard([till.pay])
    guard.answer(PAYMENTS)
    till.error = KeyboardInterrupt()
    messages: list[Any] = [PAYMENTS]
    with pytest.raises(KeyboardInterrupt):
        guard.answer(PAYMENTS, into=messages)
    assert [message["tool_call_id"] for message in messages[1:]] == ["call_1", "call_2", "call_3"]
    first, second, third = texts(messages[1:])
    assert first == "paid 1"
    assert "may have been made" in second
    assert "Not made" in third
    assert till.paid == [1, 2]


async def test_a_cancelled_reply_leaves_the_conversation_complete() -> None:
    paid, waits = [], asyncio.Event()

    async def pay(amount: int) -> str:
        paid.append(amount)
        if amount == 2:
            waits.set()
            await asyncio.Event().wait()
        return f"paid {amount}"

    guard = Guard([pay])
    await guard.answer_async(PAYMENTS)
    messages: list[Any] = []
    task = asyncio.create_task(guard.answer_async(PAYMENTS, into=messages))
    await waits.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert [text[:10] for text in texts(messages)] == ["paid 1", '{"error": ', '{"executed']
    again = contents(await guard.answer_async([tool_call(9, "pay", {"amount": 2})]))
    assert "outcome is unknown" in str(again[0]["detected_risks"])
    assert paid == [1, 2]


def test_messages_are_put_into_the_conversation(till: Till) -> None:
    messages: list[Any] = [{"role": "user", "content": "Pay."}]
    assert Guard([till.pay]).answer(PAYMENTS, into=messages) == messages[1:]
    assert len(messages) == 4


# --- what a tool's error says of its outcome


class ReadTimeoutLike(Exception):
    """A time-out of a library that builds on no error of Python's."""


def named(name: str, base: type[Exception] = Exception) -> type[Exception]:
    """A library's error, which is known by its names alone."""
    return type(name, (base,), {})


def failed_payment(till: Till, error: Exception) -> Callable[[int], str]:
    pay = Guard().wrap(till.pay)
    till.error = error
    with pytest.raises(WriteStopped):
        pay(2)
    with pytest.raises(type(error)):
        pay(2)
    return pay


@pytest.mark.parametrize(
    "error",
    [
        TimeoutError("slow"),
        ReadTimeoutLike("slow"),
        ConnectionResetError(),
        ConnectionAbortedError(),
        BrokenPipeError(),
        ConnectionError(),
        EOFError(),
        named("ReadError", named("NetworkError"))("httpx"),
        named("RemoteProtocolError")("httpx"),
        named("ConnectionError", OSError)("requests: Connection aborted."),
    ],
    ids=repr,
)
def test_a_write_that_timed_out_or_was_cut_off_may_have_been_made(
    till: Till, error: Exception
) -> None:
    pay = failed_payment(till, error)
    with pytest.raises(WriteStopped, match="outcome is unknown"):
        pay(2)


@pytest.mark.parametrize(
    "error",
    [
        ConnectionRefusedError(),
        named("ConnectError", named("NetworkError"))("httpx"),
        named("ConnectionError", OSError)("requests: [Errno 111] Connection refused"),
        ValueError("no such person"),
    ],
    ids=repr,
)
def test_a_write_that_reached_nobody_may_be_tried_again(till: Till, error: Exception) -> None:
    pay = failed_payment(till, error)
    till.error = None
    assert pay(2) == "paid 2"


# --- async in disguise


class AsyncObject:
    """An object that is called like an async function."""

    def __init__(self, till: Till) -> None:
        self.till = till

    async def __call__(self, amount: int) -> str:
        return await self.till.pay_later(amount)


def undecorated(function: Callable[[int], Awaitable[str]]) -> Callable[[int], Awaitable[str]]:
    @functools.wraps(function)
    def call(amount: int) -> Awaitable[str]:
        return function(amount)

    return call


DISGUISES: list[Callable[[Till], Callable[[int], Awaitable[str]]]] = [
    AsyncObject,
    lambda till: till.pay_promised,
    lambda till: undecorated(till.pay_later),
    lambda till: functools.partial(till.pay_later),
]


@pytest.mark.parametrize("disguise", DISGUISES)
async def test_what_gives_a_coroutine_is_awaited(
    till: Till, disguise: Callable[[Till], Callable[[int], Awaitable[str]]]
) -> None:
    guard = Guard({"pay": disguise(till)})
    await guard.answer_async(PAYMENTS)
    assert texts(await guard.answer_async(PAYMENTS)) == ["paid 1", "paid 2", "paid 3"]
    assert till.paid == [1, 2, 3]


async def test_an_async_object_is_wrapped_as_async(till: Till) -> None:
    pay = Guard().wrap(AsyncObject(till), name="pay")
    with pytest.raises(WriteStopped):
        await pay(1)
    assert await pay(1) == "paid 1"


def test_plain_code_is_told_of_a_coroutine_that_it_cannot_await(till: Till) -> None:
    guard = Guard({"pay": till.pay_promised})
    guard.answer(PAYMENTS)
    assert all("outcome is unknown" in text for text in texts(guard.answer(PAYMENTS)))
    pay = Guard().wrap(till.pay_promised)
    with pytest.raises(WriteStopped):
        pay(1)
    with pytest.raises(UsageError, match="cannot await"):
        pay(1)
    assert till.paid == []


def test_a_plain_function_around_an_async_one_is_plain(till: Till) -> None:
    @functools.wraps(till.pay_later)
    def pay(amount: int) -> str:
        return asyncio.run(till.pay_later(amount))

    guard = Guard({"pay": pay})
    guard.answer(PAYMENTS)
    assert texts(guard.answer(PAYMENTS)) == ["paid 1", "paid 2", "paid 3"]
    wrapped = Guard().wrap(pay)
    with pytest.raises(WriteStopped):
        wrapped(4)
    assert wrapped(4) == "paid 4"
