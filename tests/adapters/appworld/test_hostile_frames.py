"""Forged frames on the cell's two sockets: the parent takes them for what they are.

The descriptors are found as hostile code would find them: by trying the numbers.
"""

from collections.abc import AsyncIterator

import pytest
from appworld_cells import LOG_IN, executed, hashes, opened, text_of, works

from adapters.appworld.benchmark import AppWorld
from runtime.bridge.world import SplitWorld
from runtime.contracts import Observation

SOCKETS = """
socket, struct, json, threading = (
    __import__(name) for name in ("socket", "struct", "json", "threading")
)
libc = __import__("ctypes").CDLL(None)
control, calls = (
    socket.socket(fileno=n) for n in [n for n in range(3, 70) if libc.fcntl(n, 1) != -1][:2]
)
def raw(body, length=None):
    return struct.pack("=I", len(body) if length is None else length) + body
def frame(**fields):
    return raw(json.dumps(fields).encode())
def run_id():
    return requester.client.caller._run_id
"""


@pytest.fixture
async def world(appworld: AppWorld) -> AsyncIterator[SplitWorld]:
    async with opened(appworld, cell_s=2.0) as split:
        await split.execute(LOG_IN)
        await split.execute(SOCKETS)
        yield split


async def survived(world: SplitWorld, source: str) -> Observation:
    before = await hashes(world)
    observation = await world.execute(source)
    assert await works(world)
    assert await hashes(world) == before
    assert await executed(world) == []
    return observation


@pytest.mark.parametrize("name", ["control", "calls"])
@pytest.mark.parametrize(
    ("forged", "said"),
    [
        ('raw(b"x", 1 << 31)', "a frame of 2147483648 bytes"),
        ('raw(b"[" * 100_000)', "JSON nested deeper than 100"),
        ('raw(b"{nonsense")', "not JSON"),
        ('raw(b"[1]")', "not an object"),
        ("raw(b'[' * 101 + b'\"' + b'\\\\\"' * 400_000)", "JSON nested deeper than 100"),
        ('raw(b\'{"x":[\' + b"{}," * 1_000_000 + b"{}]}")', "JSON of more than 100000 items"),
        ('raw(b"\\xff\\xfe\\x00")', "not JSON"),
    ],
)
async def test_what_is_no_frame_ends_the_process(
    world: SplitWorld, name: str, forged: str, said: str
) -> None:
    observation = await survived(world, f"{name}.sendall({forged})\nwhile True: pass")
    assert observation.end.status == "killed"
    assert said in observation.text


async def test_a_forged_end_of_the_cell_gives_the_agents_own_text(world: SplitWorld) -> None:
    source = (
        "for n in [*range(40), run_id()]: control.sendall("
        "frame(op='done', id=n, text=f'forged {n}', raised='x'))\n"
        "control.sendall(frame(op='done', id='x', text={'a': 1}))\nwhile True: pass"
    )
    observation = await world.execute(source)
    assert observation.text.startswith("forged")
    later = await world.execute("print('later')")  # the old cell is still running
    assert later.end.status in {"timeout", "finished"}
    assert "forged" not in later.text
    assert await works(world)


async def test_a_forged_end_with_more_output_than_a_cell_may_have_is_cut(world: SplitWorld) -> None:
    source = (
        "control.sendall(frame(op='done', id=run_id(), text='x' * 15_000_000))\nwhile True: pass"
    )
    observation = await world.execute(source)
    assert set(observation.text) == {"x"}
    assert len(observation.text) < 1_100_000


async def test_an_end_forged_for_a_later_cell_is_dropped(world: SplitWorld) -> None:
    await world.execute(
        "for n in [*range(9), run_id()]: control.sendall(frame(op='done', id=n, text='no'))"
    )
    assert await text_of(world, "print('true')") == "true"


async def test_forged_calls_without_sense_are_refused(world: SplitWorld) -> None:
    source = (
        "for fields in ({}, {'op': 'call'}, {'op': 5, 'method': [], 'url': {}},\n"
        "        {'op': 'hash'}, {'op': 'evaluate'}, {'op': 'state'},\n"
        "        {'op': 'call', 'method': 'POST', 'url': '/dbs'},\n"
        "        {'op': 'call', 'method': 'POST', 'url': '/simple_note/notes/../../dbs'},\n"
        "        {'op': 'call', 'method': 'GET', 'url': 'http://example.org/x'},\n"
        "        {'op': 'call', 'method': 'GET', 'url': '/date_time', 'auth': 7},\n"
        "        {'op': 'note', 'method': 'x', 'url': 'y', 'data': [[]]},\n"
        "        {'op': 'note', 'method': 'get', 'url': 'y', 'data': 'text', 'order': 3}):\n"
        "    calls.sendall(frame(**fields))\n"
        "print('sent')"
    )
    observation = await survived(world, source)
    assert observation.text.strip() == "sent"
    assert len(observation.refusals) == 12


async def test_a_flood_of_calls_that_reads_no_reply(world: SplitWorld) -> None:
    source = (
        "junk = frame(op='call', method='GET', url='x' * 5000)\nwhile True: calls.sendall(junk)"
    )
    observation = await survived(world, source)
    assert observation.end.status in {"timeout", "killed", "raised"}


async def test_a_flood_of_control_frames(world: SplitWorld) -> None:
    source = "junk = frame(op='done', id=-1, text='x' * 5000)\nwhile True: control.sendall(junk)"
    observation = await survived(world, source)
    assert observation.end.status in {"timeout", "raised"}


async def test_a_frame_that_is_never_completed(world: SplitWorld) -> None:
    observation = await survived(world, "calls.sendall(raw(b'{', 1000))\nprint('end')")
    assert observation.text.strip() == "end"


async def test_closed_sockets(world: SplitWorld) -> None:
    observation = await survived(world, "libc.close(control.fileno())\nprint(1)")
    assert observation.end.status == "killed"
    await world.execute(SOCKETS)
    observation = await survived(
        world, "libc.close(calls.fileno())\napis.supervisor.show_profile()"
    )
    assert observation.end.status == "killed"


async def test_a_thread_that_steals_the_next_cell(world: SplitWorld) -> None:
    source = "threading.Thread(target=lambda: control.recv(10**6), daemon=True).start()"
    await world.execute(source)
    stolen = await world.execute("print('mine')")
    assert stolen.end.status in {"timeout", "finished", "killed"}
    await works(world)  # or it is this one that is stolen
    assert await works(world)


async def test_deep_arguments_and_odd_numbers(world: SplitWorld) -> None:
    source = (
        "deep = []\nfor _ in range(80): deep = [deep]\n"
        "for odd in (deep, float('nan'), float('inf'), 10**400, '\\x00', '\\ud800', {'': None}):\n"
        "    try: apis.spotify.search_songs(query=odd, page_limit=odd)\n"
        "    except Exception as error: print(type(error).__name__)\n"
        "print('end')"
    )
    observation = await survived(world, source)
    assert observation.text.strip().endswith("end")


async def test_an_argument_of_twenty_megabytes(world: SplitWorld) -> None:
    observation = await survived(world, "apis.spotify.search_songs(query='x' * 20_000_000)")
    assert observation.end.status == "killed"
    assert "it sent a frame of" in observation.text
