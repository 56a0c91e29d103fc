"""What memory and the gate show on GAIA2's own answers: contexts, the RTM block, cards in time."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from gaia2_worlds import run

from adapters.gaia2.benchmark import Gaia2
from adapters.gaia2.setup import MINI
from injectors.bank import Bank
from injectors.cards import FunctionCard, Skill, SkillCard, SkillDelta, skill_card_id
from injectors.forms import rtm_form
from injectors.gaia2_block import RTM_HEADING
from injectors.gate.gate import VerifyBeforeWrite
from injectors.memory_injector import JIT_HEADING, MemoryInjector
from injectors.profiles import settings_for
from injectors.seen import SeenCards
from runtime.contracts import Json, Limits, Task
from runtime.episode import run_episode
from runtime.models.scripted import ScriptedSource
from runtime.records import InjectionRecord
from runtime.trace import read_trace


def task_named(mini: Gaia2, name: str) -> Task:
    tasks = [task for dataset in mini.datasets() for task in mini.tasks(dataset)]
    return next(task for task in tasks if task.id == name)


async def advisory_of(mini: Gaia2, name: str, *reads: str, write: str) -> dict[str, Any]:
    """The advisory that stops `write` in a scenario, after some reads."""
    task = task_named(mini, name)
    world = await mini.open(task, VerifyBeforeWrite(await mini.catalogue(), task), Limits())
    try:
        await run(world, *reads)
        stopped = await world.execute(write)
        assert stopped.end.status == "stopped", stopped.text
        advisory: dict[str, Any] = json.loads(stopped.notes)
        return advisory
    finally:
        await world.close()


def risks(advisory: dict[str, Any]) -> list[str]:
    return [risk["id"] for risk in advisory["detected_risks"]]


# --- contexts in the advisory

MEETING = 'meeting = apps.Calendar.search_events(query="Loan meeting")[0]'
AT_THE_SAME_TIME = """
start, end = (meeting[name].partition(", ")[2] for name in ("start_strftime", "end_strftime"))
apps.Calendar.add_calendar_event(title="Coffee", start_datetime=start, end_datetime=end)
"""
RIDE = (
    'start_location="Studio, 8 Cais da Ribeira",'
    ' end_location="Harbour Bank, 40 Avenida do Porto", ride_time="2024-11-05 14:40:00"'
)
QUOTE = f'apps.Cabs.get_quotation({RIDE}, service_type="Default")'
ORDER = "apps.Cabs.order_ride({}, service_type={!r})"
BOTTLE = """
bottle = apps.Shopping.search_product(product_name="Glacier Blue Water Bottle")[0]
red = [item for item in bottle["variants"].values() if item["options"]["color"] == "red"][0]
"""
TO_THE_CART = 'apps.Shopping.add_to_cart(item_id=red["item_id"], quantity=1)'


async def test_a_calendar_write_shows_what_it_overlaps_and_the_worlds_date(mini: Gaia2) -> None:
    advisory = await advisory_of(
        mini, "mini_adaptability_meeting_off", MEETING, write=AT_THE_SAME_TIME
    )
    context = advisory["observed_calendar_context"]
    (overlap,) = context["overlaps"]
    assert "Loan meeting" in overlap
    assert context["current_date"].startswith("2024-11-05 ")
    assert context["current_date"].endswith("Tuesday")
    assert "calendar_overlap" in risks(advisory)
    assert advisory["observed_cab_context"] is None


async def test_a_ride_shows_its_quotation_which_was_no_empty_read(mini: Gaia2) -> None:
    """A quotation has an empty `delay_history`; it is an answer all the same."""
    name = "mini_adaptability_meeting_off"
    advisory = await advisory_of(mini, name, QUOTE, write=ORDER.format(RIDE, "Default"))
    quoted = advisory["observed_cab_context"]
    assert quoted["service_type"] == "Default"
    assert quoted["end_location"].startswith("Harbour Bank")
    assert quoted["price"] > 0
    assert "write_after_empty_read" not in risks(advisory)
    assert "ride_not_as_quoted" not in risks(advisory)


async def test_a_ride_other_than_quoted_is_a_risk(mini: Gaia2) -> None:
    name = "mini_adaptability_meeting_off"
    advisory = await advisory_of(mini, name, QUOTE, write=ORDER.format(RIDE, "Van"))
    assert "ride_not_as_quoted" in risks(advisory)


async def test_a_purchase_shows_the_products_variants(mini: Gaia2) -> None:
    name = "mini_ambiguity_bottle_color"
    advisory = await advisory_of(mini, name, BOTTLE, write=TO_THE_CART)
    context = advisory["observed_candidate_context"]
    assert context["product"] == "Glacier Blue Water Bottle"
    assert context["chosen"]["color"] == "red"
    assert {option["color"] for option in context["options"]} == {"black", "white", "red"}
    assert "variant_not_stated" in risks(advisory)


# --- cards: at task start, and with the cell that used a function


def skill_card() -> SkillCard:
    delta = SkillDelta(
        title="Compare before ordering a cab",
        applies_when="a cab is ordered for a meeting",
        solves="the ride differs from what was asked for",
        tags=("cab", "meeting", "order"),
        skill=Skill(core_rule="Ask for a quotation of the same ride first."),
    )
    return SkillCard(card_id=skill_card_id(delta), **delta.model_dump())


def function_card(tool: str) -> FunctionCard:
    app, _, function = tool.partition(".")
    return FunctionCard(
        card_id=f"function::{tool}",
        tool=tool,
        app=app,
        function=function,
        what_it_does=f"Observed of {tool}.",
    )


READ, WRITE = "Cabs.get_quotation", "Cabs.order_ride"


async def injections(
    mini: Gaia2, folder: Path, **overrides: Json
) -> tuple[Sequence[InjectionRecord], str]:
    """What a careful run gets to see of a bank with one skill and two functions' cards."""
    task = task_named(mini, "mini_adaptability_meeting_off")
    bank = Bank.of(
        "gaia2", [function_card(READ), function_card(WRITE)], {"Adaptability": [skill_card()]}
    )
    settings = settings_for("full", {"memory": "bank", **overrides}, latch="call")
    seen = SeenCards()
    careful = ScriptedSource("scripted:careful", [MINI / "personas" / "careful"])
    result = await run_episode(
        mini,
        task,
        careful.for_episode(task, 0),
        gate=VerifyBeforeWrite(await mini.catalogue(), task, bank=bank, seen=seen),
        injector=MemoryInjector(bank, settings, seen, form=rtm_form),
        trace=folder / "trace.jsonl",
    )
    records = read_trace(result.trace).records
    return [item for item in records if isinstance(item, InjectionRecord)], result.status


async def test_the_rtm_block_opens_an_episode(mini: Gaia2, tmp_path: Path) -> None:
    shown, status = await injections(mini, tmp_path)
    first = shown[0]
    assert first.text.startswith(RTM_HEADING)
    assert "Ask for a quotation of the same ride first." in first.text
    assert skill_card().card_id in first.cards
    assert status == "passed"


async def test_with_jit_a_functions_card_comes_with_its_first_use(
    mini: Gaia2, tmp_path: Path
) -> None:
    shown, status = await injections(mini, tmp_path, jit=True, function_topk_start=0)
    late = [item for item in shown if JIT_HEADING in item.text]
    assert [item.cards for item in late] == [(f"function::{READ}",)]  # the gate shows the other's
    assert f"Observed of {READ}." in late[0].text
    assert status == "passed"


async def test_with_pre_tool_all_a_reads_card_comes_and_nothing_is_stopped_for_it(
    mini: Gaia2, tmp_path: Path
) -> None:
    shown, status = await injections(mini, tmp_path, pre_tool="all", function_topk_start=0)
    late = [item for item in shown if JIT_HEADING in item.text]
    assert [item.cards for item in late] == [(f"function::{READ}",)]
    assert status == "passed"
