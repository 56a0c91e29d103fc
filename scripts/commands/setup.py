"""`contramem setup`: makes the benchmarks ready to run."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from adapters.environments import require
from runtime.errors import UnknownName
from scripts.benchmarks import BENCHMARKS, Known

__all__ = ["setup_app"]

setup_app = typer.Typer(
    help="Make a benchmark ready to run: its own Python environment and its data.",
    no_args_is_help=True,
)

WORDS = ("official", "mini")
Data = Annotated[
    str | None,
    typer.Option(
        "--data",
        metavar="official|mini|PATH",
        help="The benchmark's own download, our bundled small world, or data that you have"
        " (default: what is there, else mini)",
    ),
]


def _command(world: str, known: Known) -> Callable[[str | None], None]:
    def setup(data: Data = None) -> None:
        if data is not None and data not in WORDS and not Path(data).expanduser().exists():
            raise UnknownName("folder or data", data, WORDS)
        _run(world, known, data)
        _say(world, known)

    variable = f" {known.root_variable} is honoured." if known.root_variable else ""
    kept = "Repeatable; what is there already is kept."
    setup.__doc__ = f"Set up {known.title}. {kept}{variable}"
    return setup


for _world, _known in BENCHMARKS.items():
    setup_app.command(_world)(_command(_world, _known))


def _run(world: str, known: Known, data: str | None) -> None:
    console = Console(stderr=True)

    def show(step: str) -> None:
        status.update(step)
        if not console.is_terminal:  # a status line is invisible in a log
            console.print(f"{step} ...", highlight=False, markup=False, soft_wrap=True)

    with console.status(world) as status:
        known.setup(data, show)


def _say(world: str, known: Known) -> None:
    lines = [f"{world} is ready. Environment: {require(world).folder}"]
    lines += [
        f"  data {root.name}: {root.path} ({', '.join(known.datasets(root.path))})"
        for root in known.roots()
    ]
    text = "\n".join(lines)
    Console(stderr=True).print(text, highlight=False, markup=False, soft_wrap=True)
