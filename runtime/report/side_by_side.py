"""A recorded episode and its replay, next to each other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from itertools import groupby, zip_longest

from rich.box import SIMPLE_HEAD
from rich.table import Table
from rich.text import Text

from runtime.contracts import Kind
from runtime.records import CallRecord, CellRecord, InjectionRecord, ObservationRecord, Record
from runtime.replay import Replay, risk_ids
from runtime.report.breakable import Breakable
from runtime.report.visible import visible
from runtime.trace import TraceFile

__all__ = ["replays_table", "side_by_side"]

LINES = 6
"""Lines of a cell that are shown."""


def replays_table(replays: Sequence[Replay]) -> Table:
    """Return one row per replayed episode."""
    table = Table(box=SIMPLE_HEAD, padding=0, show_edge=False)
    table.add_column("episode", overflow="fold")
    for name in ("mode", "same", "before", "after"):
        table.add_column(name)
    for name in ("stops", "cards", "tokens"):
        table.add_column(name, justify="right")
    for each in replays:
        table.add_row(
            Breakable(each.episode),
            each.mode if each.fork_step is None else f"{each.mode} from {each.fork_step}",
            "yes" if each.same else "no",
            each.recorded_outcome,
            each.outcome,
            str(len(each.stopped_writes)),
            str(len(each.injected_cards)),
            f"{each.tokens_added:+d}",
        )
    return table


def side_by_side(recorded: TraceFile, replayed: TraceFile, *, fold: bool = False) -> Table:
    """Return the cells of both, one row each, with what happened in them.

    `fold`: cells that look alike on both sides are counted only.
    """
    table = Table(show_lines=True, expand=True)
    table.add_column("recorded", ratio=1, overflow="fold")
    table.add_column("replayed", ratio=1, overflow="fold")
    rows = _aligned(_blocks(recorded), _blocks(replayed))
    for alike, run in groupby(rows, lambda row: fold and row[0].plain == row[1].plain):
        if alike:
            words = Text(f"... {len(list(run))} alike", style="dim")
            table.add_row(words, words)
            continue
        for left, right in run:
            table.add_row(left, right)
    return table


Block = tuple[str, Text]
"""A cell's source and what is shown of it; what comes before the first cell has no source."""


def _aligned(left: list[Block], right: list[Block]) -> Iterator[tuple[Text, Text]]:
    """Pair equal cells; a cell that only one side ran stands alone."""
    sources = [source for source, _ in left], [source for source, _ in right]
    for _, i, i_end, j, j_end in SequenceMatcher(None, *sources, autojunk=False).get_opcodes():
        pairs = zip_longest(left[i:i_end], right[j:j_end], fillvalue=("", Text("")))
        yield from ((one, other) for (_, one), (_, other) in pairs)


def _blocks(trace: TraceFile) -> list[Block]:
    blocks: list[Block] = [("", Text())]
    for record in trace.records:
        if isinstance(record, CellRecord):
            blocks.append((record.source, _cell(record)))
        else:
            _add(blocks[-1][1], record)
    return blocks if blocks[0][1].plain else blocks[1:]


def _cell(record: CellRecord) -> Text:
    lines = record.source.splitlines()
    more = f"\n... {len(lines) - LINES} more lines" if len(lines) > LINES else ""
    return Text(visible("\n".join(lines[:LINES]) + more))


def _add(block: Text, record: Record) -> None:
    if isinstance(record, CallRecord) and record.kind is not Kind.READ:
        style = "yellow" if record.decision.action == "stop" else "green"
        risks = ", ".join(risk_ids(record.decision.advisory or {}))
        words = f"\n{record.kind.value} {record.function}: {record.decision.reason}"
        words += f" ({risks})" if risks else ""
        block.append(visible(words), style)
    elif isinstance(record, ObservationRecord):
        block.append(f"\n[{record.end.status}]", "dim")
    elif isinstance(record, InjectionRecord):
        cards = f": {', '.join(record.cards)}" if record.cards else ""
        words = f"{record.point}{cards} ({record.tokens} tokens)"
        block.append(f"{chr(10) if block.plain else ''}{visible(words)}", "magenta")
