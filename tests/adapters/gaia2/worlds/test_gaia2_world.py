"""Scenarios opened for real: ARE's engine, a locked-down cell, the bridge between them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from gaia2_scenarios import EVE, START
from gaia2_worlds import BOOK, TELL, Opened, Recorder, StopWrites, run, small_setup, task

from adapters.gaia2.benchmark import Gaia2
from adapters.gaia2.episode import think_time
from runtime.contracts import AllowGate, Limits
from runtime.errors import UnknownName, UsageError, WorldError

# verdicts


async def test_a_right_answer_passes_and_a_wrong_one_fails(opened: Opened) -> None:
    for answer, passed in (("It is INV-44", True), ("INV-45", False)):
        world = await opened("search")
        observation = await run(world, TELL.format(answer))
        assert observation.done
        assert (await world.evaluate()).passed is passed


async def test_doing_nothing_fails_with_the_judges_words(opened: Opened) -> None:
    outcome = await (await opened("execution")).evaluate()
    assert not outcome.passed
    assert outcome.checks[0].detail


async def test_the_user_answers_after_a_turn_that_passed(opened: Opened) -> None:
    world = await opened("execution")
    observation = await run(world, BOOK, TELL.format("Done"))
    assert not observation.done
    (told,) = observation.notifications
    assert told.startswith("[user, 2024-11-05 09:00:0")
    assert told.endswith("] Cancel that lunch after all.")
    cancel = "apps.Calendar.delete_calendar_event(event_id=lunch)"
    assert (await run(world, cancel, TELL.format("Cancelled"))).done
    assert (await world.evaluate()).passed


async def test_a_turn_that_failed_ends_the_scenario_and_nothing_runs_after_it(
    opened: Opened,
) -> None:
    world = await opened("execution")
    observation = await run(world, TELL.format("Done"))
    assert observation.done
    before = await world.app_states()
    late = await world.execute(BOOK)
    assert "The scenario has ended" in late.text
    assert await world.app_states() == before
    assert not (await world.evaluate()).passed


async def test_nothing_of_a_cell_runs_after_its_message_to_the_user(opened: Opened) -> None:
    world = await opened("execution")
    observation = await world.execute(f"{TELL.format('Done')}\n{BOOK}")
    assert "Your turn ended" in observation.text
    assert (await world.app_states())["Calendar"]["events"] == {}


async def test_an_extra_write_fails_the_scenario(opened: Opened) -> None:
    world = await opened("search")
    send = f"apps.Emails.send_email(recipients=[{EVE!r}], subject='a', content='b')"
    await run(world, send, TELL.format("INV-44"))
    assert not (await world.evaluate()).passed


async def test_the_environment_reacts_after_a_turn(opened: Opened) -> None:
    world = await opened("adaptability")
    observation = await run(world, BOOK, TELL.format("Booked"))
    assert [text.partition("] ")[2] for text in observation.notifications] == [
        "EmailClientV2: New email received"
    ]
    move = """
apps.Calendar.delete_calendar_event(event_id=lunch)
apps.Calendar.add_calendar_event(title="Lunch", start_datetime="2024-11-06 13:00:00",
    end_datetime="2024-11-06 14:00:00")
