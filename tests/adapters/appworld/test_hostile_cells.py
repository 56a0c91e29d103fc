"""Cells that attack: each ends in a clear observation, and the next cell works as ever."""

import asyncio
import platform
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from appworld_cells import LOG_IN, executed, hashes, opened, text_of, works

from adapters.appworld.benchmark import AppWorld
from runtime.bridge.world import SplitWorld
from runtime.contracts import Observation

CELL_S = 4.0
RESTARTED = "The interpreter was restarted: all variables are lost."


@pytest.fixture(scope="module")
async def world(appworld: AppWorld) -> AsyncIterator[SplitWorld]:
    async with opened(appworld, cell_s=CELL_S) as split:
        assert split.lockdown.startswith("full"), split.lockdown
        yield split


async def survived(world: SplitWorld, source: str) -> Observation:
    """Run a hostile cell; the world must not have changed and the next cell must work."""
    before = await hashes(world)
    observation = await world.execute(source)
    assert await hashes(world) == before
    assert await works(world)
    return observation


def child_processes(world: SplitWorld) -> list[str]:
    pid = world.processes[0]
    return Path(f"/proc/{pid}/task/{pid}/children").read_text("ascii").split()


def state_of(pid: int) -> str:
    return Path(f"/proc/{pid}/stat").read_text("ascii").rpartition(")")[2].split()[0]


async def test_endless_loop_that_swallows_everything(world: SplitWorld) -> None:
    observation = await survived(
        world,
        "while True:\n  try:\n    for i in range(10**6): str(i)\n  except BaseException: pass",
    )
    assert observation.end.status == "timeout"
    said = f"Execution timed out after {CELL_S + 2:g} seconds. {RESTARTED}"
    assert observation.text == f"Execution failed. Traceback:\n{said}"


async def test_loop_that_the_engine_can_stop_keeps_the_variables(world: SplitWorld) -> None:
    await world.execute("kept = 41")
    observation = await survived(world, "while True: pass")
    assert "Execution timed out" in observation.text
    assert (observation.end.status, await text_of(world, "print(kept + 1)")) == ("raised", "42")


async def test_huge_list(world: SplitWorld) -> None:
    observation = await survived(world, "x = []\nwhile True: x.append([0] * 5_000_000)")
    await world.execute("del x")
    assert "MemoryError" in observation.text


async def test_ten_megabytes_of_output(world: SplitWorld) -> None:
    observation = await survived(world, 'print("x" * 10_000_000)')
    assert "8951425 more characters were cut" in observation.text
    assert len(observation.text) < 1_100_000


async def test_lone_surrogates_in_output(world: SplitWorld) -> None:
    observation = await survived(world, 'print("a\\ud800b", {"k": "\\udfff"})')
    assert observation.text.startswith("a?b")


async def test_lone_surrogates_in_arguments_and_tokens(world: SplitWorld) -> None:
    observation = await survived(
        world,
        'apis.spotify.search_songs(query="\\ud800", access_token="a.eyJzdWIiOiAiXHVkODAwIn0.b")',
    )
    assert observation.end.status == "finished"


@pytest.mark.parametrize(
    "call",
    [
        "__import__('os').fork()",
        "__import__('os').forkpty()",
        "__import__('posix').fork()",
        "__import__('_posixsubprocess').fork_exec",
        "__import__('os').posix_spawn('/bin/sh', ['sh'], {})",
        "__import__('multiprocessing').Process(target=print).start()",
        "__import__('ctypes').CDLL(None).fork()",
        "__import__('ctypes').CDLL(None).syscall(56, 17, 0, 0, 0, 0)",
        "__import__('ctypes').CDLL(None).system(b'true')",
    ],
)
async def test_no_process_can_be_made(world: SplitWorld, call: str) -> None:
    await survived(world, f"print({call})")
    assert child_processes(world) == []


async def test_exit_without_clean_up(world: SplitWorld) -> None:
    source = "__import__('ctypes').CDLL(None)._exit(7)"
    observation = await survived(world, source)
    assert observation.end.status == "killed"
    assert f"The Python process ended with exit code 7. {RESTARTED}" in observation.text


async def test_os_exit(world: SplitWorld) -> None:
    observation = await survived(world, "__import__('os')._exit(3)\nprint('still here')")
    assert observation.end.status in {"killed", "finished", "raised"}


async def test_segmentation_fault(world: SplitWorld) -> None:
    observation = await survived(world, "__import__('ctypes').string_at(0)")
    assert f"The Python process was ended by SIGSEGV. {RESTARTED}" in observation.text


