"""Scenarios that are odd, or broken: what opens, at which time, and what the refusals name."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from gaia2_scenarios import LUNCH, act, ask, is_oracle, scenario, tell
from gaia2_worlds import TELL, run

from adapters.gaia2.benchmark import Gaia2
from adapters.gaia2.episode import Gaia2World
from adapters.gaia2.setup import Gaia2Setup
from adapters.roots import Root
from runtime.contracts import AllowGate, Limits, Message, Reply, Task
from runtime.errors import WorldError


class NeverAsked:
    name = "never-asked"

    async def complete(self, messages: Sequence[Message]) -> Reply:
        raise AssertionError(messages)


class Odd:
    """Writes scenarios, each a dataset of its own, and opens them."""

    def __init__(self, gaia2: Gaia2, root: Path) -> None:
        self.gaia2, self.root = gaia2, root
        self.worlds: list[Gaia2World] = []

    def write(self, name: str, content: dict[str, Any], checks: Any = None) -> Task:
        if checks is None:
            checks = {item["event_id"]: [] for item in content["events"] if is_oracle(item)}
        (self.root / name / "checks").mkdir(parents=True, exist_ok=True)
        (self.root / name / "checks" / f"{name}.json").write_text(json.dumps(checks))
        (self.root / name / f"{name}.json").write_text(json.dumps(content))
        (task,) = self.gaia2.tasks(name)
        return task

    async def open(self, task: Task) -> Gaia2World:
        world = await self.gaia2.open(task, AllowGate(), Limits())
        self.worlds.append(world)
        return world


@pytest.fixture(scope="module")
async def opener(
    gaia2_python: Path, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Odd]:
    folder = tmp_path_factory.mktemp("odd")
    setup = Gaia2Setup(gaia2_python, folder / "scratch", (Root("path", folder / "root"),))
    async with Gaia2(setup, judge=NeverAsked()) as gaia2:
        yield Odd(gaia2, folder / "root")


@pytest.fixture
async def odd(opener: Odd) -> AsyncIterator[Odd]:
    yield opener
    while opener.worlds:
        await opener.worlds.pop().close()


def with_events(*events: dict[str, Any], duration: float | None = 600) -> dict[str, Any]:
    return scenario("search", duration=duration) | {"events": list(events)}


# the user's first message


@pytest.mark.parametrize("seconds", [700.0, 4000.0])
async def test_a_user_who_asks_after_the_end_is_no_scenario_that_passes_unplayed(
    odd: Odd, seconds: float
) -> None:
    late = with_events(ask("u0", "Say hi.", seconds=seconds), tell("o", "Hi", "u0"))
    task = odd.write("too_late", late)
    with pytest.raises(WorldError, match=r"No message of the user comes within .* \(600 s\)"):
        await odd.open(task)


async def test_the_prompt_shows_the_worlds_time_when_the_user_asks_late(odd: Odd) -> None:
    late = with_events(ask("u0", "Say hi.", seconds=300.0), tell("o", "Hi", "u0"))
    task = odd.write("late", late)
    world = await odd.open(task)
    *_, opening = odd.gaia2.prompt(task).messages
    assert opening.content.startswith("It is Tuesday, 2024-11-05 09:05:00 (UTC).")
    observation = await run(world, "print(apps.SystemApp.get_current_time()['current_datetime'])")
    assert observation.text == "2024-11-05 09:05:00\n"
    assert observation.notifications == ()


# times that a scenario leaves out


@pytest.mark.parametrize(("tag", "seconds"), [("Time", 420), ("Search", 1800)])
async def test_a_scenario_without_a_duration_has_the_abilitys(
    odd: Odd, tag: str, seconds: int
) -> None:
    content = with_events(ask("u0", "Say hi."), tell("o", "Hi", "u0"), duration=None)
    content["metadata"]["definition"]["tags"] = [tag]
    world = await odd.open(odd.write(f"endless_{tag}", content))
    last = f"apps.SystemApp.wait_for_notification(timeout={seconds - 10})"
    observation = await run(world, last)
    assert not observation.done
    assert (await run(world, last)).done


async def test_a_scenario_without_a_start_time_starts_at_the_same_time_always(odd: Odd) -> None:
    content = with_events(ask("u0", "Say hi."), tell("o", "Hi", "u0"))
    del content["metadata"]["definition"]["start_time"]
    world = await odd.open(odd.write("timeless", content))
    observation = await run(world, "print(apps.SystemApp.get_current_time()['current_datetime'])")
    assert observation.text == "1970-01-01 00:00:00\n"


# apps


async def test_an_app_with_a_state_that_are_cannot_read_is_named(odd: Odd) -> None:
    """The judge misses the contacts first, and says less."""
    content = scenario("search")
    contacts = next(app for app in content["apps"] if app["name"] == "Contacts")
    contacts["app_state"] = {"nonsense": 1}
    task = odd.write("no_contacts", content)
    with pytest.raises(WorldError, match="ARE could not load the apps Contacts of"):
        await odd.open(task)


async def test_an_app_without_a_class_name_is_of_the_class_it_is_named_after(odd: Odd) -> None:
    booked = act("o_book", "Calendar.add_calendar_event", "u0", **LUNCH)
    content = with_events(ask("u0", "Book lunch."), booked, tell("o_tell", "Done", "o_book"))
    for app in content["apps"]:
        if app["name"] == "Calendar":
            del app["class_name"]
    world = await odd.open(odd.write("classless", content))
    await run(world, f"{BOOK.format('**' + repr(LUNCH))}\n{TELL.format('Done')}")
    assert (await world.evaluate()).passed


async def test_an_app_that_only_the_oracle_has_is_named(odd: Odd) -> None:
    content = scenario("execution")
    content["apps"] = [app for app in content["apps"] if app["name"] != "Emails"]
    task = odd.write("no_emails", content)
    (odd.root / "no_emails" / "checks" / "no_emails.json").unlink()
    with pytest.raises(WorldError, match="uses apps that it does not have: Emails"):
        await odd.open(task)


# checks

BOOK = "apps.Calendar.add_calendar_event({})"
FOLDER = {"description": "Bring the blue folder."}


@pytest.mark.parametrize(
    ("arguments", "passed"),
    [(LUNCH | FOLDER, True), (LUNCH | {"description": "-"}, False), (LUNCH, False)],
)
async def test_a_checked_argument_that_the_agent_leaves_out_is_a_failure_not_an_error(
    odd: Odd, arguments: dict[str, str], passed: bool
) -> None:
    asked = ask("u0", "Book lunch and note the blue folder.")
    booked = act("o_book", "Calendar.add_calendar_event", "u0", **LUNCH, **FOLDER)
    check = {
        "arg_name": "description",
        "checker_type": "contain_all_checker",
        "tool_name": "Calendar__add_calendar_event",
        "checker_args": {"targets": ["blue folder"]},
    }
    checks = {"o_book": [check], "o_tell": []}
    content = with_events(asked, booked, tell("o_tell", "Done", "o_book"))
    world = await odd.open(odd.write("description", content, checks))
    given = ", ".join(f"{name}={value!r}" for name, value in arguments.items())
    await run(world, f"{BOOK.format(given)}\n{TELL.format('Done')}")
    assert (await world.evaluate()).passed is passed
