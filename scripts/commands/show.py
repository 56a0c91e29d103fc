"""`contramem show`: one episode as a person reads it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from runtime.errors import UnknownName
from runtime.report.transcript import transcript
from runtime.trace import PART, read_trace

__all__ = ["find_trace", "show"]


def show(
    episode: Annotated[
        str,
        typer.Argument(
            metavar="EPISODE", help="A trace, or RUN/ARM/TASK. A `.part` of a killed run works too."
        ),
    ],
    calls: Annotated[
        bool, typer.Option("--calls/--no-calls", help="Show each call and its decision.")
    ] = True,
    prompt: Annotated[bool, typer.Option("--prompt", help="Show the opening messages.")] = False,
) -> None:
    """Show an episode: turns, cells, calls with their decisions, observations, outcome."""
    path = find_trace(episode)
    trace = read_trace(path, complete=path.suffix != PART)
    Console().print(transcript(trace, calls=calls, prompt=prompt))


def find_trace(episode: str) -> Path:
    """Return the trace of an episode given as a path, or as RUN/ARM/TASK. Raises `UnknownName`."""
    path = Path(episode)
    if path.is_file():
        return path
    folder = path.parent / "episodes"
    for name in (f"{path.name}.jsonl", f"{path.name}.jsonl{PART}"):
        if (folder / name).is_file():
            return folder / name
    known = [str(path.parent / file.stem) for file in folder.glob("*.jsonl")]
    inside = sorted(path.glob("**/episodes/*.jsonl"))[:1]  # a run's folder, or an arm's
    example = [f", such as {file.parents[1] / file.stem}" for file in inside]
    hint = f"Give a trace file or RUN/ARM/TASK{''.join(example)}."
    raise UnknownName("episode", episode, known, hint=hint)
