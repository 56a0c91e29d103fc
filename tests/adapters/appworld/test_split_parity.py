"""The split against the engine in one process: what agents see, what is saved, what is logged."""

from dataclasses import dataclass
from pathlib import Path

import pytest
from appworld_cells import any_task
from parity_cells import CELLS

from adapters.appworld.benchmark import AppWorld
from runtime.bridge.world import SplitWorld
from runtime.contracts import AllowGate, Limits


@dataclass(frozen=True)
class Side:
    """One way to run the engine, and what came of it."""

    texts: dict[str, str]
    verdict: tuple[bool, list[tuple[str, bool]]]
    outputs: Path


@dataclass(frozen=True)
class Both:
    plain: Side
    split: Side


async def run_plain(appworld: AppWorld, cells: dict[str, str], folder: Path) -> Side:
    benchmark = appworld.for_arm(folder, "arm")
    task = any_task(benchmark)
    engine = await benchmark.open_plain(task, Limits())
    wire = engine.channels[0]
    try:
        texts = {}
        for name, source in cells.items():
            await wire.send({"op": "run", "source": source})
            texts[name] = (await wire.recv())["text"]
        await wire.send({"op": "evaluate"})
        verdict = await wire.recv()
    finally:
        await engine.end()
    checks = [(check["requirement"], check["passed"]) for check in verdict["checks"]]
    return Side(texts, (verdict["passed"], checks), outputs(folder, task.id))


async def run_split(appworld: AppWorld, cells: dict[str, str], folder: Path) -> Side:
    benchmark = appworld.for_arm(folder, "arm")
    task = any_task(benchmark)
    world: SplitWorld = await benchmark.open(task, AllowGate(), Limits())
    try:
        texts = {name: (await world.execute(source)).text for name, source in cells.items()}
        outcome = await world.evaluate()
    finally:
        await world.close()
    checks = [(check.requirement, check.passed) for check in outcome.checks]
    return Side(texts, (outcome.passed, checks), outputs(folder, task.id))


def outputs(folder: Path, task: str) -> Path:
    return folder / "appworld" / "experiments" / "outputs" / "arm" / "tasks" / task


@pytest.fixture(scope="module")
async def both(appworld: AppWorld, tmp_path_factory: pytest.TempPathFactory) -> Both:
    folder = tmp_path_factory.mktemp("parity")
    plain = await run_plain(appworld, CELLS, folder / "plain")
    return Both(plain, await run_split(appworld, CELLS, folder / "split"))


@pytest.mark.parametrize("name", CELLS)
def test_a_cell_looks_the_same_as_in_one_process(both: Both, name: str) -> None:
    assert both.split.texts[name] == both.plain.texts[name]


def test_the_cells_do_what_they_are_named_after(both: Both) -> None:
    texts = both.plain.texts
    assert texts["no output"] == "Execution successful."
    assert '"email"' in texts["printed dict"]
    assert "transaction_id" in texts["write"]
    works = ("pendulum", "zones", "yaml", "collections", "rarer modules", "files", "finish")
    assert [name for name in works if "Execution failed" in texts[name]] == []


def test_the_saved_databases_are_the_same(both: Both) -> None:
    names = sorted(file.name for file in (both.plain.outputs / "dbs").iterdir())
    assert len(names) > 5
    different = [
        name
        for name in names
        if (both.plain.outputs / "dbs" / name).read_bytes()
        != (both.split.outputs / "dbs" / name).read_bytes()
    ]
    assert different == []
    assert sorted(file.name for file in (both.split.outputs / "dbs").iterdir()) == names


@pytest.mark.parametrize("name", ["api_calls.jsonl", "environment_io.md"])
def test_the_engines_logs_are_the_same(both: Both, name: str) -> None:
    plain, split = (
        (side.outputs / "logs" / name).read_text("utf-8").splitlines()
        for side in (both.plain, both.split)
    )
    assert len(plain) > 60
    assert split == plain


def test_the_verdicts_are_the_same(both: Both) -> None:
    assert both.split.verdict == both.plain.verdict


@pytest.mark.slow
async def test_the_limit_on_calls_is_worded_and_logged_as_in_one_process(
    appworld: AppWorld, tmp_path: Path
) -> None:
    cells = {
        "loop": "for i in range(1005): apis.supervisor.show_profile()",
        "swallowed": (
            "failed = 0\nfor i in range(1010):\n    try: apis.supervisor.show_profile()\n"
            "    except Exception: failed += 1\nprint(failed)"
        ),
    }
    plain = await run_plain(appworld, cells, tmp_path / "plain")
    split = await run_split(appworld, cells, tmp_path / "split")
    assert split.texts == plain.texts
    assert "exceeded the limit of 1000" in plain.texts["loop"]
    calls = [(side.outputs / "logs" / "api_calls.jsonl").read_bytes() for side in (plain, split)]
    assert calls[0] == calls[1]
