"""`contramem import`: other harnesses' runs become traces of ours."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from adapters.appworld.importer import import_appworld
from adapters.gaia2.importer_are import import_are
from adapters.gaia2.importer_cli import import_gaia2_cli
from adapters.importing.report import ImportReport
from runtime.report.visible import visible

__all__ = ["app"]

app = typer.Typer(
    name="import",
    help="Read other harnesses' runs into traces, to look at.",
    no_args_is_help=True,
)
Out = Annotated[Path, typer.Option("--out", "-o", metavar="DIR", help="Folder for the traces.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]
IMPORTED = Path("imported")


@app.command("appworld")
def appworld(
    folder: Annotated[
        Path,
        typer.Argument(metavar="DIR", help="experiments/outputs/NAME, or one task's folder."),
    ],
    out: Out = IMPORTED,
    as_json: AsJson = False,
) -> None:
    """Import an AppWorld output folder."""
    _tell(import_appworld(folder, out), as_json=as_json)


@app.command("are")
def are(
    file: Annotated[
        Path,
        typer.Argument(metavar="FILE", help="A run's hf or lite export; both are used if found."),
    ],
    out: Out = IMPORTED,
    as_json: AsJson = False,
) -> None:
    """Import a run that ARE exported."""
    _tell(import_are(file, out), as_json=as_json)


@app.command("gaia2-cli")
def gaia2_cli(
    folder: Annotated[
        Path, typer.Argument(metavar="DIR", help="One run's folder, or a folder of them.")
    ],
    out: Out = IMPORTED,
    as_json: AsJson = False,
) -> None:
    """Import runs of gaia2-cli."""
    _tell(import_gaia2_cli(folder, out), as_json=as_json)


def _tell(report: ImportReport, *, as_json: bool) -> None:
    """Say what was written and what was left out; exit with 1 if anything was."""
    if as_json:
        traces = [str(path) for path in report.traces]
        print(json.dumps({"traces": traces, "problems": list(map(str, report.problems))}))
    else:
        for path in report.traces:
            print(path)
        for problem in report.problems:
            typer.echo(visible(f"left out: {problem}"), err=True)
        many = f"{len(report.traces)} traces, {len(report.problems)} problems"
        typer.echo(many, err=True)
    if report.problems:
        raise typer.Exit(1)
