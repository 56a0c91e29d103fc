"""The builder of AppWorld's mini world: refusals, interruption, sameness."""

from __future__ import annotations

import hashlib
import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

from adapters.appworld.setup import AppWorldSetup

TREE = Path(__file__).parents[3]
COMMAND = ("-m", "adapters.appworld.mini.build")


def start(setup: AppWorldSetup, root: Path) -> subprocess.Popen[str]:
    environment = {**setup.child_environment(), "PYTHONPATH": str(TREE), "APPWORLD_ROOT": str(root)}
    return subprocess.Popen(
        [setup.python, *COMMAND, root],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def contents(root: Path) -> dict[str, str]:
    return {
        str(path.relative_to(root)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(root.rglob("*"))
        if path.is_file() and path.parent.name != "__pycache__"  # of evaluators that were run
    }


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "reason"), [("memory_lane", "without this word"), ("taken", "is no mini world")]
)
def test_a_path_that_cannot_serve_is_refused(
    appworld_setup: AppWorldSetup, tmp_path: Path, name: str, reason: str
) -> None:
    (tmp_path / "taken").mkdir()
    (tmp_path / "taken" / "own.txt").write_text("mine", encoding="utf-8")
    build = start(appworld_setup, tmp_path / name)
    _, complaint = build.communicate(timeout=120)
    assert build.returncode == 2
    assert reason in complaint
    assert [path.name for path in tmp_path.rglob("*")] == ["taken", "own.txt"]


@pytest.mark.slow
def test_a_killed_build_leaves_no_world_and_the_next_equals_any_other(
    appworld_setup: AppWorldSetup, tmp_path: Path
) -> None:
    root = tmp_path / "world"
    build = start(appworld_setup, root)
    draft = tmp_path / ".world.building" / "data"
    while not draft.exists():
        assert build.poll() is None, build.communicate()
        time.sleep(0.05)
    os.kill(build.pid, signal.SIGKILL)
    build.communicate()
    assert not root.exists()

    build = start(appworld_setup, root)
    _, complaint = build.communicate(timeout=300)
    assert build.returncode == 0, complaint
    assert [path.name for path in tmp_path.iterdir()] == ["world"]
    assert contents(root / "data") == contents(appworld_setup.root / "data")
