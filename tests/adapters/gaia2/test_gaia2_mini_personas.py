"""The three scripted personas: what they say is legal, and fares as their names promise."""

import re
from pathlib import Path

import pytest

from adapters.gaia2.benchmark import Gaia2
from adapters.gaia2.mini.source.write import MINIS
from adapters.gaia2.policy import compile_cell
from adapters.gaia2.setup import MINI, Gaia2Setup
from adapters.roots import Root
from injectors.gate.gate import VerifyBeforeWrite
from runtime.cells import read_reply
from runtime.contracts import Reply
from runtime.episode import EpisodeResult, run_episode
from runtime.models.script import read_turns
from runtime.models.scripted import ScriptedSource
from runtime.records import CallRecord, ObservationRecord
from runtime.trace import read_trace

PERSONAS = ("careful", "hasty", "wanderer")
SCENARIOS = [mini.id for mini in MINIS]
WANDERER_FAILS = {"mini_search_invoice_total", "mini_ambiguity_which_visit"}
Runs = dict[tuple[str, str], EpisodeResult]


def cells(persona: str, scenario: str) -> list[str]:
    turns = read_turns(MINI / f"personas/{persona}/{scenario}.md")
    found = [read_reply(Reply(text=turn.text)).source for turn in turns]
    assert None not in found, "one cell a turn"
    return [source for source in found if source is not None]


@pytest.fixture(scope="module")
async def runs(gaia2_python: Path, tmp_path_factory: pytest.TempPathFactory) -> Runs:
    """Run everyone through everything; careful once more behind the gate."""
    folder = tmp_path_factory.mktemp("personas")
    setup = Gaia2Setup(python=gaia2_python, scratch=folder / "scratch", roots=(Root("mini", MINI),))
    results: Runs = {}
    async with Gaia2(setup) as gaia2:
        tasks = [task for dataset in gaia2.datasets() for task in gaia2.tasks(dataset)]
        catalogue = await gaia2.catalogue()
        for persona in (*PERSONAS, "gated"):
            name = "careful" if persona == "gated" else persona
            source = ScriptedSource(f"scripted:{name}", [MINI / "personas" / name])
            for task in tasks:
                results[persona, task.id] = await run_episode(
                    gaia2,
                    task,
                    source.for_episode(task, 0),
                    trace=folder / persona / f"{task.id}.jsonl",
                    gate=VerifyBeforeWrite(catalogue, task) if persona == "gated" else None,
                )
    return results


def raised(result: EpisodeResult) -> list[str]:
    records = read_trace(result.trace).records
    observations = [item for item in records if isinstance(item, ObservationRecord)]
    return [item.text for item in observations if item.end.status == "raised"]


@pytest.mark.slow
@pytest.mark.parametrize("scenario", SCENARIOS)
class TestInTheWorld:
    def test_careful_passes_in_all_its_turns_without_an_error(
        self, scenario: str, runs: Runs
    ) -> None:
        result = runs["careful", scenario]
        assert result.status == "passed", result.outcome
        assert result.end.steps == len(cells("careful", scenario))
        assert raised(result) == []

    def test_careful_passes_behind_the_gate_too(self, scenario: str, runs: Runs) -> None:
        result = runs["gated", scenario]
        assert result.status == "passed", result.outcome
        calls = [item for item in read_trace(result.trace).records if isinstance(item, CallRecord)]
        writes = [call for call in calls if call.kind == "WRITE"]
        stops = [call for call in writes if call.decision.action == "stop"]
        assert bool(stops) is bool(writes)

    def test_hasty_makes_its_mistake(self, scenario: str, runs: Runs) -> None:
        result = runs["hasty", scenario]
        assert result.status == "failed", result.error
        assert raised(result) == []

    def test_wanderer_takes_longer_and_mostly_gets_there(self, scenario: str, runs: Runs) -> None:
        result = runs["wanderer", scenario]
        expected = "failed" if scenario in WANDERER_FAILS else "passed"
        assert result.status == expected, result.outcome
        assert result.end.steps > runs["careful", scenario].end.steps


@pytest.mark.parametrize("scenario", SCENARIOS)
@pytest.mark.parametrize("persona", PERSONAS)
def test_every_cell_is_legal(persona: str, scenario: str) -> None:
    for cell in cells(persona, scenario):
        compile_cell(cell, "<cell>")


@pytest.mark.parametrize("persona", PERSONAS)
def test_each_persona_repeats_a_stopped_cell(persona: str) -> None:
    (turn,) = read_turns(MINI / f"personas/{persona}/always.md")
    assert turn.suits('{"rtm_pre_tool_memory": "VERIFY_BEFORE_WRITE"}')
    assert turn.text == "{{last}}"


def test_waits_stand_alone() -> None:
    """A gate may run a cell twice: a wait beside a write would then wait twice."""
    writes = re.compile(r"\.(send_|add_|delete_|edit_|reply_|checkout|order_|user_cancel|save_)")
    for persona in PERSONAS:
        for scenario in SCENARIOS:
            for cell in cells(persona, scenario):
                assert not ("wait_for_notification" in cell and writes.search(cell)), scenario