async def test_abort(world: SplitWorld) -> None:
    observation = await survived(world, "__import__('ctypes').CDLL(None).abort()")
    assert "The Python process was ended by SIG" in observation.text


async def test_endless_recursion(world: SplitWorld) -> None:
    observation = await survived(world, "def f(): return f()\nf()")
    assert "RecursionError" in observation.text


@pytest.mark.slow
async def test_recursion_without_a_limit(world: SplitWorld) -> None:
    source = "__import__('sys').setrecursionlimit(10**9)\ndef f(): return f()\nf()"
    observation = await survived(world, source)
    assert observation.end.status in {"killed", "raised", "timeout"}


async def test_deeply_nested_source(world: SplitWorld) -> None:
    observation = await survived(world, "(" * 5000 + ")" * 5000)
    assert "Execution failed" in observation.text


async def test_source_of_a_megabyte(world: SplitWorld) -> None:
    observation = await survived(world, "x = '" + "a" * 1_000_000 + "'\nprint(len(x))")
    assert observation.text.strip() == "1000000"


async def test_exec_bomb(world: SplitWorld) -> None:
    source = (
        "code = 'x = 1'\nfor _ in range(12): code = f'eval(compile({code!r}, \"a\", \"exec\"))'"
    )
    observation = await survived(world, source + "\nprint(len(code))")
    assert observation.end.status in {"finished", "raised", "killed"}


async def test_thread_bomb(world: SplitWorld) -> None:
    source = (
        "threading, event = __import__('threading'), __import__('threading').Event()\n"
        "made = 0\n"
        "try:\n"
        "    while made < 5000:\n"
        "        threading.Thread(target=event.wait, daemon=True).start()\n"
        "        made += 1\n"
        "except BaseException as error:\n"
        "    print(type(error).__name__)\n"
        "event.set()"
    )
    observation = await survived(world, source)
    assert observation.text.strip() in {"RuntimeError", "MemoryError"}


async def test_thread_that_outlives_its_cell(world: SplitWorld) -> None:
    await world.execute(
        "threading, count = __import__('threading'), 0\n"
        "def forever():\n    global count\n    while True: count += 1\n"
        "threading.Thread(target=forever, daemon=True).start()"
    )
    before = int(await text_of(world, "print(count)"))
    await world.ask({"op": "hash"})  # time passes for everyone but the frozen process
    after = int(await text_of(world, "seen = count\nprint(seen)"))
    assert after > before
    assert await works(world)


async def test_signal_handlers_and_timers(world: SplitWorld) -> None:
    source = (
        "signal = __import__('signal')\n"
        "def ring(*_): raise ValueError('ring')\n"
        "signal.signal(signal.SIGALRM, ring)\n"
        "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        "signal.setitimer(signal.ITIMER_REAL, 0.01, 0.01)\n"
        "for _ in range(20):\n"
        "    try: apis.supervisor.show_profile()\n"
        "    except ValueError: pass\n"
        "print('done')"
    )
    observation = await world.execute(source)
    assert observation.end.status in {"finished", "raised", "killed"}
    assert await works(world)


async def test_timer_that_rings_between_cells(world: SplitWorld) -> None:
    source = (
        "signal = __import__('signal')\n"
        "def ring(*_): raise ValueError('ring')\n"
        "signal.signal(signal.SIGVTALRM, ring)\n"
        "signal.signal(signal.SIGPROF, ring)\n"
        "signal.setitimer(signal.ITIMER_VIRTUAL, 0.001, 0.001)\n"
        "signal.setitimer(signal.ITIMER_PROF, 0.001, 0.001)"
    )
    # Whether it rings while the first cell ends (and maybe ends the interpreter, timers and all)
    # or not before the second is the clock's choice.
    ends = [await world.execute(source), await world.execute("for i in range(10**6): pass")]
    assert {observation.end.status for observation in ends} & {"killed", "raised"}, ends
    await world.execute("signal = __import__('signal')\nsignal.setitimer(signal.ITIMER_PROF, 0)")
    await world.execute("1")
    assert await works(world)


@pytest.mark.slow
async def test_timer_off_during_an_endless_loop(world: SplitWorld) -> None:
    source = "signal = __import__('signal')\nsignal.alarm(0)\nwhile True: len('')"
    observation = await survived(world, source)
    assert observation.end.status == "timeout"


async def test_exit_handler(world: SplitWorld) -> None:
    source = "__import__('atexit').register(lambda: apis.supervisor.complete_task())\nprint(1)"
    observation = await survived(world, source)
    assert observation.text.strip() == "1"


