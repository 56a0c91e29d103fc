"""`contramem run` on the real engine, killed for real."""

import json
import os
import re
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest

from adapters.folders import HOME_VARIABLE, home
from tests.scripts.conftest import start

RUN = (
    *("run", "--bench", "appworld", "--dataset", "mini_test"),
    *("--model", "scripted:careful", "--model", "scripted:hasty", "--limit", 3, "--json"),
)
pytestmark = pytest.mark.slow


def command(folder: Path, *words: object) -> subprocess.Popen:
    return start(folder, *RUN, *words, module="scripts.cli")


def episodes(run: Path) -> dict[str, bytes]:
    found = run.glob("*/episodes/*.jsonl")
    return {path.relative_to(run).as_posix(): path.read_bytes() for path in found}


def wait_until_some_are_finished(process: subprocess.Popen, run: Path) -> None:
    while len(episodes(run)) < 2:
        assert process.poll() is None, process.communicate()
        time.sleep(0.05)


def comparable(text: str) -> list[dict]:
    return [
        {name: value for name, value in arm.items() if name != "wall_s"}
        for arm in json.loads(text)["arms"]
    ]


def test_a_killed_run_goes_on_and_ends_like_one_that_was_not(tmp_path, appworld_setup):
    run = tmp_path / "r"
    killed = command(tmp_path, "--out", run)
    wait_until_some_are_finished(killed, run)
    killed.send_signal(signal.SIGKILL)
    killed.communicate()
    before = episodes(run)
    assert 2 <= len(before) < 6

    out, err = command(tmp_path, "--out", run).communicate()
    assert f"{6 - len(before)} episodes to run, {len(before)} complete already" in err
    after = episodes(run)
    assert len(after) == 6
    assert before.items() <= after.items()
    assert list(run.rglob("*.part")) == []
    whole, _ = command(tmp_path, "--out", tmp_path / "whole").communicate()
    assert comparable(out) == comparable(whole)
    assert [arm["tgc"] for arm in comparable(out)] == [100.0, 0.0]


def test_an_interrupted_run_ends_with_130_and_says_how_to_go_on(tmp_path, appworld_setup):
    run = tmp_path / "r"
    running = command(tmp_path, "--out", run)
    wait_until_some_are_finished(running, run)
    running.send_signal(signal.SIGINT)
    _, err = running.communicate()
    assert running.returncode == 130
    assert "Traceback" not in err
    assert re.search(r"^Interrupted\. Finished episodes are kept", err, re.MULTILINE)


@pytest.mark.parametrize("bench", ["appworld", "gaia2"])
def test_an_environment_that_is_removed_while_a_run_is_on_ends_the_run(
    tmp_path, appworld_setup, monkeypatch, bench
):
    ours = tmp_path / "home"
    shutil.copytree(home(), ours, copy_function=os.link, symlinks=True)
    monkeypatch.setenv(HOME_VARIABLE, str(ours))
    run = tmp_path / "r"
    going = command(tmp_path, "--out", run, "--bench", bench, "--limit", 10, "--concurrency", 1)
    wait_until_some_are_finished(going, run)
    (environment,) = (folder for folder in (ours / "envs").glob(f"{bench}-*") if folder.is_dir())
    environment.rename(tmp_path / "elsewhere")
    _, err = going.communicate()
    assert going.returncode == 3
    assert f"is gone. Run `contramem setup {bench}`, then the same command." in err
    assert "Traceback" not in err
    assert 2 <= len(episodes(run)) < 20
