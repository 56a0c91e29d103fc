"""`python -m scripts.benches [--json] [NAME ...]`: run benches and print their figures."""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from collections.abc import Awaitable, Callable

from adapters.appworld.setup import AppWorldSetup, appworld_paths
from adapters.gaia2.setup import gaia2_paths
from runtime.errors import ContramemError
from scripts.benches.appworld import gate_read, measure_episode, measure_open, measure_pss
from scripts.benches.figures import Figure, say
from scripts.benches.gaia2 import measure_gaia2_episode

__all__ = ["main"]

Bench = Callable[[], Awaitable[Figure]]


def _on_appworld(measure: Callable[[AppWorldSetup], Awaitable[Figure]]) -> Bench:
    return lambda: measure(appworld_paths("mini_test"))


BENCHES: dict[str, Bench] = {
    "appworld_open": _on_appworld(measure_open),
    "appworld_episode": _on_appworld(measure_episode),
    "gate_read": _on_appworld(gate_read),
    "appworld_pss": _on_appworld(measure_pss),
    "gaia2_episode": lambda: measure_gaia2_episode(gaia2_paths()),
}


def main(arguments: list[str]) -> int:
    """Run the named benches, or all. Returns an exit code."""
    parser = argparse.ArgumentParser(prog="scripts/bench", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(BENCHES))
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    options = parser.parse_args(arguments)
    unknown = [name for name in options.names if name not in BENCHES]
    if unknown:
        parser.error(f"no bench named {', '.join(unknown)}; there are {', '.join(BENCHES)}")
    try:
        figures = asyncio.run(_run(options.names or list(BENCHES)))
    except ContramemError as error:
        say(f"Error: {error}")
        return error.exit_code
    if options.json:
        print(json.dumps({name: figure.model_dump() for name, figure in figures.items()}))
        return 0
    for name, figure in figures.items():
        numbers = f"{figure.value:>9.3f} {figure.unit:<3} baseline {figure.baseline:>9.3f}"
        print(f"{name:<18} {numbers}  ratio {figure.ratio:.3f}")
    return 0


async def _run(names: list[str]) -> dict[str, Figure]:
    figures = {}
    for name in names:
        say(f"{name} ...")
        figures[name] = await BENCHES[name]()
    return figures


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
