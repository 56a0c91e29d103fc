"""The shell scripts' common part, run by bash with interpreters of many kinds."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PROGRAMS = ("bash", "cat", "cmp", "dirname", "rm", "sh")


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A folder with what the common part reads, beside a folder of programs without Python."""
    folder = tmp_path / "clone"
    (folder / "scripts").mkdir(parents=True)
    (folder / "requirements").mkdir()
    for name in ("scripts/lib.sh", "requirements/dev.txt", "pyproject.toml"):
        shutil.copy(ROOT / name, folder / name)
    (tmp_path / "bin").mkdir()
    for program in PROGRAMS:
        (tmp_path / "bin" / program).symlink_to(str(shutil.which(program)))
    return folder


def shell(clone: Path, commands: str, **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["bash", "-c", f"set -euo pipefail; . scripts/lib.sh; {commands}"],
        cwd=clone,
        env={"PATH": str(clone.parent / "bin"), "HOME": str(clone.parent), **variables},
        capture_output=True,
        text=True,
        check=False,
    )


def fake_python(clone: Path, name: str, script: str) -> Path:
    path = clone.parent / "bin" / name
    path.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    path.chmod(0o755)
    return path


OLD = """
case "$2" in *platform*) echo 3.9.18;; esac
case "$2" in *version_info*) exit 1;; esac
"""
WITHOUT_VENV = """
case "$2" in *ensurepip*) exit 1;; esac
"""


def test_no_python_at_all_is_said(clone: Path) -> None:
    done = shell(clone, "make_venv")
    assert done.returncode == 3
    assert "needs Python 3.11 or newer. Found: python3 (none)" in done.stderr
    assert "PYTHON=/path/to/python" in done.stderr


def test_an_old_python_is_passed_over_for_a_newer_one(clone: Path) -> None:
    fake_python(clone, "python3", OLD)
    newer = clone.parent / "bin" / "python3.11"
    newer.symlink_to(sys.executable)
    done = shell(clone, "find_python")
    assert (done.returncode, done.stdout.strip()) == (0, str(newer))


def test_an_old_python_alone_is_named_with_its_version(clone: Path) -> None:
    fake_python(clone, "python3", OLD)
    done = shell(clone, "find_python")
    assert done.returncode == 3
    assert "python3 (3.9.18)" in done.stderr


def test_a_python_without_venv_is_told_how_to_get_it(clone: Path) -> None:
    fake_python(clone, "python3", WITHOUT_VENV)
    done = shell(clone, "find_python")
    assert done.returncode == 3
    assert "python3 has no venv module. On Debian and Ubuntu" in done.stderr


def test_a_chosen_python_is_the_only_one_tried(clone: Path) -> None:
    (clone.parent / "bin" / "python3").symlink_to(sys.executable)
    done = shell(clone, "find_python", PYTHON="/nowhere/python")
    assert done.returncode == 3
    assert "/nowhere/python (none)" in done.stderr


def finished_venv(clone: Path) -> None:
    program = clone / ".venv" / "bin" / "contramem"
    program.parent.mkdir(parents=True)
    program.touch()
    program.chmod(0o755)
    assert shell(clone, "stamp >.venv/made-from").returncode == 0


def test_a_finished_venv_is_used_as_it_is(clone: Path) -> None:
    finished_venv(clone)
    done = shell(clone, "make_venv; echo used")
    assert (done.returncode, done.stdout, done.stderr) == (0, "used\n", "")


@pytest.mark.parametrize("change", ["requirements", "project", "unfinished", "moved"])
def test_an_outdated_venv_is_made_again(clone: Path, change: str) -> None:
    finished_venv(clone)
    if change == "requirements":
        (clone / "requirements" / "dev.txt").write_text("other\n", encoding="utf-8")
    elif change == "project":
        (clone / "pyproject.toml").write_text("other\n", encoding="utf-8")
    elif change == "unfinished":
        (clone / ".venv" / "made-from").unlink()
    else:
        clone = clone.rename(clone.with_name("moved"))
    fake_python(clone, "python3", 'case "$1" in -m) echo "made: $*" >&2; exit 9;; esac')
    done = shell(clone, "make_venv")
    assert done.returncode == 9
    assert f"Making {clone}/.venv" in done.stderr
    assert "made: -m venv --clear .venv" in done.stderr
    assert not (clone / ".venv" / "made-from").exists()


@pytest.mark.parametrize("script", ["demo", "test", "check", "bench", "lock", "../.ci/run"])
def test_scripts_are_executable_and_parse(script: str) -> None:
    path = ROOT / "scripts" / script
    assert os.access(path, os.X_OK)
    subprocess.run(["bash", "-n", path], check=True)
