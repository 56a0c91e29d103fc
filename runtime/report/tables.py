"""Tables for a terminal: one row per arm, and one column per task where they fit."""

from __future__ import annotations

import re
from collections.abc import Sequence

from rich.box import SIMPLE_HEAD
from rich.table import Table

from runtime.report.summary import ArmSummary

__all__ = ["arms_table", "tasks_table"]


def arms_table(summaries: Sequence[ArmSummary], title: str = "") -> Table:
    """Return success and effort by arm. Effort never stands without success beside it."""
    several = len({(row.benchmark, row.dataset) for row in summaries}) > 1
    some_left = any(row.not_run for row in summaries)
    some_memory = any(row.memory_tokens for row in summaries)
    table = Table(
        title=title,
        title_justify="left",
        title_style="bold",
        box=SIMPLE_HEAD,
        padding=0,
        show_edge=False,
    )
    if several:
        table.add_column("tasks", overflow="fold", min_width=8)
    table.add_column("arm", overflow="fold", min_width=10)
    for name in ("pass", "fail", "err", *(["left"] if some_left else []), "TGC", "SGC"):
        table.add_column(name, justify="right", no_wrap=True)
    for name in ("events", "tokens", *(["memory"] if some_memory else []), "cost", "s"):
        table.add_column(name, justify="right", style="dim", no_wrap=True)
    for row in summaries:
        table.add_row(
            *([f"{row.benchmark} {row.dataset}"] if several else []),
            _in_lines(row.arm.name, 16),
            *(str(count) for count in (row.passed, row.failed, row.errored)),
            *([str(row.not_run)] if some_left else []),
            *(_rate(rate) for rate in (row.tgc, row.sgc)),
            _count(row.events),
            _count(row.usage.input + row.usage.output),
            *([_count(row.memory_tokens)] if some_memory else []),
            _money(row.cost_usd),
            f"{row.wall_s:.0f}",
        )
    return table


def tasks_table(summaries: Sequence[ArmSummary], tasks: Sequence[str]) -> Table:
    """Return one row per task and one column per arm: passed, failed, or not evaluated."""
    table = Table(box=SIMPLE_HEAD, padding=0, show_edge=False)
    table.add_column("task", overflow="fold", min_width=min(40, max(map(len, tasks), default=0)))
    for row in summaries:
        table.add_column(_in_lines(row.arm.name, 12), justify="center", overflow="fold")
    for task in tasks:
        table.add_row(task, *(_mark(row.success.get(task)) for row in summaries))
    return table


def _in_lines(name: str, width: int) -> str:
    """Break a name after its hyphens and underscores into lines of `width` where that can be."""
    parts = re.findall(r"[^-_/]*[-_/]?", name)
    lines = [""]
    for part in parts:
        if lines[-1] and len(lines[-1]) + len(part) > width:
            lines.append("")
        lines[-1] += part
    return "\n".join(lines)


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
