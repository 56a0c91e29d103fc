"""What is stopped in a turn cannot be confirmed in it, however turns nest, overlap and end."""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from around_samples import contents, decisions, reply, tool_call

from injectors.around.guard import Guard, WriteStopped
from runtime.errors import TraceError


class Till:
    """Pays, at once or later; `paid` is what really happened."""

    def __init__(self) -> None:
        self.paid: list[int] = []

    def pay(self, amount: int) -> str:
        self.paid.append(amount)
        return "paid"

    async def pay_later(self, amount: int) -> str:
        await asyncio.sleep(0)
        return self.pay(amount)

    def close(self) -> str:
        return "closed"


@pytest.fixture
def till() -> Till:
    return Till()


PAY = tool_call(1, "pay", {"amount": 5})


def test_answers_inside_one_turn_do_not_confirm_each_other(till: Till) -> None:
    guard = Guard([till.pay])
    with guard.turn():
        for _ in range(3):
            assert contents(guard.answer(reply(PAY)))[0]["executed"] is False
    assert till.paid == []
    assert guard.answer(reply(PAY))[0]["content"] == "paid"


async def test_a_turn_of_another_task_confirms_nothing(till: Till) -> None:
    guard = Guard()
    pay = guard.wrap(till.pay_later)
    stopped, went_by = asyncio.Event(), asyncio.Event()

    async def retry_in_one_turn() -> None:
        with guard.turn():
            with pytest.raises(WriteStopped):
                await pay(5)
            stopped.set()
            await went_by.wait()
            with pytest.raises(WriteStopped):
                await pay(5)

    async def go_by() -> None:
        await stopped.wait()
        with guard.turn():
            pass
        with guard.turn(), pytest.raises(WriteStopped):
            await pay(5)  # the other turn is open: nobody was told yet
        went_by.set()

    await asyncio.gather(retry_in_one_turn(), go_by())
    assert till.paid == []
    await pay(5)
    assert till.paid == [5]


async def test_a_turn_that_was_open_at_the_stop_has_not_read_it(till: Till) -> None:
    guard = Guard()
    pay, opened, stopped = guard.wrap(till.pay_later), asyncio.Event(), asyncio.Event()

    async def stop() -> None:
        await opened.wait()
        with guard.turn(), pytest.raises(WriteStopped):
            await pay(5)
        stopped.set()

    async def answer_an_older_reply() -> None:
        with guard.turn():
            opened.set()
            await stopped.wait()
            with pytest.raises(WriteStopped):
                await pay(5)

    await asyncio.gather(stop(), answer_an_older_reply())
    assert till.paid == []
    with guard.turn():
        await pay(5)
    assert till.paid == [5]


def test_threads_of_a_pool_are_in_the_turn_that_is_open(till: Till) -> None:
    guard = Guard()
    pay = guard.wrap(till.pay)

    def tries(amount: int) -> str:
        try:
            return pay(amount)
        except WriteStopped:
            return "stopped"

    with guard.turn(), ThreadPoolExecutor(1) as pool:
        assert [*pool.map(tries, [5, 5, 5])] == ["stopped"] * 3
    assert pay(5) == "paid"


async def test_a_task_that_outlives_its_turn_is_not_held_up_for_good(till: Till) -> None:
    guard = Guard()
    pay, go_on = guard.wrap(till.pay_later), asyncio.Event()

    async def work() -> None:
        await go_on.wait()
        with pytest.raises(WriteStopped):
            await pay(5)
        await pay(5)

    with guard.turn():
        task = asyncio.create_task(work())
    go_on.set()
    await task
    assert till.paid == [5]


async def test_a_turn_may_end_in_another_context_than_it_began(till: Till) -> None:
    guard = Guard([till.pay])
    turn = guard.turn()

    async def begin() -> None:
        turn.__enter__()
        guard.answer(reply(PAY))

    await asyncio.create_task(begin())
    turn.__exit__(None, None, None)
    assert guard.answer(reply(PAY))[0]["content"] == "paid"


def test_an_equal_write_twice_in_one_reply_is_made_once(till: Till, tmp_path: Path) -> None:
    guard = Guard([till.pay], audit=tmp_path / "audit.jsonl")
    guard.answer(reply(PAY))
    first, second = guard.answer(reply(PAY, PAY))
    assert first["content"] == "paid"
    assert "identical_write_already_executed" in second["content"]
    assert till.paid == [5]
    assert decisions(tmp_path / "audit.jsonl") == ["stopped", "verified", "stopped"]


def test_a_stop_for_a_risk_is_not_confirmed_in_its_turn_either(till: Till) -> None:
    guard = Guard([till.pay])
    for _ in range(2):
        guard.answer(reply(PAY))
    assert [item["executed"] for item in contents(guard.answer(reply(PAY, PAY)))] == [False, False]
    assert till.paid == [5]


def test_a_finish_stopped_in_a_turn_is_not_confirmed_in_it() -> None:
    def pay(amount: int) -> None:
        raise ValueError("no money")

    guard = Guard([pay, Till().close], kinds={"close": "FINISH"})
    for _ in range(2):
        guard.answer(reply(PAY))
    close = tool_call(2, "close", {})
    told = contents(guard.answer(reply(close, close)))
    assert [item["executed"] for item in told] == [False, False]
    assert guard.answer(reply(close))[0]["content"] == "closed"


def test_a_stop_that_could_not_be_logged_has_told_nobody(till: Till, tmp_path: Path) -> None:
    folder = tmp_path / "logs"
    pay = Guard(audit=folder / "audit.jsonl").wrap(till.pay)
    with pytest.raises(TraceError):
        pay(5)
    folder.mkdir()
    with pytest.raises(WriteStopped):
        pay(5)
    assert pay(5) == "paid"


async def test_conversations_side_by_side_all_get_on(till: Till) -> None:
    guard = Guard([till.pay_later])

    async def converse(amount: int) -> None:
        call = reply(tool_call(amount, "pay_later", {"amount": amount}))
        for _ in range(20):
            if (await guard.answer_async(call))[0]["content"] == "paid":
                return
            await asyncio.sleep(0)

    await asyncio.gather(*(converse(amount) for amount in range(5)))
    assert sorted(till.paid) == [0, 1, 2, 3, 4]


def test_of_two_equal_writes_at_once_one_is_stopped(till: Till) -> None:
    pay = Guard().wrap(till.pay)
    with pytest.raises(WriteStopped):
        pay(5)
    begin, stops = threading.Barrier(2), []

    def confirm() -> None:
        begin.wait()
        try:
            pay(5)
        except WriteStopped as stop:
            stops.append(stop.advisory["new_detected_risks"])

    threads = [threading.Thread(target=confirm) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert till.paid == [5]
    assert stops == [["identical_write_already_executed"]]
