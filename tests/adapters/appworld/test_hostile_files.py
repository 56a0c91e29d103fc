"""No file, no process, no socket: whatever agent code tries to read or reach is not there.

Every trick runs for real in a locked-down cell. A marker written to disk, the ground truth, the
environment and the parent's own descriptors are what must not show up.
"""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from appworld_cells import any_task, hashes, opened, text_of, works

from adapters.appworld.benchmark import AppWorld
from adapters.appworld.setup import AppWorldSetup
from runtime.bridge.world import SplitWorld

MARKER = "marker-5e2f"


@pytest.fixture(scope="module")
async def world(appworld: AppWorld) -> AsyncIterator[SplitWorld]:
    async with opened(appworld) as split:
        yield split


@pytest.fixture
def secret(tmp_path: Path) -> Path:
    tmp_path.chmod(0o777)
    path = tmp_path / "secret.txt"
    path.write_text(f"x = '{MARKER}'\n", encoding="utf-8")
    path.chmod(0o666)
    return path


READERS = {
    "pathlib": "pathlib = __import__('pathlib')\nprint(pathlib.Path({path}).read_text())",
    "open": "print(open({path}).read())",
    "io.open": "print(__import__('io').open({path}).read())",
    "io.FileIO": "print(__import__('io').FileIO({path}).readall())",
    "_io.open_code": "print(__import__('_io').open_code({path}).read())",
    "posix": (
        "posix = __import__('posix')\nprint(posix.read(posix.open({path}, posix.O_RDONLY), 99))"
    ),
    "codecs": "print(__import__('codecs').open({path}).read())",
    "fileinput": "print(list(__import__('fileinput').input({path})))",
    "tokenize": "print(__import__('tokenize').open({path}).read())",
    "numpy": "print(__import__('numpy').fromfile({path}))",
    "ctypes open": (
        "c = __import__('ctypes')\nlibc = c.CDLL(None)\nbuffer = c.create_string_buffer(99)\n"
        "print(libc.read(libc.open({path}.encode(), 0), buffer, 99))\n"
        "print(buffer.value)"
    ),
    "ctypes syscall openat2": (
        "c = __import__('ctypes')\nhow = c.create_string_buffer(24)\n"
        "n = c.CDLL(None).syscall(437, -100, {path}.encode(), how, 24)\n"
        "buffer = c.create_string_buffer(99)\nc.CDLL(None).read(n, buffer, 99)\n"
        "print(n, buffer.value)"
    ),
    "ctypes io_uring": "print(__import__('ctypes').CDLL(None).syscall(425, 8, 0))",
    "ctypes mmap": (
        "mmap = __import__('mmap')\nprint(mmap.mmap(open({path}, 'r+b').fileno(), 0).read())"
    ),
    "importlib": (
        "util = __import__('importlib.util', fromlist=['x'])\n"
        "spec = util.spec_from_file_location('secret', {path})\n"
        "module = util.module_from_spec(spec)\nspec.loader.exec_module(module)\nprint(module.x)"
    ),
    "import from sys.path": (
        "sys = __import__('sys')\nsys.path.insert(0, {path}.rpartition('/')[0])\n"
        "print(__import__('secret').x)"
    ),
    "runpy": "print(__import__('runpy').run_path({path}))",
    "linecache": "print(__import__('linecache').getlines({path}))",
    "zipimport": "print(__import__('zipimport').zipimporter({path}))",
    "sqlite": "print(__import__('sqlite3').connect({path}).execute('select 1').fetchall())",
    "sqlite extension": (
        "c = __import__('sqlite3').connect(':memory:')\nc.enable_load_extension(True)\n"
        "c.load_extension({path})\nprint(1)"
    ),
    "jail's parent": "print(open('../../../../../../../../' + {path}).read())",
    "through /proc": "print(open('/proc/1/root' + {path}).read())",
    "stat": "print('size', __import__('os').stat({path}).st_size)",
    "C stat": (
        "c = __import__('ctypes')\nprint('found' if c.CDLL(None).access({path}.encode(), 0) == 0"
        " else 'absent')"
    ),
    "listdir": "print(__import__('os').listdir({path}.rpartition('/')[0]))",
    "glob": "print(__import__('glob').glob({path}.rpartition('/')[0] + '/*'))",
    "chroot out": (
        "libc = __import__('ctypes').CDLL(None)\nlibc.mkdir(b'/out', 511)\n"
        "print(libc.chroot(b'/out'), libc.chdir(b'../../../../../..'))\nprint(open({path}).read())"
    ),
}


