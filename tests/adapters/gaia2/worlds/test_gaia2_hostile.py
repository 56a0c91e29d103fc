"""Hostile and unlucky cells: each ends in a clear observation, and the world does not notice."""

from __future__ import annotations

import time

import pytest
from gaia2_worlds import BOOK, TELL, Opened, StopWrites, run

from adapters.gaia2.benchmark import Gaia2
from runtime.contracts import AllowGate, Limits

SHORT = Limits(cell_s=1.0, stop_grace_s=0.5)
SWALLOWING = """
while True:
    try:
        while True:
            pass
    except BaseException:
        pass
"""
LOST = "all variables are lost"


@pytest.mark.parametrize(
    ("cell", "words"),
    [
        ("while True:\n    pass", "timed out"),
        (SWALLOWING, "timed out"),
        ("import re\nre.match('(a+)+b', 'a' * 60)", "timed out"),
        ("x = [0] * 10**10", "MemoryError"),
        ("x = 'a'\nwhile True:\n    x += x", "MemoryError"),
        ("def f():\n    f()\nf()", "RecursionError"),
        ("raise SystemExit(3)", "SystemExit"),
        ("raise KeyboardInterrupt", "KeyboardInterrupt"),
        ("class E(Exception):\n    def __str__(self):\n        1 / 0\nraise E()", "E: <exception"),
        ("print('\\ud800')", "\\ud800"),
        ("print(apps.Emails.list_emails(folder_name='\\ud800'))", "Error"),
        ("apps.Contacts.get_contact(contact_id='x' * 20_000_000)", "too long to send"),
    ],
)
async def test_an_unlucky_cell_ends_clearly_and_the_next_one_runs(
    opened: Opened, cell: str, words: str
) -> None:
    world = await opened("search", limits=SHORT)
    assert words in (await world.execute(cell)).text
    assert (await run(world, "print(1 + 1)")).text == "2\n"
    await run(world, TELL.format("INV-44"))
    assert (await world.evaluate()).passed


async def test_a_killed_interpreter_says_that_variables_are_gone(opened: Opened) -> None:
    world = await opened("search", limits=SHORT)
    await run(world, "x = 1")
    assert LOST in (await world.execute("while True:\n    pass")).text
    assert "NameError" in (await world.execute("print(x)")).text


async def test_ten_megabytes_of_output_are_cut(opened: Opened) -> None:
    world = await opened("search")
    text = (await run(world, "for _ in range(100):\n    print('x' * 100_000)")).text
    assert len(text) < 1_100_000
    assert text.endswith("more characters cut")


async def test_a_stopped_cell_reaches_nothing_whatever_it_catches(opened: Opened) -> None:
    world = await opened("execution", StopWrites(), limits=SHORT)
    before = await world.app_states()
    swallowing = f"""
print("before")
for _ in range(3):
    try:
        {BOOK.strip().splitlines()[-1]}
    except BaseException as error:
        print("swallowed")
    finally:
        apps.Calendar.add_calendar_event(title="x")
"""
    observation = await world.execute(swallowing)
    assert observation.end.status == "stopped"
    assert observation.text == "before\n"
    assert await world.app_states() == before


async def test_a_stopped_cell_that_goes_on_is_ended(opened: Opened) -> None:
    world = await opened("execution", StopWrites(), limits=SHORT)
    observation = await world.execute(
        f"print('before')\ntry:{BOOK.replace(chr(10), chr(10) + '    ')}\nexcept BaseException:\n"
        "    while True:\n        pass"
    )
    assert observation.text.startswith("before\n")
    assert LOST in observation.text


async def test_a_loop_of_calls_meets_the_limit(opened: Opened) -> None:
    world = await opened("search", limits=Limits(calls_per_cell=20))
    observation = await world.execute(
        "for n in range(100):\n    apps.Contacts.get_contact(contact_id='c-eve')"
    )
    assert "exceeded the limit of 20" in observation.text
    assert observation.calls == 21


class Slow(AllowGate):
    """Takes its time over each call."""

    def decide(self, call):
        time.sleep(0.05)
        return super().decide(call)


async def test_answers_that_take_long_do_not_carry_a_cell_past_its_wall_time(opened: Opened):
    world = await opened("search", Slow())
    observation = await world.execute(
        "for _ in range(200):\n    apps.SystemApp.get_current_time()", seconds=0.5
    )
    assert observation.end.status == "timeout"
    assert observation.calls < 100


@pytest.mark.slow
async def test_a_pattern_of_the_agents_does_not_keep_the_world_busy_for_good(mini: Gaia2):
    task = next(iter(mini.tasks("mini_test")))
    world = await mini.open(task, AllowGate(), Limits())
    try:
        source = "print(apps.Messages.regex_search(query='(a|a|b|c|.)*(.|.)*(.|.|.)*$xyz'))"
        observation = await world.execute(source)
        assert "The call took more than 20 s" in observation.text
        assert (await run(world, "print(1 + 1)")).text.startswith("2\n")
        assert not (await world.evaluate()).passed
    finally:
        await world.close()


async def test_files_show_nothing_of_the_host_and_the_same_in_every_world(mini: Gaia2):
    task = next(task for task in mini.tasks("mini_test") if task.ability == "Search")
    source = (
        "try:\n    print(apps.Files.cat('nope'))\nexcept Exception as error:\n    print(error)\n"
        "print(apps.Files.info('/'))\nprint(apps.Files.tree())"
    )
    texts = set()
    for _ in range(2):
        world = await mini.open(task, AllowGate(), Limits())
        try:
            texts.add((await run(world, source)).text)
        finally:
            await world.close()
    (text,) = texts
    assert "are_simulation" not in text
    assert "/tmp" not in text