async def test_finalizer_that_calls_an_api(world: SplitWorld) -> None:
    source = (
        "class Last:\n"
        "    def __del__(self): found.append(apis.supervisor.show_profile()['email'])\n"
        "found = []\n"
        "def arguments():\n"
        "    class Lazy(dict):\n"
        "        def items(self):\n"
        "            Last()\n"
        "            return super().items()\n"
        "    return Lazy(query='a')\n"
        "Last()\n"
        "requester.client.get('/supervisor/profile', params=arguments(), headers={})\n"
        "print(len(found))"
    )
    observation = await survived(world, source)
    assert observation.text.strip() in {"1", "2"}


async def test_finalizer_in_the_midst_of_an_exchange(world: SplitWorld) -> None:
    source = (
        "client, found = requester.client, []\n"
        "class Last:\n"
        "    def __del__(self): found.append(apis.supervisor.show_profile()['email'])\n"
        "class Odd:\n"
        "    def isoformat(self):\n"
        "        Last()\n"
        "        return 'odd'\n"
        "print(client.get('/supervisor/profile', params={'x': Odd()}).status_code, len(found))"
    )
    assert (await survived(world, source)).text.strip() == "200 1"


async def test_gc_finds_nothing_of_the_engine(world: SplitWorld) -> None:
    source = (
        "gc = __import__('gc')\n"
        "names = {type(t).__module__ + '.' + type(t).__name__ for t in gc.get_objects()}\n"
        "print(sorted(n for n in names if 'sqlite3.Conn' in n or n.endswith('.CachedDBHandler')))\n"
        "from appworld.apps.model_lib import CachedDBHandler\n"
        "print(len(CachedDBHandler.cache))"
    )
    observation = await survived(world, source)
    assert "Connection" not in observation.text
    assert observation.text.split()[:1] == ["[]"] or "not allowed" in observation.text


async def test_orm_of_the_engine_has_no_database(world: SplitWorld) -> None:
    source = (
        "models = __import__('appworld.apps.venmo.models', fromlist=['x'])\n"
        "print(models.User.find_all())"
    )
    observation = await survived(world, source)
    assert "Execution failed" in observation.text


async def test_fresh_test_client_has_no_database(world: SplitWorld) -> None:
    source = (
        "apps = __import__('appworld.apps', fromlist=['x'])\n"
        "app = apps.build_main_app(('venmo', 'supervisor'))\n"
        "client = __import__('fastapi.testclient', fromlist=['x']).TestClient(app)\n"
        "print(client.get('/supervisor/profile').text)"
    )
    observation = await survived(world, source)
    assert "@" not in observation.text
    assert observation.end.status in {"raised", "killed", "timeout"}


async def test_second_engine(world: SplitWorld) -> None:
    source = (
        "AppWorld = __import__('appworld').AppWorld\n"
        "other = AppWorld(task_id=task.id if 'task' in dir() else 'x', experiment_name='y')\n"
        "print(other.task.ground_truth.answer)"
    )
    observation = await survived(world, source)
    assert "Execution failed" in observation.text


async def test_patched_json_struct_and_stdout(world: SplitWorld) -> None:
    source = (
        "json, struct, sys = (__import__(n) for n in ('json', 'struct', 'sys'))\n"
        "json.dumps = json.loads = struct.pack = lambda *a, **k: 1 / 0\n"
        "print(apis.supervisor.show_profile()['email'])\n"
        "sys.stdout = None"
    )
    observation = await world.execute(source)
    assert observation.end.status in {"finished", "raised", "killed"}
    await world.execute("__import__('os').abort()")
    await world.execute("__import__('ctypes').CDLL(None)._exit(1)")
    assert await works(world)


async def test_patched_client(world: SplitWorld) -> None:
    source = (
        "requester.client.request = lambda *a, **k: 1 / 0\n"
        "requester.client._exchange = None\n"
        "apis.supervisor.show_profile()"
    )
    observation = await world.execute(source)
    assert observation.end.status == "raised"
    await world.execute("__import__('ctypes').CDLL(None)._exit(1)")
    assert await works(world)


async def test_patched_shell(world: SplitWorld) -> None:
    source = (
        "gc, sys = __import__('gc'), __import__('sys')\n"
        "main = sys.modules['adapters.appworld.cell']\n"
        "main._Shell.run = None\nmain._Client.cell = None\nprint('patched')"
    )
    await world.execute(source)
    observation = await world.execute("print(1)")
    assert observation.end.status == "killed"
    assert RESTARTED in observation.text
    assert await works(world)


async def test_nothing_was_written_by_any_of_them(world: SplitWorld) -> None:
    assert await executed(world) == []


