"""What the split costs on AppWorld, against the engine as its makers run it."""

from __future__ import annotations

import asyncio
import contextlib
import statistics
import tempfile
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from adapters.appworld.benchmark import AppWorld
from adapters.appworld.setup import AppWorldSetup
from injectors.gate.gate import VerifyBeforeWrite
from injectors.gate.settings import GateSettings
from runtime.bridge.host import Child
from runtime.bridge.world import SplitWorld
from runtime.contracts import AllowGate, Gate, Limits
from runtime.errors import WorldError
from scripts.benches.figures import Figure, alternating, compare

__all__ = ["gate_read", "measure_episode", "measure_open", "measure_pss"]

COLD = """
import sys
from appworld import AppWorld
AppWorld(task_id=sys.argv[1], experiment_name="cold", load_ground_truth=False)
print("open", flush=True)
"""
LOG_IN = """
me = apis.supervisor.show_profile()
rows = apis.supervisor.show_account_passwords()
passwords = {row["account_name"]: row["password"] for row in rows}
def log_in(app):
    return getattr(apis, app).login(username=me["email"], password=passwords[app])["access_token"]
songs, venmo, notes = log_in("spotify"), log_in("venmo"), log_in("simple_note")
"""
READ = "apis.spotify.show_song_library(access_token=songs, page_index={page}, page_limit=2)"
CELLS = (
    LOG_IN,
    *[f"page = [{READ.format(page='i')} for i in range(5)]\nprint(page[0])"] * 9,
    """
for i in range(3): apis.simple_note.create_note(title=f"n{i}", content="c", access_token=notes)
for i in range(4): apis.venmo.show_transactions(access_token=venmo, page_index=i)
""",
    "for i in range(2): apis.supervisor.show_profile()\napis.supervisor.complete_task()",
)
"""12 cells, 60 calls: 5 to log in, 45 reads, 3 writes and 4 reads, 2 reads and the end."""
READS = 1000
"""Reads of a cell for the gate's cost: as many as it may make, of the cheapest there is."""


async def measure_open(setup: AppWorldSetup) -> Figure:
    """Cold start of the engine over opening a world and a locked cell from the warm process.

    Value and baseline are seconds; the ratio says how many times cheaper the warm opening is.
    """
    async with AppWorld(setup) as appworld:
        task = appworld.tasks("mini_test")[0]
        await appworld.catalogue()
        cold, warm = [], []
        for _ in range(3):
            cold.append(await _cold_start(setup, task.id))
            begun = time.perf_counter()
            world = await appworld.open(task, AllowGate(), Limits())
            warm.append(time.perf_counter() - begun)
            await world.close()
    value, baseline = statistics.median(warm), statistics.median(cold)
    return Figure(
        value=round(value, 4),
        unit="s",
        baseline=round(baseline, 4),
        ratio=round(baseline / value, 2),
    )


async def measure_episode(setup: AppWorldSetup) -> Figure:
    """12 cells with 60 calls and the evaluation: wall time of the split over one process."""
    async with _two_arms(setup) as (ours, plain):
        return compare(*await alternating(lambda: _split(ours), lambda: _plain(plain), rounds=7))


async def gate_read(setup: AppWorldSetup) -> Figure:
    """A cell with 1,000 reads: wall time with the gate on over the gate off."""
    async with _two_arms(setup) as (one, other):
        catalogue = await one.catalogue()
        gates = [VerifyBeforeWrite(catalogue, settings=GateSettings(on=on)) for on in (True, False)]
        async with _opened(one, gates[0]) as on, _opened(other, gates[1]) as off:
            return compare(*await alternating(lambda: _reads(on), lambda: _reads(off), rounds=7))


async def measure_pss(setup: AppWorldSetup, episodes: int = 4) -> Figure:
    """Memory (PSS) that each further episode adds, over what the engine in one process adds."""
    with tempfile.TemporaryDirectory(prefix="contramem-bench-") as folder:
        async with AppWorld(setup) as appworld:
            arms = [appworld.for_arm(Path(folder) / str(n), "arm") for n in range(episodes)]
            added = [await _added(arms, plain=plain) for plain in (False, True)]
    return Figure(
        value=round(added[0], 1),
        unit="MB",
        baseline=round(added[1], 1),
        ratio=round(added[0] / added[1], 3),
    )


