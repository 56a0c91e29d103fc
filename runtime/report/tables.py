"""Tables for a terminal: one row per arm, and one column per task where they fit."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rich.box import SIMPLE_HEAD
from rich.table import Table

from runtime.contracts import Json
from runtime.names import told_apart
from runtime.report.breakable import Breakable
from runtime.report.summary import ArmSummary
from runtime.report.visible import as_it_is

__all__ = ["arms_table", "tasks_table"]

LONGEST_WHOLE = 40
"""Characters of the longest task's name that is never broken: the arms' names are."""
PLACES = ("run", "tasks", "arm")
"""Columns that need no name beside what they show."""
Columns = dict[str, Callable[[ArmSummary], str]]
"""What each column shows of a row."""


def arms_table(summaries: Sequence[ArmSummary], width: int = 80) -> Table:
    """Return success and effort by arm. Effort never stands without success beside it.

    Runs, datasets and settings have columns where rows differ in them; where these are wider than
    `width` characters, they stand under each other.
    """
    worlds = dict.fromkeys(f"{row.benchmark} {row.dataset}" for row in summaries)
    table = Table(
        title=as_it_is(", ".join(worlds)),
        title_justify="left",
        title_style="bold",
        box=SIMPLE_HEAD,
        padding=0,
        show_edge=False,
    )
    names, success, effort = _names(summaries), _success(summaries), _effort(summaries)
    if _width({**names, **success, **effort}, summaries) > width:
        names = {", ".join(name for name in names if name in PLACES): _stacked(names)}
    for name in names:
        table.add_column(
            name, overflow="fold", min_width=min(10, _width({name: names[name]}, summaries))
        )
    for name in success:
        table.add_column(name, justify="right", no_wrap=True)
    for name in effort:
        table.add_column(name, justify="right", no_wrap=True, style="dim")
    for row in summaries:
        told = [Breakable(cell(row)) for cell in names.values()]
        table.add_row(*told, *(cell(row) for cell in (*success.values(), *effort.values())))
    return table


def tasks_table(summaries: Sequence[ArmSummary], tasks: Sequence[str]) -> Table:
    """Return one row per task and one column per arm: passed, failed, or not evaluated."""
    table = Table(box=SIMPLE_HEAD, padding=0, show_edge=False)
    whole = max(map(len, tasks), default=0) <= LONGEST_WHOLE
    table.add_column("task", no_wrap=whole, overflow="fold")
    for row in summaries:
        table.add_column(Breakable(row.arm.name), justify="center", overflow="fold")
    for task in tasks:
        table.add_row(as_it_is(task), *(_mark(row.success.get(task)) for row in summaries))
    return table


def _names(summaries: Sequence[ArmSummary]) -> Columns:
    """Return what tells rows apart: the arm's name, and what else they differ in."""
    runs = list(dict.fromkeys(row.run for row in summaries))
    short = dict(zip(runs, told_apart(runs), strict=True))
    columns: Columns = {
        "run": lambda row: short[row.run],
        "tasks": lambda row: f"{row.benchmark} {row.dataset}",
        "arm": lambda row: row.arm.name,
        "profile": lambda row: str(row.arm.facts()["profile"]),
        "bank": lambda row: _bank(row.arm.facts()["memory"]),
        "gate": lambda row: "on" if row.arm.facts()["gate"] else "off",
        "latch": lambda row: str(row.arm.facts()["latch"]),
    }
    gated = [row for row in summaries if row.arm.facts()["gate"]]
    return {
        name: cell
        for name, cell in columns.items()
        if name == "arm"
        or len({cell(row) for row in (gated if name == "latch" else summaries)}) > 1
    }


def _success(summaries: Sequence[ArmSummary]) -> Columns:
    left: Columns = {"left": lambda row: str(row.not_run)}
    return {
        "pass": lambda row: str(row.passed),
        "fail": lambda row: str(row.failed),
        "err": lambda row: str(row.errored),
        **(left if any(row.not_run for row in summaries) else {}),
        "TGC": lambda row: _rate(row.tgc),
        "SGC": lambda row: _rate(row.sgc),
    }


def _effort(summaries: Sequence[ArmSummary]) -> Columns:
    memory: Columns = {"memory": lambda row: _count(row.memory_tokens)}
    return {
        "events": lambda row: _count(row.events),
        "tokens": lambda row: _count(row.usage.input + row.usage.output),
        **(memory if any(row.memory_tokens for row in summaries) else {}),
        "cost": lambda row: _money(row.cost_usd),
        "s": lambda row: f"{row.wall_s:.0f}",
    }


def _width(columns: Columns, summaries: Sequence[ArmSummary]) -> int:
    widest = [
        max(len(name), *(len(cell(row)) for row in summaries)) for name, cell in columns.items()
    ]
    return sum(widest) + len(widest) - 1


def _stacked(columns: Columns) -> Callable[[ArmSummary], str]:
    """Join columns in one, in a line each; settings under their names."""
    return lambda row: "\n".join(
        cell(row) if name in PLACES else f"{name} {cell(row)}" for name, cell in columns.items()
    )


def _bank(memory: Json) -> str:
    """Return a bank's name and enough of its hash."""
    name, _, digest = str(memory or "none").partition("@")
    return f"{name}@{digest[:8]}" if digest else name


def _count(number: int) -> str:
    """Return a number in at most six characters."""
    if number < 100_000:
        return f"{number:,}"
    return f"{number / 1000:.0f}k" if number < 10_000_000 else f"{number / 1e6:.0f}M"


def _money(cost_usd: float | None) -> str:
    if cost_usd is None:
        return "?"
    return f"${cost_usd:.4f}" if cost_usd < 100 else f"${cost_usd:,.2f}"


def _rate(rate: float | None) -> str:
    return "-" if rate is None else f"{rate:.1f}"


def _mark(success: bool | None) -> str:
    if success is None:
        return "[dim]-[/dim]"
    return "[green]pass[/green]" if success else "[red]fail[/red]"
