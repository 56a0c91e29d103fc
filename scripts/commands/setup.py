"""`contramem setup`: makes the benchmarks ready to run."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Annotated

import typer
from rich.console import Console

from adapters.appworld import setup as appworld
from adapters.environments import require
from adapters.folders import Progress
from adapters.gaia2 import setup as gaia2
from adapters.roots import Root

__all__ = ["setup_app"]

setup_app = typer.Typer(
    help="Make a benchmark ready to run: its own Python environment and its data.",
    no_args_is_help=True,
)

Data = Annotated[
    str | None,
    typer.Option(
        "--data",
        metavar="official|mini|PATH",
        help="The benchmark's own download, our bundled small world, or data that you have."
        " Without it: what is there, else mini.",
    ),
]


@setup_app.command("appworld")
def setup_appworld(data: Data = None) -> None:
    """Set AppWorld up. Repeatable; what is there already is kept. APPWORLD_ROOT is honoured."""
    _run("appworld", partial(appworld.setup, data))
    _say("appworld", {root: appworld.datasets(root.path) for root in appworld.roots()})


@setup_app.command("gaia2")
def setup_gaia2(data: Data = None) -> None:
    """Set GAIA2 up, which runs on ARE. Repeatable; what is there already is kept."""
    _run("gaia2", partial(gaia2.setup, data))
    _say("gaia2", {root: gaia2.datasets(root.path) for root in gaia2.roots()})


def _run(world: str, work: Callable[[Progress], None]) -> None:
    console = Console(stderr=True)

    def show(step: str) -> None:
        status.update(step)
        if not console.is_terminal:  # a status line is invisible in a log
            console.print(f"{step} ...", highlight=False, markup=False, soft_wrap=True)

    with console.status(world) as status:
        work(show)


def _say(world: str, data: Mapping[Root, Iterable[str]]) -> None:
    lines = [f"{world} is ready. Environment: {require(world).folder}"]
    lines += [f"  data {root.name}: {root.path} ({', '.join(data[root])})" for root in data]
    text = "\n".join(lines)
    Console(stderr=True).print(text, highlight=False, markup=False, soft_wrap=True)