async def _cold_start(setup: AppWorldSetup, task: str) -> float:
    """Start the engine in a process of its own, its outputs out of the user's way."""
    with tempfile.TemporaryDirectory(prefix="contramem-bench-") as root:
        (Path(root) / "data").symlink_to(setup.root / "data")
        begun = time.perf_counter()
        process = await asyncio.create_subprocess_exec(
            str(setup.python),
            "-c",
            COLD,
            task,
            env=setup.child_environment() | {"APPWORLD_ROOT": root},
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
        )
        assert process.stdout is not None
        said = await process.stdout.readline()
        took = time.perf_counter() - begun
        await process.communicate()
    if said != b"open\n":
        raise WorldError("The engine did not open in a process of its own.")
    return took


@asynccontextmanager
async def _two_arms(setup: AppWorldSetup) -> AsyncIterator[tuple[AppWorld, AppWorld]]:
    """Return one warm benchmark twice, so that outputs of two open worlds do not meet."""
    with tempfile.TemporaryDirectory(prefix="contramem-bench-") as folder:
        async with AppWorld(setup) as appworld:
            yield (
                appworld.for_arm(Path(folder) / "one", "one"),
                appworld.for_arm(Path(folder) / "two", "two"),
            )


@asynccontextmanager
async def _opened(appworld: AppWorld, gate: Gate) -> AsyncIterator[SplitWorld]:
    world = await appworld.open(appworld.tasks("mini_test")[0], gate, Limits())
    try:
        await _execute(world, LOG_IN)
        yield world
    finally:
        await world.close()


async def _split(appworld: AppWorld) -> float:
    world = await appworld.open(appworld.tasks("mini_test")[0], AllowGate(), Limits())
    try:
        begun = time.perf_counter()
        for cell in CELLS:
            await _execute(world, cell)
        await world.evaluate()
        return time.perf_counter() - begun
    finally:
        await world.close()


async def _plain(appworld: AppWorld) -> float:
    engine = await appworld.open_plain(appworld.tasks("mini_test")[0], Limits())
    try:
        begun = time.perf_counter()
        for cell in CELLS:
            _must_work((await _ask(engine, {"op": "run", "source": cell}))["text"])
            await _ask(engine, {"op": "state"})
        await _ask(engine, {"op": "evaluate"})
        return time.perf_counter() - begun
    finally:
        await engine.end()


async def _reads(world: SplitWorld) -> float:
    begun = time.perf_counter()
    await _execute(world, f"for i in range({READS}): apis.supervisor.show_profile()")
    return time.perf_counter() - begun


async def _added(arms: Sequence[AppWorld], *, plain: bool) -> float:
    """Open one episode an arm; return what each beyond the first added to their memory, in MB."""
    pids: list[int] = []
    totals: list[float] = []
    async with contextlib.AsyncExitStack() as stack:
        for arm in arms:
            pids += await _one_more(arm, stack, plain=plain)
            totals.append(sum(map(_pss, pids)))
    return (totals[-1] - totals[0]) / (len(arms) - 1)


async def _one_more(
    appworld: AppWorld, stack: contextlib.AsyncExitStack, *, plain: bool
) -> list[int]:
    """Open one more episode, use it, and return the ids of its processes."""
    task = appworld.tasks("mini_test")[0]
    if plain:
        engine = await appworld.open_plain(task, Limits())
        stack.push_async_callback(engine.end)
        _must_work((await _ask(engine, {"op": "run", "source": LOG_IN}))["text"])
        return [engine.pid]
    world = await appworld.open(task, AllowGate(), Limits())
    stack.push_async_callback(world.close)
    await _execute(world, LOG_IN)
    return list(world.processes)


def _pss(pid: int) -> float:
    """Return a process's proportional memory in MB (Linux)."""
    for line in Path(f"/proc/{pid}/smaps_rollup").read_text("ascii").splitlines():
        if line.startswith("Pss:"):
            return int(line.split()[1]) / 1024
    raise OSError(f"no PSS of process {pid}")


async def _ask(engine: Child, frame: dict[str, str]) -> dict[str, str]:
    await engine.channels[0].send(frame)
    return await engine.channels[0].recv()


async def _execute(world: SplitWorld, cell: str) -> None:
    _must_work((await world.execute(cell)).text)


def _must_work(text: str) -> None:
    if text.startswith("Execution failed"):
        raise WorldError(f"A cell of the bench failed: {text}")
