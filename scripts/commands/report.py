"""`contramem report`: what one run or several came to."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from runtime.report.summary import summarise
from runtime.report.tables import arms_table
from runtime.runs import RunFolder

__all__ = ["report"]


def report(
    runs: Annotated[list[Path], typer.Argument(metavar="RUN...", help="Run folders.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Show the arms of runs in one table. Unfinished runs are shown as far as they are."""
    found = []
    for path in runs:
        folder = RunFolder(path)
        found.append((path, summarise(folder, folder.manifest())))
    if as_json:
        rows = [
            {"run": str(path), "arms": [row.as_json() for row in summaries]}
            for path, summaries in found
        ]
        print(json.dumps({"runs": rows}))
        return
    Console().print(arms_table([row for _, summaries in found for row in summaries]))
