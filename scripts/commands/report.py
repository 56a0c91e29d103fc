"""`contramem report`: what one run or several came to."""

from __future__ import annotations

import json
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from runtime.report.summary import summarise
from runtime.report.tables import arms_table
from runtime.runs import RunFolder
from scripts.tables import print_table, table_width

__all__ = ["report"]


class Format(StrEnum):
    """How a report is printed."""

    TABLE = "table"
    JSON = "json"


def report(
    runs: Annotated[list[Path], typer.Argument(metavar="RUN", help="Run folders.")],
    form: Annotated[
        Format,
        typer.Option(
            "--format", metavar="table|json", help="A table, or one JSON object (docs/report.md)."
        ),
    ] = Format.TABLE,
) -> None:
    """Show the arms of runs in one table. Unfinished runs are shown as far as they are."""
    found = []
    for path in runs:
        folder = RunFolder(path)
        found.append((path, summarise(folder, folder.manifest())))
    if form is Format.JSON:
        rows = [
            {"run": str(path), "arms": [row.as_json() for row in summaries]}
            for path, summaries in found
        ]
        print(json.dumps({"runs": rows}))
        return
    print_table(arms_table([row for _, summaries in found for row in summaries], table_width()))
