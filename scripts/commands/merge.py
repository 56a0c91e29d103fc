"""`contramem merge`: run folders of shards become one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from runtime.merge import merge_runs
from runtime.runs import RunFolder

__all__ = ["merge"]


def merge(
    runs: Annotated[list[Path], typer.Argument(metavar="RUN", help="Run folders of one run.")],
    out: Annotated[
        Path, typer.Option("--out", metavar="DIR", help="The folder that is to hold all.")
    ],
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Join the run folders of shards into one. The folders stay as they are.

    Shards are parts of one run: the same command with --shard 1/2 here and --shard 2/2 on \
another machine. On one machine they can share one --out and need no merging.

    `contramem run` with --out on the joined folder runs what is still missing and shows the table.
    """
    target = RunFolder(out)
    new = merge_runs([RunFolder(run) for run in runs], target)
    manifest = target.manifest()
    wanted = len(manifest.tasks) * len(manifest.arms)
    done = sum(
        target.end_of(arm.name, task) is not None
        for arm in manifest.arms
        for task in manifest.tasks
    )
    if as_json:
        print(json.dumps({"run": str(out), "new": new, "complete": done, "episodes": wanted}))
        return
    words = f"{out}: {new} episodes joined, {done} of {wanted} complete."
    Console().print(words, highlight=False, markup=False, soft_wrap=True)
