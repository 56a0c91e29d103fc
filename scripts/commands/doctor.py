"""`contramem doctor`: what is there, what is missing, and the command that mends it."""

from __future__ import annotations

import importlib.metadata
import json
import os
import platform
import shutil
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Annotated, Literal

import typer
from rich.table import Table

from adapters.environments import Environment, environment
from adapters.folders import HOME_VARIABLE, home
from adapters.roots import Root, recorded
from runtime.bridge import lockdown
from runtime.errors import ContramemError
from runtime.report.visible import as_it_is
from scripts.benchmarks import BENCHMARKS, Known
from scripts.tables import print_table

__all__ = ["Finding", "doctor", "examine"]

NEEDED_BYTES = 2 << 30
"""Both environments, their download cache and the mini world, with some room."""
NOT_SET_UP = "not set up"


@dataclass(frozen=True)
class Finding:
    """One thing that was looked at."""

    name: str
    state: Literal["ok", "note", "missing"]
    """`note`: works without, or with less. `missing`: something needed is not there."""
    detail: str
    mend: str = ""
    """The command, or what to do."""


def doctor(
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Say what is there, what is missing, which lock-down is in force, and what mends each.

    Exits with 3 if something needed is missing: no benchmark is ready, or one is half set up.
    """
    findings = examine()
    ready = all(finding.state != "missing" for finding in findings)
    if as_json:
        print(json.dumps({"ready": ready, "findings": [asdict(item) for item in findings]}))
    else:
        _show(findings)
    if not ready:
        raise typer.Exit(3)


def examine() -> list[Finding]:
    """Look at everything. Changes nothing and uses no network."""
    findings = [_versions(), *_place()]
    if all(finding.state != "missing" for finding in findings):
        worlds = [list(_world(name, known)) for name, known in BENCHMARKS.items()]
        findings += [finding for world in worlds for finding in world]
        findings += _left_over()
        if not any(_usable(world) for world in worlds):
            first = f"contramem setup {next(iter(BENCHMARKS))}"
            findings.append(Finding("benchmarks", "missing", "none is ready", first))
    return [*findings, *_lockdown()]


def _versions() -> Finding:
    ours = importlib.metadata.version("contramem")
    uv = importlib.metadata.version("uv")
    return Finding("contramem", "ok", f"{ours}, Python {platform.python_version()}, uv {uv}")


def _place() -> Iterator[Finding]:
    try:
        folder = home()
    except ContramemError as error:
        yield Finding("folder", "missing", str(error), f"export {HOME_VARIABLE}=FOLDER")
        return
    there = next(path for path in (folder, *folder.parents) if path.exists())
    if os.access(there, os.W_OK | os.X_OK):
        yield Finding("folder", "ok", str(folder))
    else:
        detail = f"{folder} cannot be written ({there} belongs to somebody else)"
        yield Finding("folder", "missing", detail, f"export {HOME_VARIABLE}=FOLDER")
    free = shutil.disk_usage(there).free
    enough = free >= NEEDED_BYTES
    yield Finding(
        "disk",
        "ok" if enough else "note",
        f"{free / (1 << 30):.1f} GiB free",
        "" if enough else f"free {NEEDED_BYTES >> 30} GiB, or set {HOME_VARIABLE} to another disk",
    )


def _world(world: str, known: Known) -> Iterator[Finding]:
    """Report one benchmark: its environment and its data."""
    mend = f"contramem setup {world}"
    made = _environment(world)
    if made is None:
        detail = f"adapters/{world} has no requirements.txt"
        yield Finding(world, "missing", detail, "docs/adding-a-benchmark.md says what it holds")
        return
    if not made.ready and not made.folder.exists() and not (home() / world).exists():
        yield Finding(world, "note", NOT_SET_UP, mend)
        return
    if made.ready:
        version = made.version(known.package)
        yield Finding(world, "ok", f"{known.package} {version} in {made.folder}")
    else:
        yield Finding(world, "missing", f"no usable environment in {made.folder}", mend)
    yield _data(world, known, mend)
    noted = recorded(world)
    if noted is not None and not noted.exists():
        yield Finding(f"{world} data", "note", f"{noted} is gone", f"{mend} --data PATH")


def _data(world: str, known: Known, mend: str) -> Finding:
    name = f"{world} data"
    try:
        found = [_line(root, list(known.datasets(root.path))) for root in known.roots()]
    except ContramemError as error:
        variable = known.root_variable
        where = f"unset {variable}, or mend it" if variable else f"{mend} --data PATH"
        return Finding(name, "missing", str(error), where)
    if not found:
        return Finding(name, "missing", "none", mend)
    return Finding(name, "ok", "; ".join(found))


def _line(root: Root, datasets: list[str]) -> str:
    return f"{root.name} in {root.path}: {', '.join(datasets) or 'no datasets'}"


def _usable(world: list[Finding]) -> bool:
    """Tell whether episodes can run: it was set up and nothing of it is missing."""
    return all(item.state != "missing" and item.detail != NOT_SET_UP for item in world)


def _left_over() -> Iterator[Finding]:
    """Environments and mini worlds of other versions: another clone may still use them."""
    made = (_environment(world) for world in BENCHMARKS)
    current = {each.folder for each in made if each is not None}
    current |= {known.mini() for known in BENCHMARKS.values()}
    places = (*home().glob("envs/*"), *home().glob("*/mini-*"))
    for place in sorted(path for path in places if path.is_dir() and path not in current):
        yield Finding("left over", "note", f"{place} of another version", f"rm -r {place}")


def _environment(world: str) -> Environment | None:
    """Return a benchmark's environment, made or not, or None for one that pins no packages."""
    try:
        return environment(world)
    except FileNotFoundError:
        return None


def _lockdown() -> Iterator[Finding]:
    parts = lockdown.probe()
    weak = [name for name, state in parts.items() if state.startswith("no")]
    detail = lockdown.describe(parts)
    mend = "SECURITY.md says what the missing parts mean" if weak else ""
    yield Finding("lock-down", "note" if weak else "ok", detail, mend)


def _show(findings: list[Finding]) -> None:
    table = Table(box=None, show_header=False, pad_edge=False)
    for name, style in (("name", "bold"), ("state", ""), ("detail", "")):
        table.add_column(name, style=style, overflow="fold")
    colours = {"ok": "green", "note": "yellow", "missing": "red"}
    for finding in findings:
        mend = f"\n→ {finding.mend}" if finding.mend else ""
        state = f"[{colours[finding.state]}]{finding.state}[/]"
        table.add_row(finding.name, state, as_it_is(finding.detail + mend))
    print_table(table)
