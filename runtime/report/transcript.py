"""One episode as text for a terminal."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import singledispatch

from rich.console import Group, RenderableType
from rich.panel import Panel
from rich.rule import Rule
from rich.syntax import Syntax
from rich.text import Text

from runtime.cells import truncate
from runtime.records import (
    CallRecord,
    CellRecord,
    EndRecord,
    ErrorRecord,
    InjectionRecord,
    MessageRecord,
    ModelCallRecord,
    NotificationRecord,
    ObservationRecord,
    OutcomeRecord,
    Record,
)
from runtime.report.visible import as_it_is, visible
from runtime.trace import TraceFile

__all__ = ["transcript"]

LONGEST_TEXT = 4000
LONGEST_CALL = 160
STYLES = {"allow": "green", "answer": "cyan", "stop": "yellow", "refuse": "red"}


def transcript(trace: TraceFile, *, calls: bool = True, prompt: bool = False) -> RenderableType:
    """Return the whole episode. `calls`: one line each. `prompt`: the opening messages too."""
    parts = list(_head(trace))
    opened = False
    for record in trace.records:
        opened = opened or isinstance(record, ModelCallRecord)
        if isinstance(record, MessageRecord) and not opened and not prompt:
            continue
        if isinstance(record, CallRecord) and not calls:
            continue
        parts += _render(record)
    if trace.end is None:
        parts.append(Text("The episode was cut off here.", style="bold red"))
    return Group(*parts)


def _head(trace: TraceFile) -> Iterator[RenderableType]:
    header = trace.header
    yield Rule(as_it_is(header.episode or header.task.id))
    facts = [f"task {header.task.id} ({header.task.benchmark} {header.task.dataset})"]
    facts.append(f"model {header.model.get('name', '?')}")
    facts.append(f"lock-down {header.lockdown or 'unknown'}")
    if header.source:
        facts.append(f"imported from {header.source}")
    yield Text(visible("\n".join(facts)), style="dim")
    yield Panel(Text(visible(header.task.instruction)), title="instruction", title_align="left")


@singledispatch
def _render(record: Record) -> Iterator[RenderableType]:  # noqa: ARG001 - results stand in the output
    yield from ()


@_render.register
def _(record: ModelCallRecord) -> Iterator[RenderableType]:
    yield Rule(f"step {record.step}", style="dim")


@_render.register
def _(record: MessageRecord) -> Iterator[RenderableType]:
    if record.role == "assistant":
        said = record.content.partition("```")[0].strip()
        if said:
            yield Text(visible(said))
    elif not record.content.startswith("Output:"):
        yield Text(visible(f"{record.role}: {record.content}"), style="dim")


@_render.register
def _(record: CellRecord) -> Iterator[RenderableType]:
    yield Syntax(visible(record.source), "python", line_numbers=False, word_wrap=True)


@_render.register
def _(record: CallRecord) -> Iterator[RenderableType]:
    yield _call(record)


@_render.register
def _(record: ObservationRecord) -> Iterator[RenderableType]:
    text = Text(visible(truncate(record.text, LONGEST_TEXT).rstrip()))
    yield Panel(text, title=record.end.status, title_align="left", border_style="blue")
    if record.notes:
        notes = Text(visible(record.notes))
        yield Panel(notes, title="gate", title_align="left", border_style="yellow")


@_render.register
def _(record: InjectionRecord) -> Iterator[RenderableType]:
    cards = f": {', '.join(record.cards)}" if record.cards else ""
    words = f"{record.point}{cards} ({record.tokens} tokens)"
    yield Text(visible(words), style="magenta")


@_render.register
def _(record: NotificationRecord) -> Iterator[RenderableType]:
    yield Text(visible(f"notification: {record.text}"), style="cyan")


@_render.register
def _(record: OutcomeRecord) -> Iterator[RenderableType]:
    for check in record.checks:
        mark, style = ("pass", "green") if check.passed else ("FAIL", "red")
        yield Text(visible(f"  {mark}  {check.requirement}"), style=style)
        if check.detail and not check.passed:
            yield Text(visible(f"        {check.detail.splitlines()[0][:200]}"), style="dim")


@_render.register
def _(record: ErrorRecord) -> Iterator[RenderableType]:
    yield Text(visible(f"{record.error}: {record.message}"), style="red")


@_render.register
def _(record: EndRecord) -> Iterator[RenderableType]:
    limit = f", limit: {record.limit}" if record.limit else ""
    cost = "?" if record.cost_usd is None else f"${record.cost_usd:.4f}"
    tokens = record.usage.input + record.usage.output
    yield Rule(
        f"{record.status}{limit}: {record.steps} steps, {record.calls} calls, {tokens:,} tokens,"
        f" cost {cost}, {record.wall_s:.1f} s"
    )


def _call(record: CallRecord) -> Text:
    arguments = ", ".join(f"{name}={json.dumps(value)}" for name, value in record.arguments.items())
    line = f"  {record.kind.value:<6} {record.function}({arguments})"
    if len(line) > LONGEST_CALL:
        line = f"{line[: LONGEST_CALL - 4]} ...)"
    text = Text(visible(line), style="dim")
    style = STYLES[record.decision.action]
    return text.append(visible(f"  [{record.decision.reason}]"), style=f"not dim {style}")
