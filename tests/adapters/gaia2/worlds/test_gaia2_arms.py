"""The promise of the Time ability: every arm, with memory or without, meets the same world."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from adapters.gaia2.benchmark import Gaia2
from adapters.gaia2.episode import Gaia2World
from adapters.gaia2.setup import MINI
from injectors.bank import Bank
from injectors.bank_files import create_bank, load_bank
from injectors.cards import FunctionCard, Skill, SkillCard, SkillDelta, skill_card_id
from injectors.gate.gate import VerifyBeforeWrite
from injectors.gate.settings import GateSettings
from injectors.memory_injector import MemoryInjector
from injectors.profiles import settings_for
from injectors.seen import SeenCards
from runtime.contracts import Gate, Injector, Task
from runtime.episode import run_episode
from runtime.models.scripted import ScriptedSource
from runtime.records import (
    CallRecord,
    InjectionRecord,
    MessageRecord,
    NotificationRecord,
    ObservationRecord,
)
from runtime.trace import read_trace

CLOCK = "[clock"
LESSON = SkillDelta(
    title="Ask, wait out the time, then decide",
    applies_when="somebody is asked by message and the call depends on an answer in time",
    solves="the call is deleted although the answer came",
    tags=("message", "wait", "call"),
    skill=Skill(core_rule="Wait again until the whole time is over."),
)
SENDING = FunctionCard(
    card_id="function::Messages.send_message",
    tool="Messages.send_message",
    app="Messages",
    function="send_message",
    what_it_does="Returns the conversation's id.",
)


@pytest.fixture
def bank(tmp_path: Path) -> Bank:
    skill = SkillCard(card_id=skill_card_id(LESSON), **LESSON.model_dump())
    create_bank(tmp_path / "bank", Bank.of("gaia2", [SENDING], {"Time": [skill]}))
    return load_bank(tmp_path / "bank")


@pytest.fixture
def histories(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The events of every world, in the order in which the worlds are closed."""
    kept: list[Any] = []
    close = Gaia2World.close

    async def close_and_keep(world: Gaia2World) -> None:
        kept.append(await world.events())
        await close(world)

    monkeypatch.setattr(Gaia2World, "close", close_and_keep)
    return kept


@dataclass(frozen=True)
class Seen:
    """What an agent saw of the world, and when; memory's part apart."""

    status: str
    opening_time: str
    notifications: list[str]
    observations: list[str]
    call_times: list[float | None]
    memory: list[str]


async def play(
    mini: Gaia2, task: Task, persona: str, trace: Path, gate: Gate, injector: Injector | None
) -> Seen:
    source = ScriptedSource(f"scripted:{persona}", [MINI / "personas" / persona])
    model = source.for_episode(task, 0)
    result = await run_episode(mini, task, model, gate=gate, injector=injector, trace=trace)
    records = read_trace(result.trace).records
    users = [item for item in records if isinstance(item, MessageRecord) and item.role == "user"]
    return Seen(
        status=result.status,
        opening_time=users[0].content.partition("\n")[0],
        notifications=[item.text for item in records if isinstance(item, NotificationRecord)],
        observations=[item.text for item in records if isinstance(item, ObservationRecord)],
        call_times=[item.simulated_time for item in records if isinstance(item, CallRecord)],
        memory=[item.text for item in records if isinstance(item, InjectionRecord)],
    )


@pytest.mark.parametrize(("persona", "status"), [("careful", "passed"), ("hasty", "failed")])
async def test_under_time_an_arm_with_memory_and_one_without_meet_the_same_world(
    mini: Gaia2, bank: Bank, histories: list[Any], tmp_path: Path, persona: str, status: str
) -> None:
    task = next(t for t in mini.tasks("mini_train") if t.id == "mini_time_call_answered")
    catalogue = await mini.catalogue()
    off = GateSettings(on=False)
    plain = await play(
        mini,
        task,
        persona,
        tmp_path / "none.jsonl",
        VerifyBeforeWrite(catalogue, task, settings=off),
        None,
    )
    settings, seen = settings_for("time", {"memory": "bank"}), SeenCards()
    assert settings.time_rules
    assert not settings.gate
    remembering = await play(
        mini,
        task,
        persona,
        tmp_path / "time.jsonl",
        VerifyBeforeWrite(catalogue, task, settings=off, bank=bank, seen=seen),
        MemoryInjector(bank, settings, seen),
    )

    assert not plain.memory
    assert any("Wait again until the whole time is over." in text for text in remembering.memory)
    assert plain.status == remembering.status == status
    assert histories[0] == histories[1]
    assert any(event["type"] == "ENV" for event in histories[0])
    assert plain.opening_time == remembering.opening_time
    assert plain.notifications == remembering.notifications
    assert plain.observations == remembering.observations
    assert plain.call_times == remembering.call_times
    assert all(CLOCK in text for text in plain.observations)
    clock_messages = [text for text in plain.notifications if text.startswith(CLOCK)]
    assert bool(clock_messages) is (persona == "hasty")