"""
    assert (await run(world, move, TELL.format("Moved"))).done
    assert (await world.evaluate()).passed


# time


WAIT = "apps.SystemApp.wait_for_notification(timeout={})"
REPLY = f"apps.Emails.send_email(recipients=[{EVE!r}], subject='Re: Here', content='On my way')"


async def test_a_wait_ends_with_the_notification_and_time_is_judged(opened: Opened) -> None:
    world = await opened("time")
    observation = await run(world, WAIT.format(300))
    assert observation.notifications == (
        "[notification, 2024-11-05 09:02:00] EmailClientV2: New email received from " + EVE,
    )
    assert observation.text.endswith("[clock] 2024-11-05 09:02:00")
    observation = await run(world, WAIT.format(60), REPLY, TELL.format("Sent"))
    assert observation.done
    assert (await world.evaluate()).passed


async def test_acting_too_early_fails(opened: Opened) -> None:
    world = await opened("time")
    await run(world, WAIT.format(300), REPLY, TELL.format("Sent"))
    assert not (await world.evaluate()).passed


async def test_each_notification_is_told_once_and_ends_one_wait(opened: Opened) -> None:
    world = await opened("time")
    three = await run(world, "\n".join([WAIT.format(50)] * 3))
    assert [text.partition("]")[0][-8:] for text in three.notifications] == [
        "09:00:50",
        "09:01:40",
        "09:02:00",
    ]
    assert (await run(world, "print(1)")).notifications == ()


async def test_the_last_boundary_waits_while_something_is_pending_under_time(
    opened: Opened,
) -> None:
    world = await opened("time")
    observation = await run(world, TELL.format("I will"))
    assert not observation.done
    (clock,) = observation.notifications
    assert clock.startswith("[clock, 2024-11-05 09:00:0")
    assert "still due" in clock
    assert "Eve" not in clock


async def test_the_last_boundary_ends_other_abilities_at_once(opened: Opened) -> None:
    world = await opened("search")
    assert (await run(world, TELL.format("INV-44"))).done


async def test_clock_messages_are_bounded(opened: Opened) -> None:
    world = await opened("time")
    turns = 0
    while not (await run(world, TELL.format("I will"))).done:
        turns += 1
        assert turns <= 10
    assert turns == 10


async def test_model_time_is_charged_as_configured(gaia2: Gaia2) -> None:
    assert think_time("zero")(7.0) == 0.0
    assert think_time("measured")(7.0) == 7.0
    assert think_time("fixed:2.5")(7.0) == 2.5
    with pytest.raises(UsageError, match="zero, measured or fixed"):
        think_time("slow")
    charging = Gaia2(gaia2._setup, think="fixed:130")
    async with charging:
        world = await charging.open(task(gaia2, "time"), AllowGate(), Limits())
        await world.thought(0.1)
        observation = await run(world, "print(1)")
        assert "New email received" in observation.notifications[0]
        assert observation.text.endswith("09:02:10")
        await world.close()


async def test_the_same_cells_give_the_same_world(opened: Opened) -> None:
    histories = []
    for _ in range(2):
        world = await opened("adaptability")
        texts = [(await run(world, cell)).text for cell in (BOOK, "print(lunch)")]
        histories.append((texts, await world.events(), await world.app_states()))
    assert histories[0] == histories[1]


async def test_the_event_log_keeps_results_as_they_were_and_times_are_distinct(
    opened: Opened,
) -> None:
    world = await opened("execution")
    await run(world, "got = apps.Contacts.get_contact(contact_id='c-eve')")
    await run(world, "apps.Contacts.edit_contact(contact_id='c-eve', updates={'job': 'Pilot'})")
    events = await world.events()
    read = next(item for item in events if item["function"] == "get_contact")
    assert read["result"]["job"] == "Baker"
    times = [item["time"] for item in events]
    assert times == sorted(set(times))
    assert times[0] == START


# calls


@pytest.mark.parametrize(
    ("call", "words"),
    [
        ("apps.Emails.send_email(subject=3)", "'subject' must be of type str, got int"),
        ("apps.Emails.send_email(recipients=[1])", "'recipients' must be of type list[str] | None"),
        ("apps.Emails.send_email(to='x')", "unexpected argument 'to'"),
        ("apps.Calendar.delete_calendar_event()", "'event_id' is missing"),
        ("apps.Emails.get_email_by_id(email_id=True)", "must be of type str, got bool"),
    ],
)
async def test_a_call_that_does_not_fit_is_no_call(opened: Opened, call: str, words: str) -> None:
    gate = Recorder()
    world = await opened("execution", gate)
    observation = await world.execute(call)
    assert "TypeError" in observation.text
    assert words in observation.text
    assert gate.calls == []
    assert len(observation.refusals) == 1


async def test_what_a_tool_raises_can_be_caught_by_its_class(opened: Opened) -> None:
    world = await opened("execution")
    cell = """
try:
    apps.Contacts.get_contact(contact_id="nobody")
except KeyError as error:
    print("caught", error)
