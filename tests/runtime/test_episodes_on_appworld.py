"""Loop, trace, masking and replay on the real engine."""

from __future__ import annotations

import re
import socket
from pathlib import Path

import pytest

from adapters.appworld.benchmark import AppWorld
from injectors.gate.gate import VerifyBeforeWrite
from injectors.gate.settings import GateSettings
from runtime.contracts import Limits, NoInjector, Task
from runtime.episode import run_episode
from runtime.models.resolve import Models
from runtime.models.scripted import ScriptedSource
from runtime.replay import Replay, replay
from runtime.trace import TraceFile, read_trace
from scripts.benchmarks import persona_folders
from tests.support.fake_world import cell, says

DATASET = "mini_test"
PAYS = "d81ca05_1"  # reads passwords and texts, logs in twice, pays
FINISH = cell("apis.supervisor.complete_task()")


def task_named(appworld: AppWorld, name: str) -> Task:
    return next(task for task in appworld.tasks(DATASET) if task.id == name)


def persona(name: str) -> ScriptedSource:
    source = Models(personas=persona_folders()).resolve(f"scripted:{name}")
    assert isinstance(source, ScriptedSource)
    return source


class World:
    """Records and replays on the warm engine."""

    def __init__(self, appworld: AppWorld, folder: Path) -> None:
        self.appworld, self.folder = appworld, folder

    async def gate(self, task: Task, *, on: bool) -> VerifyBeforeWrite:
        catalogue = await self.appworld.catalogue()
        return VerifyBeforeWrite(catalogue, task, settings=GateSettings(on=on))

    async def record(self, name: str, model=None, *, on=False, **options) -> TraceFile:
        task = task_named(self.appworld, name)
        result = await run_episode(
            self.appworld,
            task,
            model or persona("careful").for_episode(task, 0),
            gate=await self.gate(task, on=on),
            trace=self.folder / f"{name}-{on}.jsonl",
            **options,
        )
        assert result.error == ""
        return read_trace(result.trace)

    async def replay(self, recorded: TraceFile, mode, *, on: bool) -> Replay:
        return await replay(
            recorded,
            self.appworld,
            gate=await self.gate(recorded.header.task, on=on),
            injector=NoInjector(),
            mode=mode,
            arm={},
            to=self.folder / mode / recorded.path.name,
        )


@pytest.fixture
def world(appworld, tmp_path) -> World:
    return World(appworld, tmp_path)


@pytest.fixture
def unplugged(monkeypatch):
    """No socket of this process reaches a network."""

    def refuse(self, address):
        raise AssertionError(f"connects to {address}")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", lambda *words, **_: refuse(None, words))


async def both_ways(world: World, name: str, model=None) -> None:
    plain = await world.record(name, model, on=False)
    verified = await world.replay(plain, "verify", on=False)
    assert str(verified.first_difference) == "None"
    on = await world.replay(plain, "toggled", on=True)
    writes = [r for r in plain.records if r.type == "call" and r.kind == "WRITE"]
    assert bool(on.stopped_writes) == bool(writes)
    assert on.outcome == verified.outcome == plain.end.status


async def and_back(world: World, name: str, model=None) -> None:
    gated = await world.record(name, model, on=True)
    verified = await world.replay(gated, "verify", on=True)
    assert str(verified.first_difference) == "None"
    off = await world.replay(gated, "toggled", on=False)
    assert off.stopped_writes == ()
    assert off.outcome == verified.outcome == gated.end.status


async def test_an_episode_is_verified_and_toggled_both_ways_without_a_network(world, unplugged):
    await both_ways(world, PAYS)
    await and_back(world, PAYS)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["careful", "hasty", "wanderer"])
async def test_all_episodes_are_verified_and_toggled_both_ways(world, appworld, unplugged, name):
    source = persona(name)
    for task in appworld.tasks(DATASET):
        await both_ways(world, task.id, source.for_episode(task, 0))
        await and_back(world, task.id, source.for_episode(task, 0))


SECRETS = """
for each in apis.supervisor.show_account_passwords():
    print("secret", each["password"])
passwords = {x["account_name"]: x["password"] for x in apis.supervisor.show_account_passwords()}
me = apis.supervisor.show_profile()
token = apis.venmo.login(username=me["email"], password=passwords["venmo"])["access_token"]
print("secret", token)
for card in apis.venmo.show_payment_cards(access_token=token):
    print(card)
"""


class Keeps:
    """Says its replies and keeps the conversation: the agent sees what the trace must not hold."""

    name = "keeps"

    def __init__(self, *replies: str) -> None:
        self._says = says(*replies)
        self.seen = ""

    async def complete(self, messages):
        self.seen = messages[-1].content
        return await self._says.complete(messages)


async def test_passwords_and_tokens_of_appworld_are_in_no_trace(world):
    model = Keeps(cell(SECRETS), FINISH)
    recorded = await world.record(PAYS, model)
    secrets = re.findall(r"secret (\S+)", model.seen)
    assert len(secrets) > 5
    assert sum(each.startswith("eyJ") for each in secrets) == 1
    text = recorded.path.read_text("utf-8")
    left = [each for each in secrets if each in text]
    assert left == []
    masks = re.findall(r"secret (<secret:\d+>)", text)
    assert len(set(masks)) == len(set(secrets))
    cvv = re.search(r"'cvv_number': (\d+)", model.seen)
    assert cvv is None or "'cvv_number': <secret:" in text


async def test_code_that_spells_a_password_out_replays_in_a_fresh_world(world):
    """The trace holds a mask there; the replay puts its own world's secret back."""
    look = Keeps(cell(SECRETS), FINISH)
    await world.record(PAYS, look)
    password = re.findall(r"secret (\S+)", look.seen)[0]
    spells = cell(
        f"known = [x['password'] for x in apis.supervisor.show_account_passwords()]\n"
        f"print({password!r} in known)"
    )
    recorded = await world.record(PAYS, says(cell(SECRETS), spells, FINISH))
    observed = [record.text for record in recorded.records if record.type == "observation"]
    assert observed[1].strip() == "True"
    assert str((await world.replay(recorded, "verify", on=False)).first_difference) == "None"


async def test_a_cell_that_hangs_runs_into_the_wall(world):
    recorded = await world.record(
        PAYS, says(cell("while True:\n    pass")), limits=Limits(wall_s=3)
    )
    assert (recorded.end.status, recorded.end.limit) == ("failed", "wall")
    assert 3 <= recorded.end.wall_s < 10


async def test_a_surrogate_in_code_and_output_leaves_a_readable_trace(world):
    recorded = await world.record(
        PAYS, says(cell("print('a\\ud800b')"), cell("1 + '\ud800'"), FINISH)
    )
    assert recorded.end.steps == 3
    assert str((await world.replay(recorded, "verify", on=False)).first_difference) == "None"
