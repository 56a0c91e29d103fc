"""Plays of the bundled tasks in AppWorld's own engine, from our side."""

from __future__ import annotations

import json
import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

from adapters.appworld.setup import AppWorldSetup

VERIFIER = Path(__file__).with_name("mini_verifier.py")


@dataclass(frozen=True)
class Turn:
    code: str
    when: str | None = None


@dataclass(frozen=True)
class Play:
    success: bool | None
    """None where the play itself broke; `outputs` then holds the reason."""
    failures: tuple[str, ...]
    outputs: tuple[str, ...]
    writes: tuple[str, ...]
    """Methods and paths of the calls that were no GET, sign-ins left out, in order."""


def play_all(
    setup: AppWorldSetup, scratch: Path, plays: dict[tuple[str, str], tuple[Turn, ...]]
) -> dict[tuple[str, str], Play]:
    """Play turns on tasks; the keys are (task id, any name)."""
    jobs = [
        {"task": task, "turns": [{"code": turn.code, "when": turn.when} for turn in turns]}
        for (task, _), turns in plays.items()
    ]
    # Worlds write to the root that they are read from, so each set of plays gets its own.
    root = scratch / "root"
    root.mkdir()
    (root / "data").symlink_to(setup.root / "data")
    done = subprocess.run(
        [setup.python, VERIFIER, scratch],
        input=json.dumps(jobs),
        capture_output=True,
        text=True,
        env=setup.child_environment() | {"APPWORLD_ROOT": str(root)},
        cwd=scratch,
        timeout=600,
        check=False,
    )
    assert done.returncode == os.EX_OK, done.stderr[-3000:]
    results = json.loads(done.stdout)
    return {
        key: Play(
            success=result["success"],
            failures=tuple(result["failures"]),
            outputs=tuple(result["outputs"]),
            writes=tuple(result["writes"]),
        )
        for key, result in zip(plays, results, strict=True)
    }
