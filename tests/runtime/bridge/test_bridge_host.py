"""A real warm process that forks real children: started, cancelled, killed, cleaned up.

GAIA2's cell process serves as the example: it runs in our own interpreter and starts at once.
"""

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from runtime.bridge.host import Child, Host
from runtime.errors import NotReady

MODULE = "adapters.gaia2.cell"


def a_host(tmp_path: Path, **options: Any) -> Host:
    settings = {"python": Path(sys.executable), "module": MODULE, "env": {}, "cwd": tmp_path}
    return Host(**{**settings, **options})


@pytest.fixture
async def host(tmp_path: Path) -> AsyncIterator[Host]:
    warm = a_host(tmp_path)
    yield warm
    await warm.close()


def params(tmp_path: Path) -> dict[str, Any]:
    return {"docs": {}, "seed": 1, "jail": str(tmp_path)}


async def a_child(host: Host, tmp_path: Path) -> Child:
    child = await host.spawn("cell", params(tmp_path), channels=2)
    assert "ok" in await child.channels[0].recv()
    return child


def zygote(host: Host) -> int:
    assert host._process is not None
    return host._process.pid


def children_of(pid: int) -> list[int]:
    text = Path(f"/proc/{pid}/task/{pid}/children").read_text("ascii")
    return [int(child) for child in text.split()]


def runs(pid: int) -> bool:
    """Whether a process is there, and more than a name that waits to be read."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text("ascii")
    except (FileNotFoundError, ProcessLookupError):
        return False
    return stat.rpartition(")")[2].split()[0] != "Z"


async def gone(pid: int) -> bool:
    """Wait until a process has ended."""
    for _ in range(500):
        if not runs(pid):
            return True
        await asyncio.sleep(0.02)
    return False


async def test_how_a_child_ended_is_told(host: Host, tmp_path: Path) -> None:
    child = await a_child(host, tmp_path)
    os.kill(child.pid, signal.SIGSEGV)
    assert await gone(child.pid)
    assert await child.end() == -signal.SIGSEGV
    assert await child.end() == -signal.SIGSEGV
    assert child.pid not in children_of(zygote(host))


async def test_a_child_that_fails_says_why(host: Host, tmp_path: Path) -> None:
    child = await host.spawn("cell", {}, channels=2)
    reply = await child.channels[0].recv()
    assert "KeyError: 'docs'" in reply["error"]
    assert await child.end() in {1, -signal.SIGKILL}


async def test_an_interpreter_that_is_missing(tmp_path: Path) -> None:
    with pytest.raises(NotReady, match="is gone"):
        await a_host(tmp_path, python=tmp_path / "python").start()


async def test_a_warm_process_that_cannot_start_shows_its_last_words(tmp_path: Path) -> None:
    host = a_host(tmp_path, module="runtime.nonsense")
    with pytest.raises(NotReady, match="No module named"):
        await host.start()
    await host.close()


async def test_a_start_that_is_cancelled_can_be_made_again(host: Host) -> None:
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(host.start(), 0.001)
    assert host._process is None
    assert await host.start() == {}
    assert host._process is not None


async def test_a_killed_warm_process_is_started_again(host: Host, tmp_path: Path) -> None:
    child = await a_child(host, tmp_path)
    first = zygote(host)
    os.kill(first, signal.SIGKILL)
    another = await a_child(host, tmp_path)
    assert zygote(host) != first
    assert await gone(child.pid)
    assert await child.end() == 0
    assert (await another.end()) == -signal.SIGKILL


async def test_cancelled_spawns_leave_no_process_and_no_confusion(
    host: Host, tmp_path: Path
) -> None:
    await host.start()
    for turn in range(20):
        spawning = asyncio.create_task(host.spawn("cell", params(tmp_path), channels=2))
        for _ in range(turn % 7):
            await asyncio.sleep(0)
        spawning.cancel()
        try:
            await (await spawning).end()  # it was ready before the cancellation
        except asyncio.CancelledError:
            continue
    child = await a_child(host, tmp_path)
    assert children_of(zygote(host)) == [child.pid]
    await child.end()


async def test_children_end_with_their_warm_process(host: Host, tmp_path: Path) -> None:
    children = [await a_child(host, tmp_path) for _ in range(3)]
    children[0].signal(signal.SIGSTOP)
    await host.close()
    assert all([await gone(child.pid) for child in children])
    for child in children:
        assert await child.end() == 0


async def test_a_signal_to_an_ended_child_reaches_nobody(host: Host, tmp_path: Path) -> None:
    child = await a_child(host, tmp_path)
    await child.end()
    child.signal(signal.SIGKILL)
    assert child.threads() in {0, 1}


async def test_a_warm_process_that_hangs_is_replaced(tmp_path: Path) -> None:
    host = a_host(tmp_path, spawn_s=0.5)
    await host.start()
    hanging = zygote(host)
    os.kill(hanging, signal.SIGSTOP)
    child = await a_child(host, tmp_path)
    assert await gone(hanging)
    await child.end()
    await host.close()
