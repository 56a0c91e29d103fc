"""What is left after success, failure, Ctrl-C and kill -9; and what dies when it is killed."""

import asyncio
import os
import signal
import sys
from pathlib import Path

import pytest
from appworld_cells import any_task, hashes, opened, works

from adapters.appworld.benchmark import AppWorld
from adapters.appworld.setup import AppWorldSetup
from runtime.bridge.world import SplitWorld
from runtime.contracts import AllowGate, Limits
from runtime.errors import WorldError

PROGRAM = Path(__file__).with_name("stray_program.py")
REPOSITORY = PROGRAM.parents[3]


class Program:
    """The program in a session of its own, with an empty home, temporary and working folder."""

    def __init__(self, folder: Path, setup: AppWorldSetup) -> None:
        self.folder, self._setup = folder, setup
        self.scratch = folder / "scratch"
        for name in ("home", "tmp", "cwd"):
            (folder / name).mkdir(exist_ok=True)
        self.process: asyncio.subprocess.Process
        self.session = 0

    async def start(self, mode: str) -> None:
        setup = self._setup
        arguments = (mode, setup.python, setup.cache, setup.root, self.scratch)
        env = {
            "HOME": str(self.folder / "home"),
            "TMPDIR": str(self.folder / "tmp"),
            "PYTHONPATH": str(REPOSITORY),
            "PATH": os.defpath,
        }
        self.process = await asyncio.create_subprocess_exec(
            sys.executable,
            str(PROGRAM),
            *map(str, arguments),
            env=env,
            cwd=self.folder / "cwd",
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        self.session = int(await self._line())
        assert len(processes_of(self.session)) >= 3

    async def _line(self) -> bytes:
        assert self.process.stdout is not None
        async with asyncio.timeout(240):
            return await self.process.stdout.readline()

    async def waits(self) -> None:
        assert await self._line() == b"waiting\n"

    async def ended(self) -> int:
        async with asyncio.timeout(120):
            await self.process.communicate()
        assert self.process.returncode is not None
        return self.process.returncode

    async def left(self) -> list[str]:
        """Name what is still there: processes, and files outside of the folder for scratch."""
        for _ in range(500):
            if not processes_of(self.session):
                break
            await asyncio.sleep(0.02)
        files = [path for name in ("home", "tmp", "cwd") for path in (self.folder / name).iterdir()]
        outputs = list((self.scratch / "outputs").glob("*"))
        return [*map(str, processes_of(self.session)), *map(str, files), *map(str, outputs)]


def processes_of(session: int) -> list[int]:
    """Return the processes of a session: the warm one and all that it forked."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text("ascii").rpartition(")")[2].split()
            except (FileNotFoundError, ProcessLookupError):
                continue
            if int(fields[3]) == session and fields[0] != "Z":
                found.append(int(entry.name))
    return found


@pytest.fixture
def program(tmp_path: Path, appworld_setup: AppWorldSetup) -> Program:
    return Program(tmp_path, appworld_setup)


@pytest.mark.slow
@pytest.mark.parametrize(("mode", "code"), [("success", 0), ("failure", 1)])
async def test_nothing_is_left_after_an_end(program: Program, mode: str, code: int) -> None:
    await program.start(mode)
    assert await program.ended() == code
    assert await program.left() == []


@pytest.mark.slow
async def test_nothing_is_left_after_an_interrupt(program: Program) -> None:
    await program.start("wait")
    await program.waits()
    program.process.send_signal(signal.SIGINT)
    assert await program.ended() != 0
    assert await program.left() == []


@pytest.mark.slow
async def test_a_killed_parent_leaves_only_outputs_and_the_next_start_removes_them(
    program: Program,
) -> None:
    await program.start("wait")
    await program.waits()
    program.process.kill()
    assert await program.ended() == -signal.SIGKILL
    left = await program.left()
    assert [Path(path).parent for path in left] == [program.scratch / "outputs"]
    await program.start("success")
    assert await program.ended() == 0
    assert await program.left() == []


def cell_of(world: SplitWorld) -> int:
    return world.processes[0]


async def test_a_cell_process_killed_from_outside(appworld: AppWorld) -> None:
    async with opened(appworld) as world:
        await world.execute("kept = 1")
        before = await hashes(world)
        running = asyncio.create_task(world.execute("while True: len('')"))
        await asyncio.sleep(0.1)
        os.kill(cell_of(world), signal.SIGKILL)
        observation = await running
        assert observation.end.status == "killed"
        assert "The Python process was ended by SIGKILL." in observation.text
        assert "NameError" in (await world.execute("kept")).text
        assert await hashes(world) == before


async def test_a_cell_process_killed_between_cells_is_told_to_the_next(
    appworld: AppWorld,
) -> None:
    async with opened(appworld) as world:
        await world.execute("kept = 1")
        os.kill(cell_of(world), signal.SIGKILL)
        await asyncio.sleep(0.2)
        observation = await world.execute("print(2)")
        assert observation.text == (
            "The Python process was ended by SIGKILL."
            " The interpreter was restarted: all variables are lost.\n2\n"
        )


async def test_a_world_killed_mid_cell_ends_its_episode_and_no_other(
    appworld: AppWorld, tmp_path: Path
) -> None:
    async with opened(appworld) as doomed, opened(appworld.for_arm(tmp_path, "arm")) as other:
        loop = "while True: apis.supervisor.show_profile()"
        running = asyncio.create_task(doomed.execute(loop))
        await asyncio.sleep(0.2)
        os.kill(doomed.processes[1], signal.SIGKILL)
        with pytest.raises(WorldError, match="The world process ended"):
            await running
        with pytest.raises(WorldError):
            await doomed.evaluate()
        assert await works(other)


async def test_a_cancelled_cell_does_not_garble_what_follows(appworld: AppWorld) -> None:
    async with opened(appworld) as world:
        for wait in (0.0, 0.01, 0.02, 0.03, 0.05, 0.08):
            running = asyncio.create_task(
                world.execute("for _ in range(200): apis.supervisor.show_profile()")
            )
            await asyncio.sleep(wait)
            running.cancel()
            with pytest.raises(asyncio.CancelledError):
                await running
            assert "hash" in await world.ask({"op": "hash"})
        assert (await world.evaluate()).checks


@pytest.mark.slow
async def test_a_killed_warm_process_ends_its_episodes_and_the_next_open_starts_another(
    appworld_setup: AppWorldSetup,
) -> None:
    async with AppWorld(appworld_setup) as appworld:
        world = await appworld.open(any_task(appworld), AllowGate(), Limits())
        assert appworld._host._process is not None
        os.kill(appworld._host._process.pid, signal.SIGKILL)
        with pytest.raises(WorldError):
            await world.execute("print(1)")
        await world.close()
        async with opened(appworld) as another:
            assert await works(another)
