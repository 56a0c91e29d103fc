"""What risks say of the bundled tasks: how often of right runs, and of which mistakes."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from adapters.appworld.benchmark import AppWorld
from adapters.environments import require
from adapters.gaia2.benchmark import Gaia2
from adapters.gaia2.setup import MINI, Gaia2Setup
from adapters.roots import Root
from injectors.gate.gate import VerifyBeforeWrite
from injectors.gate.settings import GateSettings
from runtime.contracts import Benchmark, Kind, Limits, Task
from runtime.episode import run_episode
from runtime.models.resolve import Models
from runtime.records import CallRecord
from runtime.trace import read_trace
from scripts.benchmarks import default_latch, persona_folders

DOCS = Path(__file__).parents[2] / "docs" / "gate.md"
MISTAKES = {
    "bulk_or_multi_write": "first_page_only",
    "cross_app": "recipient_name_ambiguous",
    "state_write": "recipient_name_ambiguous",
}
"""The mistake that the hasty persona makes in tasks of a signature, as a risk names it."""


@dataclass(frozen=True)
class Alarm:
    """One risk that an advisory named."""

    task: Task
    status: str
    """How the episode ended."""
    risk: str
    confidence: str
    executed_before: bool
    """The call had been let through before the stop that named the risk."""


@dataclass
class Told:
    """What one persona's runs behind the gate were told."""

    alarms: list[Alarm] = field(default_factory=list)
    writes: int = 0
    """Writes that executed."""
    passed: int = 0

    def share(self, confidence: str) -> float:
        """Return alarms of a confidence per executed write."""
        return sum(alarm.confidence == confidence for alarm in self.alarms) / self.writes


async def told(benchmark: Benchmark, persona: str, folder: Path) -> Told:
    """Play a persona over all bundled tasks; it sends a stopped cell again unchanged."""
    source = Models(personas=persona_folders()).resolve(f"scripted:{persona}")
    catalogue = await benchmark.catalogue()
    settings = GateSettings(latch=default_latch(benchmark.name))
    tasks = [task for name in benchmark.datasets() for task in benchmark.tasks(name)]
    assert len(tasks) == 20
    all_told = Told()
    for task in tasks:
        result = await run_episode(
            benchmark,
            task,
            source.for_episode(task, 0),
            gate=VerifyBeforeWrite(catalogue, task, settings=settings),
            limits=Limits(steps=30),
            trace=folder / f"{task.id}.jsonl",
        )
        assert result.error == ""
        all_told.passed += result.status == "passed"
        add(all_told, task, result.status, folder / f"{task.id}.jsonl")
    return all_told


def add(all_told: Told, task: Task, status: str, trace: Path) -> None:
    executed = []
    for record in read_trace(trace).records:
        if not isinstance(record, CallRecord) or record.kind is Kind.READ:
            continue
        call = (record.function, record.arguments)
        if record.decision.action == "allow":
            executed.append(call)
            all_told.writes += record.kind is Kind.WRITE
        for risk in (record.decision.advisory or {}).get("detected_risks", ()):
            all_told.alarms.append(
                Alarm(task, status, risk["id"], risk["confidence"], call in executed)
            )


@pytest.fixture
async def gaia2(tmp_path: Path) -> AsyncIterator[Gaia2]:
    roots = (Root("mini", MINI),)
    setup = Gaia2Setup(python=require("gaia2").python, scratch=tmp_path / "scratch", roots=roots)
    async with Gaia2(setup) as benchmark:
        yield benchmark


def assert_rarely_wrong(careful: Told) -> None:
    """False alarms are as rare as the specification wants, and docs/gate.md lists them."""
    assert careful.passed == 20
    assert careful.writes > 40
    assert careful.share("high") <= 0.02
    assert careful.share("medium") <= 0.15
    listed = DOCS.read_text("utf-8")
    for alarm in careful.alarms:
        assert f"`{alarm.task.id}`" in listed


@pytest.mark.slow
async def test_risks_rarely_speak_of_right_runs_on_appworld(
    appworld: AppWorld, tmp_path: Path
) -> None:
    assert_rarely_wrong(await told(appworld, "careful", tmp_path))


@pytest.mark.slow
async def test_risks_rarely_speak_of_right_runs_on_gaia2(gaia2: Gaia2, tmp_path: Path) -> None:
    assert_rarely_wrong(await told(gaia2, "careful", tmp_path))


@pytest.mark.slow
async def test_risks_name_designed_mistakes_before_they_execute(
    appworld: AppWorld, tmp_path: Path
) -> None:
    hasty = await told(appworld, "hasty", tmp_path)
    named = {
        (alarm.task.signature, alarm.risk)
        for alarm in hasty.alarms
        if alarm.status == "failed" and not alarm.executed_before
    }
    assert set(MISTAKES.items()) <= named


async def test_a_due_date_before_appworlds_clock_is_told(appworld: AppWorld) -> None:
    """Its calls carry no time: the gate once knew no clock there, and this risk never spoke."""
    task = appworld.tasks("mini_test")[0]
    world = await appworld.open(task, VerifyBeforeWrite(await appworld.catalogue(), task), Limits())
    try:
        for year, past in ((2021, True), (2041, False)):
            due = f'apis.todoist.create_task(project_id=1, title="x", due_date="{year}-01-02")'
            observation = await world.execute(due)
            assert observation.end.status == "stopped"
            assert ("date_in_the_past" in observation.notes) is past
    finally:
        await world.close()