async def test_other_episodes_go_on_beside_a_hostile_one(appworld: AppWorld) -> None:
    async with opened(appworld, cell_s=1.0) as bad, opened(appworld) as good:
        attack = asyncio.create_task(
            bad.execute(
                "while True:\n    try: requester.client.get('x')\n    except BaseException: 0"
            )
        )
        assert (await good.execute(LOG_IN)).end.status == "finished"
        assert not attack.done()
        assert (await attack).end.status in {"timeout", "raised"}
        assert await works(bad)
        assert await works(good)


THAW = """
c = __import__('ctypes')
libc, count = c.CDLL(None), 0
class Event(c.Structure):
    _fields_ = [('v', c.c_void_p), ('signal', c.c_int), ('how', c.c_int), ('pad', c.c_char * 48)]
timer = c.c_int()
made = libc.syscall(222, 1, c.byref(Event(None, 18, 0)), c.byref(timer))
libc.syscall(223, timer, 0, (c.c_long * 4)(0, 10_000_000, 0, 10_000_000), None)
def forever():
    global count
    while True: count += 1
__import__('threading').Thread(target=forever, daemon=True).start()
print(made)
"""


async def test_a_frozen_cell_cannot_set_a_timer_that_thaws_it(world: SplitWorld) -> None:
    if platform.machine() != "x86_64":
        pytest.skip("the numbers of system calls are another machine's")
    assert await text_of(world, THAW) == "-1"
    await asyncio.sleep(0.1)
    assert state_of(world.processes[0]) == "T"
    assert await works(world)


SIGNAL_BY_DESCRIPTOR = """
c = __import__('ctypes')
libc, ends = c.CDLL(None), (c.c_int * 2)()
libc.pipe(ends)
owner, number = libc.fcntl(ends[0], 8, __import__('os').getpid()), libc.fcntl(ends[0], 10, 18)
print(owner, number, libc.fcntl(ends[0], 3) >= 0, libc.flock(0, 2), libc.ioctl(0, 0x8901, ends))
"""


async def test_no_descriptor_can_be_made_to_signal_or_to_hold_locks(world: SplitWorld) -> None:
    assert await text_of(world, SIGNAL_BY_DESCRIPTOR) == "-1 -1 True -1 -1"


COLLECT_IN_AN_EXCHANGE = """
gc = __import__('gc')
gc.disable()
found = []
class Last:
    def __del__(self): found.append(apis.supervisor.show_profile()['email'])
class Odd:
    def isoformat(self):
        global kept
        a = Last(); a.me = a; del a
        kept = [slice(i, i, i) for i in range(3)]  # empties the cache of slices
        gc.set_threshold(1, 1000, 1000); gc.enable()
        return 'odd'
for k in range(3):
    reply = requester.client._exchange({
        'op': 'call', 'method': 'POST', 'url': '/simple_note/notes',
        'json': {'title': f'gc {k}', 'content': 'c'}, 'auth': f'Bearer {notes}', 'x': Odd(),
    })
    print(reply['status'])
gc.set_threshold(700, 10, 10)
"""


async def test_a_collector_started_in_the_midst_of_a_write_loses_no_reply(
    appworld: AppWorld,
) -> None:
    async with opened(appworld, cell_s=CELL_S) as split:
        await split.execute(LOG_IN)
        assert await text_of(split, COLLECT_IN_AN_EXCHANGE) == "200\n200\n200"
        assert len(await executed(split)) == 3


async def test_more_output_than_one_frame_holds_is_still_evaluated(appworld: AppWorld) -> None:
    async with opened(appworld, cell_s=CELL_S) as split:
        for _ in range(4):
            assert len((await split.execute("print('\u00e9' * 1_000_000)")).text) >= 1_000_000
        assert not (await split.evaluate()).passed


async def test_an_argument_of_megabytes_reaches_the_world(appworld: AppWorld) -> None:
    async with opened(appworld, cell_s=CELL_S) as split:
        await split.execute(LOG_IN)
        source = (
            "note = apis.simple_note.create_note(\n"
            "    title='long', content='x' * 9_000_000, access_token=notes)\n"
            "print(len(apis.simple_note.show_note(\n"
            "    note_id=note['note_id'], access_token=notes)['content']))"
        )
        assert await text_of(split, source) == "9000000"


@pytest.mark.parametrize("answer", ['float("nan")', 'float("-inf")', '"1e400"'])
async def test_an_answer_that_is_no_number_of_json_fails_and_is_no_error(
    appworld: AppWorld, answer: str
) -> None:
    async with opened(appworld, cell_s=CELL_S) as split:
        observation = await split.execute(f"apis.supervisor.complete_task(answer={answer})")
        assert observation.done
        assert not (await split.evaluate()).passed
