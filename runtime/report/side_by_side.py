"""A recorded episode and its replay, next to each other."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest

from rich.table import Table
from rich.text import Text

from runtime.contracts import Kind
from runtime.replay import Replay
from runtime.trace import (
    CallRecord,
    CellRecord,
    InjectionRecord,
    ObservationRecord,
    Record,
    TraceFile,
)

__all__ = ["replays_table", "side_by_side"]

LINES = 6
"""Lines of a cell that are shown."""


def replays_table(replays: Sequence[Replay]) -> Table:
    """Return one row per replayed episode."""
    table = Table()
    table.add_column("episode", overflow="fold")
    for name in ("mode", "same", "recorded", "replayed"):
        table.add_column(name)
    for name in ("stops", "cards", "tokens"):
        table.add_column(name, justify="right")
    for each in replays:
        table.add_row(
            each.episode,
            each.mode if each.fork_step is None else f"{each.mode} from {each.fork_step}",
            "yes" if each.same else "no",
            each.recorded_outcome,
            each.outcome,
            str(len(each.stopped_writes)),
            str(len(each.injected_cards)),
            f"{each.tokens_added:+d}",
        )
    return table


def side_by_side(recorded: TraceFile, replayed: TraceFile) -> Table:
    """Return the cells of both, one row each, with what happened in them."""
    table = Table(show_lines=True, expand=True)
    table.add_column("recorded", ratio=1)
    table.add_column("replayed", ratio=1)
    for left, right in zip_longest(_cells(recorded), _cells(replayed), fillvalue=Text("")):
        table.add_row(left, right)
    return table


def _cells(trace: TraceFile) -> list[Text]:
    """Return a block of text per cell; what comes before the first cell goes with it."""
    blocks: list[Text] = []
    current = Text()
    for record in trace.records:
        if isinstance(record, CellRecord):
            if current.plain:
                blocks.append(current)
            current = _cell(record)
        else:
            _add(current, record)
    return [*blocks, current]


def _cell(record: CellRecord) -> Text:
    lines = record.source.splitlines()
    more = f"\n... {len(lines) - LINES} more lines" if len(lines) > LINES else ""
    return Text("\n".join(lines[:LINES]) + more)


def _add(block: Text, record: Record) -> None:
    if isinstance(record, CallRecord) and record.kind is not Kind.READ:
        style = "yellow" if record.decision.action == "stop" else "green"
        block.append(f"\n{record.kind.value} {record.function}: {record.decision.reason}", style)
    elif isinstance(record, ObservationRecord):
        block.append(f"\n[{record.end.status}]", "dim")
    elif isinstance(record, InjectionRecord) and record.cards:
        words = f"memory at {record.point}: {', '.join(record.cards)} ({record.tokens} tokens)"
        block.append(f"{chr(10) if block.plain else ''}{words}", "magenta")
