"""Worker environments with real uv, on a package of our own so that no network is needed."""

from __future__ import annotations

import hashlib
import os
import signal
import subprocess
import sys
import time
import zipfile
from pathlib import Path

import pytest

from adapters import environments
from adapters.environments import Environment, create, environment, require
from adapters.folders import HOME_VARIABLE, home
from runtime.errors import NotReady

ROOT = Path(__file__).resolve().parents[2]
DEAD = "http://127.0.0.1:9/simple"


def silent(step: str) -> None:
    pass


def wheel(folder: Path) -> Path:
    folder.mkdir(parents=True)
    path = folder / "tinyworld-1.0-py3-none-any.whl"
    info = "tinyworld-1.0.dist-info"
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("tinyworld.py", "NAME = 'tiny'\n")
        file.writestr(f"{info}/METADATA", "Metadata-Version: 2.1\nName: tinyworld\nVersion: 1.0\n")
        file.writestr(
            f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any"
        )
        file.writestr(f"{info}/RECORD", f"tinyworld.py,,\n{info}/METADATA,,\n{info}/WHEEL,,\n")
    return path


@pytest.fixture
def tiny(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Environment:
    made = wheel(tmp_path / "wheels")
    monkeypatch.setenv("UV_NO_INDEX", "1")
    monkeypatch.setenv("UV_FIND_LINKS", str(made.parent))
    monkeypatch.setenv("UV_CACHE_DIR", str(tmp_path / "uv-cache"))
    return pinned(tmp_path, hashlib.sha256(made.read_bytes()).hexdigest())


def pinned(folder: Path, digest: str) -> Environment:
    requirements = folder / "requirements.txt"
    requirements.write_text(f"tinyworld==1.0 --hash=sha256:{digest}\n", encoding="utf-8")
    return Environment("tiny", folder / "home" / "envs" / "tiny", requirements)


def entries(made: Environment) -> list[str]:
    """What is left beside and of an environment, without the lock file that stays."""
    return sorted(path.name for path in made.folder.parent.glob("*") if path.suffix != ".lock")


SETUP = """
import sys
from dataclasses import dataclass
from pathlib import Path
from adapters.environments import Environment, create
folder, requirements, log, child = sys.argv[1:]

def note(text):
    with open(log, "a") as file:
        file.write(text + "\\n")

def finish(draft, lock):
    note("finishing")
    draft.run(["-c", child], {}, lock)

create(Environment("tiny", Path(folder), Path(requirements)), progress=note, finish=finish)
note("done")
"""


def start(made: Environment, log: Path, child: str = "pass") -> subprocess.Popen[bytes]:
    command = [sys.executable, "-c", SETUP, made.folder, made.requirements, log, child]
    variables = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.Popen([str(part) for part in command], env=variables)


ORPHAN = """
import time
log = {log!r}
with open(log, "a") as file:
    file.write("orphan began\\n")
while "another set-up holds" not in open(log).read():
    time.sleep(0.01)
with open(log, "a") as file:
    file.write("orphan ended\\n")
"""


def wait_for(process: subprocess.Popen[bytes], log: Path, line: str) -> None:
    while not log.exists() or line not in log.read_text(encoding="utf-8"):
        assert process.poll() is None
        time.sleep(0.01)


def test_an_environment_works_in_the_place_it_was_renamed_to(tiny: Environment) -> None:
    create(tiny, progress=silent)
    code = "import sys, tinyworld; print(sys.prefix, tinyworld.NAME)"
    said = subprocess.run([tiny.python, "-c", code], capture_output=True, text=True, check=True)
    assert said.stdout.split() == [str(tiny.folder), "tiny"]
    assert tiny.ready
    assert tiny.version("tinyworld") == "1.0"
    assert tiny.version("other") is None
    assert entries(tiny) == ["tiny"]


def test_an_environment_that_is_there_is_kept(tiny: Environment) -> None:
    create(tiny, progress=silent)
    mark = tiny.folder / "mark"
    mark.touch()
    steps: list[str] = []
    create(tiny, progress=steps.append)
    assert steps == []
    assert mark.exists()


def test_an_environment_without_its_interpreter_is_made_again(tiny: Environment) -> None:
    create(tiny, progress=silent)
    tiny.python.unlink()
    tiny.python.symlink_to(tiny.folder / "uninstalled")
    assert not tiny.ready
    create(tiny, progress=silent)
    assert tiny.ready


def test_a_set_up_killed_half_way_is_completed_by_the_next(
    tiny: Environment, tmp_path: Path
) -> None:
    """What the killed one had started still runs for a moment: the next one waits for its end."""
    log = tmp_path / "log"
    killed = start(tiny, log, ORPHAN.format(log=str(log)))
    wait_for(killed, log, "orphan began")
    killed.send_signal(signal.SIGKILL)
    killed.wait()
    assert not tiny.ready
    assert start(tiny, log).wait() == 0
    steps = [line.split(" /")[0] for line in log.read_text(encoding="utf-8").splitlines()]
    install = "installing the packages of tiny into"
    assert steps[:3] == [install, "finishing", "orphan began"]
    assert steps[3:5] == ["another set-up holds", "orphan ended"]
    assert steps[5:] == [install, "finishing", "done"]
    assert tiny.ready
    assert entries(tiny) == ["tiny"]


def test_of_two_set_ups_at_once_one_installs(tiny: Environment, tmp_path: Path) -> None:
    log = tmp_path / "log"
    both = [start(tiny, log), start(tiny, log)]
    assert [one.wait() for one in both] == [0, 0]
    lines = log.read_text(encoding="utf-8").splitlines()
    assert lines.count("finishing") == 1
    assert lines.count("done") == 2


def test_another_file_than_the_pinned_one_is_refused(tiny: Environment, tmp_path: Path) -> None:
    forged = pinned(tmp_path, "0" * 64)
    with pytest.raises(NotReady, match=r"Hash mismatch(.|\n)*other files than the pinned ones"):
        create(forged, progress=silent)
    assert entries(forged) == []


@pytest.mark.parametrize("variable", ["UV_DEFAULT_INDEX", "PIP_INDEX_URL"])
def test_no_network_says_what_to_do(
    tiny: Environment, monkeypatch: pytest.MonkeyPatch, variable: str
) -> None:
    """A mirror that pip was told of is asked too."""
    for name in ("UV_NO_INDEX", "UV_FIND_LINKS", "UV_DEFAULT_INDEX", "UV_INDEX_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("UV_HTTP_RETRIES", "0")
    monkeypatch.setenv(variable, DEAD)
    with pytest.raises(NotReady, match=r"127\.0\.0\.1:9(.|\n)*Check the network") as caught:
        create(tiny, progress=silent)
    assert caught.value.exit_code == 3
    assert entries(tiny) == []


FAKE_UV = """#!/bin/sh
if [ "$UV_SYSTEM_CERTS" = 1 ] && [ "$TRUSTED" = 1 ]; then exec {uv} "$@"; fi
echo "cause: Failed to fetch: invalid peer certificate: UnknownIssuer"
exit 2
"""


@pytest.mark.parametrize("trusted", [True, False])
def test_a_network_with_its_own_certificate_is_trusted_if_the_system_does(
    tiny: Environment, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, trusted: bool
) -> None:
    program = tmp_path / "uv"
    program.write_text(FAKE_UV.format(uv=environments.uv.find_uv_bin()), encoding="utf-8")
    program.chmod(0o755)
    monkeypatch.setattr(environments.uv, "find_uv_bin", lambda: str(program))
    monkeypatch.delenv("UV_SYSTEM_CERTS", raising=False)
    monkeypatch.setenv("TRUSTED", str(int(trusted)))
    if trusted:
        create(tiny, progress=silent)
        assert tiny.ready
    else:
        with pytest.raises(NotReady, match="SSL_CERT_FILE"):
            create(tiny, progress=silent)


def test_a_full_disk_says_what_to_do(tiny: Environment, tmp_path: Path) -> None:
    small = tmp_path / "home"
    small.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=40k", "tmpfs", small], capture_output=True, check=False
    )
    if mounted.returncode:
        pytest.skip("needs the right to mount a small disk")
    try:
        with pytest.raises(NotReady, match=r"No space left(.|\n)*Free space"):
            create(tiny, progress=silent)
        assert entries(tiny) == []
    finally:
        subprocess.run(["umount", small], check=True)


def test_a_failed_finish_leaves_nothing(tiny: Environment) -> None:
    def finish(draft: Environment, lock: int) -> None:
        assert draft.python.exists()
        raise NotReady("no")

    with pytest.raises(NotReady, match="no"):
        create(tiny, progress=silent, finish=finish)
    assert entries(tiny) == []


def test_a_child_module_of_ours_finds_our_packages_and_no_others(tiny: Environment) -> None:
    said: list[str] = []

    def finish(draft: Environment, lock: int) -> None:
        done = draft.run_ours("adapters.gaia2.download", ["only one argument"], {}, lock)
        said.append(done.stdout)

    create(tiny, progress=silent, finish=finish)
    assert "No module named 'datasets'" in said[0]


def test_an_untested_python_needs_a_tested_one_beside_it(
    tiny: Environment, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(environments, "TESTED", ((3, 97), (3, 98)))
    with pytest.raises(NotReady, match=r">=3\.97,<3\.99(.|\n)*no other was found"):
        create(tiny, progress=silent)


def test_an_untested_python_takes_a_tested_one_beside_it(
    tiny: Environment, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "executable", "")
    create(tiny, progress=silent)
    assert tiny.ready


@pytest.mark.parametrize("world", ["appworld", "gaia2"])
def test_a_missing_environment_names_its_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, world: str
) -> None:
    monkeypatch.setenv(HOME_VARIABLE, str(tmp_path / "home"))
    with pytest.raises(NotReady, match=f"Run `contramem setup {world}`"):
        require(world)
    assert not (tmp_path / "home").exists()
    assert environment(world).folder.is_relative_to(tmp_path / "home" / "envs")


def test_a_home_with_memory_in_its_path_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = tmp_path / "my-memory"
    real.mkdir()
    link = tmp_path / "link"
    link.symlink_to(real)
    for folder in (real, real / "below", link):
        monkeypatch.setenv(HOME_VARIABLE, str(folder))
        with pytest.raises(NotReady, match=r'contains "memory"(.|\n)*Set CONTRAMEM_HOME'):
            home()


def test_a_home_that_cannot_be_a_folder_is_refused(
    tiny: Environment, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "home").write_text("a file", encoding="utf-8")
    with pytest.raises(NotReady, match=r"Cannot make(.|\n)*set CONTRAMEM_HOME"):
        create(tiny, progress=silent)


def test_without_a_choice_home_is_in_the_users_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(HOME_VARIABLE, raising=False)
    monkeypatch.setenv("HOME", "/somebody")
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    assert home().is_relative_to("/somebody")
    assert home().name == "contramem"