"""
    assert (await run(world, cell)).text.startswith("caught ")


async def test_positional_arguments_reach_the_gate_by_name_with_the_worlds_time(
    opened: Opened,
) -> None:
    gate = Recorder()
    world = await opened("execution", gate)
    await run(world, "apps.Contacts.get_contact('c-eve')\napps.Contacts.get_contact('c-ada')")
    assert [call.arguments for call in gate.calls] == [
        {"contact_id": "c-eve"},
        {"contact_id": "c-ada"},
    ]
    first, second = (call.simulated_time for call in gate.calls)
    assert first == START
    assert second is not None
    assert START < second < START + 1


async def test_a_stopped_write_changes_nothing_and_takes_no_time(opened: Opened) -> None:
    world = await opened("search", StopWrites())
    await run(world, "print(apps.Emails.list_emails()['emails'][0]['subject'])")
    states, events, time = await world.app_states(), await world.events(), world._time
    send = f"apps.Emails.send_email(recipients=[{EVE!r}], content='x')"
    observation = await world.execute(f"print('before')\n{send}\nprint('after')")
    assert observation.end.status == "stopped"
    assert observation.text == "before\n"
    assert await world.app_states() == states
    assert await world.events() == events
    assert world._time == time
    await run(world, TELL.format("INV-44"))
    assert (await world.evaluate()).passed


async def test_a_read_only_world_refuses_every_write_and_finish(
    opened: Opened, gaia2: Gaia2
) -> None:
    world = await opened("execution", read_only=True)
    before = await world.app_states()
    rows = gaia2._tables["small_execution"].rows
    samples: dict[str, Any] = {"str": "x", "int": 1, "bool": True, "dict[str, Any]": {}}
    refused = 0
    for name, row in rows.items():
        if row["kind"] == "READ":
            continue
        arguments = {
            item["name"]: samples[item["text"]] for item in row["parameters"] if item["required"]
        }
        observation = await world.execute(f"apps.{name}(**{arguments!r})")
        assert "open for reading only" in observation.text
        refused += 1
    assert refused >= 12
    assert await world.app_states() == before
    assert (await run(world, "print(len(apps.Emails.list_emails()['emails']))")).text == "1\n"


# judges and faults


async def test_scenarios_without_checks_ask_for_a_judge(gaia2_python: Path, tmp_path: Path) -> None:
    async with Gaia2(small_setup(gaia2_python, tmp_path, scripted=False)) as gaia2:
        with pytest.raises(UsageError, match="--judge MODEL"):
            await gaia2.open(task(gaia2, "search"), AllowGate(), Limits())


async def test_unknown_names_offer_the_nearest(gaia2: Gaia2) -> None:
    with pytest.raises(UnknownName, match="small"):
        gaia2.tasks("smal")
    strange = task(gaia2, "search").model_copy(update={"id": "small_serch"})
    with pytest.raises(UnknownName, match="small_search"):
        await gaia2.open(strange, AllowGate(), Limits())


async def test_an_app_that_are_drops_in_silence_is_named(
    gaia2_python: Path, tmp_path: Path
) -> None:
    setup = small_setup(gaia2_python, tmp_path)
    broken = setup.roots[0].path / "small" / "small_search.json"
    broken.write_text(broken.read_text().replace('"EmailClientV2"', '"EmailV9"'))
    async with Gaia2(setup) as gaia2:
        with pytest.raises(WorldError, match="Emails"):
            await gaia2.open(task(gaia2, "search"), AllowGate(), Limits())


async def test_a_lost_world_process_is_an_error_of_the_episode(opened: Opened) -> None:
    world = await opened("search")
    await world._world.end()
    with pytest.raises(WorldError):
        await world.execute("print(apps.Emails.list_emails())")


WRITES = {
    "Contacts": "add_new_contact edit_contact delete_contact",
    "Emails": "send_email download_attachments reply_to_email forward_email"
    " move_email delete_email",
    "Calendar": "add_calendar_event delete_calendar_event",
    "Messages": "send_message send_message_to_group_conversation create_group_conversation"
    " download_attachment add_participant_to_conversation remove_participant_from_conversation"
    " change_conversation_title",
    "Cabs": "order_ride user_cancel_ride",
    "Shopping": "add_to_cart remove_from_cart checkout cancel_order",
    "RentAFlat": "save_apartment remove_saved_apartment",
    "Files": "open mkdir makedirs mv rm",
    "ReminderApp": "add_reminder delete_reminder delete_all_reminders",
    "AgentUserInterface": "",
    "SystemApp": "",
    "City": "",
}


async def test_every_tool_of_the_table_has_its_reviewed_kind(gaia2: Gaia2) -> None:
    catalogue = await gaia2.catalogue()
    assert len(catalogue.functions) > 100
    for app, names in WRITES.items():
        found = {item.short for item in catalogue.functions.values() if item.app == app}
        writes = {name for name in found if catalogue.kind(f"{app}.{name}") == "WRITE"}
        assert found, app
        assert writes == set(names.split()), app
    finish = "AgentUserInterface.send_message_to_user"
    assert [item.name for item in catalogue.functions.values() if item.kind == "FINISH"] == [finish]
    assert all(item.reason for item in catalogue.functions.values())
