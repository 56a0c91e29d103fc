"""`contramem replay`: recorded episodes again, as they were or under other settings."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from runtime.errors import UsageError
from runtime.replay import Replay
from runtime.report.side_by_side import replays_table, side_by_side
from runtime.report.visible import as_it_is
from runtime.trace import read_trace
from scripts.commands.options import (
    Cards,
    Gate,
    Jit,
    Latch,
    ModelsFile,
    PreTool,
    RiskStop,
    memory_option,
    memory_settings,
)
from scripts.replaying import ReplayRequest, episodes_of, new_folder, new_places, replay_all
from scripts.tables import print_table

__all__ = ["replay_command"]

DIFFERS_OR_ERRORED = 1


def replay_command(
    target: Annotated[
        str,
        typer.Argument(
            metavar="RUN_OR_EPISODE",
            help="A run folder, or one episode: a trace file or RUN/ARM/TASK.",
        ),
    ],
    memory: Annotated[
        str | None, memory_option("Another bank's folder, or none.", "--memory", metavar="BANK")
    ] = None,
    profile: Annotated[
        str | None,
        memory_option("Another profile (contramem run --help).", "--profile", metavar="NAME"),
    ] = None,
    cards: Cards = None,
    gate: Gate = None,
    latch: Latch = None,
    risk_stop: RiskStop = None,
    jit: Jit = None,
    pre_tool: PreTool = None,
    continue_with: Annotated[
        str | None,
        typer.Option(metavar="MODEL", help="Go on live with this model where the context differs."),
    ] = None,
    from_step: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            min=1,
            help="Go on live from step N, even where the context is still the same.",
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Folder for the new traces (default: below ./runs)."),
    ] = None,
    models: ModelsFile = None,
    prompt: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The prompt template of the run.")
    ] = None,
    judge: Annotated[
        str | None, typer.Option(metavar="MODEL", help="Judges what has no scripted checks.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Play recorded episodes in a fresh world. No model is called, except by --continue-with
    and --judge.

    Without options: verify that the same cells give the same observations, decisions and outcome.

    With other settings of memory or gate: show what they would have injected and stopped.

    Exits with 1 if a verified episode differs or any replay errored.
    """
    episodes = episodes_of(target)
    out = out or new_folder()
    request = ReplayRequest(
        episodes=episodes,
        places=new_places(episodes, out),
        overrides={
            "memory": memory,
            **memory_settings(
                cards=cards,
                gate=gate,
                latch=latch,
                risk_stop=risk_stop,
                jit=jit,
                pre_tool=pre_tool,
            ),
        },
        profile=profile,
        model=continue_with,
        from_step=from_step,
        models_file=models,
        prompt=prompt,
        judge=judge,
        out=out,
    )
    if from_step is not None and continue_with is None:
        raise UsageError("--from-step needs --continue-with MODEL.")
    replays = asyncio.run(replay_all(request))
    _show(request, replays, as_json=as_json)
    differs = request.mode == "verify" and not all(each.same for each in replays)
    if differs or any(each.outcome == "errored" for each in replays):
        raise typer.Exit(DIFFERS_OR_ERRORED)


def _show(request: ReplayRequest, replays: list[Replay], *, as_json: bool) -> None:
    if as_json:
        print(json.dumps({"episodes": [each.as_json() for each in replays]}))
        return
    console = Console()
    verified = request.mode == "verify"
    if len(replays) == 1 and not (verified and replays[0].same):
        recorded, replayed = (next(iter(request.episodes)), replays[0].trace)
        console.print(side_by_side(read_trace(recorded), read_trace(replayed), fold=verified))
    print_table(replays_table(replays))
    for each in replays:
        if each.first_difference is not None and verified:
            text = f"{each.episode}: {each.first_difference}"
            console.print(as_it_is(text), soft_wrap=True)
    console.print(f"New traces: {request.out}", highlight=False, markup=False, soft_wrap=True)