@pytest.mark.parametrize("trick", READERS)
async def test_no_file_can_be_read(world: SplitWorld, secret: Path, trick: str) -> None:
    text = await text_of(world, READERS[trick].replace("{path}", repr(str(secret))))
    assert MARKER not in text
    assert "secret.txt']" not in text
    assert not text.startswith(("size", "found"))
    assert await works(world)


async def test_the_ground_truth_is_out_of_reach(
    appworld: AppWorld, world: SplitWorld, appworld_setup: AppWorldSetup
) -> None:
    folder = appworld_setup.root / "data" / "tasks" / any_task(appworld).id / "ground_truth"
    answer = (folder / "answer.json").read_text("utf-8").strip()
    for path in (folder / "answer.json", folder / "evaluation.py"):
        for trick in ("pathlib", "posix", "ctypes open"):
            text = await text_of(world, READERS[trick].replace("{path}", repr(str(path))))
            assert "assert" not in text.replace("AssertionError", "")
            assert len(answer) < 5 or answer not in text
    source = (
        "gc = __import__('gc')\n"
        "print([type(t) for t in gc.get_objects() if type(t).__name__ == 'GroundTruth'])"
    )
    assert await text_of(world, source) in {"[]", "[]\n"}


async def test_nothing_can_be_created(world: SplitWorld) -> None:
    source = (
        "libc = __import__('ctypes').CDLL(None)\n"
        "print(libc.open(b'/agent-cell/x', 0o102, 0o777), libc.mkdir(b'/agent-cell/y', 511),\n"
        "    libc.symlink(b'/', b'/agent-cell/z'), libc.memfd_create(b'm', 0))"
    )
    assert await text_of(world, source) == "-1 -1 -1 -1"


async def test_the_environment_is_empty(world: SplitWorld) -> None:
    source = (
        "c = __import__('ctypes')\nlibc = c.CDLL(None)\nlibc.getenv.restype = c.c_char_p\n"
        "print(sorted(__import__('os').environ))\n"
        "print([libc.getenv(n) for n in (b'APPWORLD_ROOT', b'HOME', b'PATH', b'OPENAI_API_KEY')])"
    )
    text = await text_of(world, source)
    assert "APPWORLD" not in text
    assert text.splitlines()[-1] == "[null, null, null, null]"


async def test_only_its_two_sockets_are_open(world: SplitWorld) -> None:
    source = (
        "libc = __import__('ctypes').CDLL(None)\n"
        "print([n for n in range(70) if libc.fcntl(n, 1) != -1])"
    )
    found = (await text_of(world, source)).strip("[]").split(", ")
    assert found[:3] == ["0", "1", "2"]
    assert len(found) == 5


async def test_no_socket_can_be_made(world: SplitWorld) -> None:
    source = (
        "socket = __import__('socket')\n"
        "for family in (socket.AF_INET, socket.AF_INET6, socket.AF_UNIX, socket.AF_NETLINK):\n"
        "    try: print(socket.socket(family))\n"
        "    except PermissionError as error: print('denied')\n"
        "print(__import__('ctypes').CDLL(None).socket(2, 1, 0))"
    )
    assert (await text_of(world, source)).split() == ["denied"] * 4 + ["-1"]


async def test_no_process_can_be_reached(world: SplitWorld) -> None:
    before = await hashes(world)
    source = (
        "libc = __import__('ctypes').CDLL(None)\n"
        "print({libc.kill(n, 9) for n in range(2, 4000)}, libc.ptrace(16, 1, 0, 0),\n"
        "    libc.syscall(310, 1, 0, 0, 0, 0, 0), libc.syscall(434, 1, 0), libc.unshare(1 << 28))"
    )
    assert await text_of(world, source) == "{-1} -1 -1 -1 -1"
    assert await hashes(world) == before


async def test_identity_and_limits_cannot_be_raised(world: SplitWorld) -> None:
    source = (
        "c = __import__('ctypes')\nlibc = c.CDLL(None)\n"
        "limit = (c.c_ulong * 2)(2**40, 2**40)\n"
        "print(libc.getuid(), libc.setuid(0), libc.setresuid(0, 0, 0),\n"
        "    libc.prctl(38, 0, 0, 0, 0), libc.setrlimit(9, limit), libc.prctl(4, 1, 0, 0, 0))"
    )
    identity, *rest = (await text_of(world, source)).split()
    assert identity != "0"
    assert rest == ["-1"] * 5
