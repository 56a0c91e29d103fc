"""`contramem run`: the main job."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer
from pydantic import ValidationError

from runtime.contracts import Limits
from runtime.errors import UsageError
from scripts.commands.options import (
    MEMORY,
    Cards,
    Gate,
    Jit,
    Latch,
    ModelsFile,
    PreTool,
    RiskStop,
    memory_settings,
)

__all__ = ["run"]


def _option(
    text: str,
    *names: str,
    panel: str = "Options",
    metavar: str | None = None,
    least: int | None = None,
) -> object:
    return typer.Option(*names, help=text, rich_help_panel=panel, metavar=metavar, min=least)


LIMITS = "Limits of one episode"
DEFAULTS = Limits()


def run(
    bench: Annotated[str, _option("appworld or gaia2.", "--bench", metavar="NAME")],
    dataset: Annotated[
        str, _option("As `contramem tasks` lists them.", "--dataset", metavar="NAME")
    ],
    model: Annotated[
        list[str],
        _option(
            "scripted:PERSONA, recorded:RUN_OR_EPISODE, openai:MODEL, or a name of models.toml."
            " Repeat it for one arm each.",
            "--model",
            metavar="NAME",
        ),
    ],
    task: Annotated[
        list[str] | None, _option("Only this task; repeatable.", "--task", metavar="ID")
    ] = None,
    limit: Annotated[
        int | None, _option("Only the first N tasks.", "--limit", metavar="N", least=1)
    ] = None,
    out: Annotated[
        Path | None,
        _option(
            "The run's folder (default: ./runs/, named after the configuration).",
            "--out",
            metavar="DIR",
        ),
    ] = None,
    concurrency: Annotated[
        int, _option("Episodes at once.", "--concurrency", metavar="N", least=1)
    ] = 2,
    seed: Annotated[
        int, _option("Recorded, and sent where models.toml says so.", "--seed", metavar="N")
    ] = 0,
    budget: Annotated[
        float | None,
        _option("Launch nothing more once USD are spent.", "--budget", metavar="USD", least=0),
    ] = None,
    retry_errors: Annotated[
        bool, _option("Repeat episodes that ended by an infrastructure error.", "--retry-errors")
    ] = False,
    shard: Annotated[
        str,
        _option(
            "Only part I of N, so that several machines can share a run (contramem merge).",
            "--shard",
            metavar="I/N",
        ),
    ] = "1/1",
    models: ModelsFile = None,
    prompt: Annotated[
        Path | None,
        _option("appworld: a prompt template (docs/prompts.md)", "--prompt", metavar="FILE"),
    ] = None,
    judge: Annotated[
        str | None,
        _option(
            "gaia2: the model that judges what has no scripted checks.", "--judge", metavar="NAME"
        ),
    ] = None,
    think_time: Annotated[
        str | None,
        _option(
            "gaia2: simulated time that a model call costs: zero, measured or fixed:SECONDS.",
            "--think-time",
            metavar="HOW",
        ),
    ] = None,
    steps: Annotated[
        int, _option("Completions.", "--steps", panel=LIMITS, metavar="N")
    ] = DEFAULTS.steps,
    wall: Annotated[
        float, _option("Seconds of wall time.", "--wall", panel=LIMITS, metavar="SECONDS")
    ] = DEFAULTS.wall_s,
    tokens: Annotated[
        int | None, _option("Input plus output tokens.", "--tokens", panel=LIMITS, metavar="N")
    ] = None,
    cost: Annotated[
        float | None, _option("US dollars.", "--cost", panel=LIMITS, metavar="USD")
    ] = None,
    context: Annotated[
        int | None, _option("Tokens of one prompt.", "--context", panel=LIMITS, metavar="N")
    ] = None,
    cell: Annotated[
        float, _option("Seconds of one cell.", "--cell", panel=LIMITS, metavar="SECONDS")
    ] = DEFAULTS.cell_s,
    observation_chars: Annotated[
        int,
        _option("Characters of one observation.", "--observation-chars", panel=LIMITS, metavar="N"),
    ] = DEFAULTS.observation_chars,
    profile: Annotated[
        list[str] | None,
        _option(
            "none (no memory, gate off), appworld-start (memory at the task's start),"
            " gaia2-start-gate or full (the same, and the gate), time (memory by the rules of"
            " Time). Single options override it. Repeat it for one arm each.",
            "--profile",
            panel=MEMORY,
            metavar="NAME",
        ),
    ] = None,
    memory: Annotated[
        list[str] | None,
        _option(
            "A bank's folder, or none. Repeat it for one arm each.",
            "--memory",
            panel=MEMORY,
            metavar="BANK",
        ),
    ] = None,
    cards: Cards = None,
    gate: Gate = None,
    latch: Latch = None,
    risk_stop: RiskStop = None,
    jit: Jit = None,
    pre_tool: PreTool = None,
    dry_run: Annotated[bool, _option("Show the plan and run nothing.", "--dry-run")] = False,
    quiet: Annotated[bool, _option("Show nothing but the result.", "--quiet", "-q")] = False,
    as_json: Annotated[bool, _option("Print one JSON object at the end.", "--json")] = False,
) -> None:
    """Run agents on a benchmark's tasks. The same command again goes on where it ended.

    Exit codes: 0 done (failed tasks are results, not errors); 1 episodes errored; 2 wrong usage; \
3 something is not set up; 4 the budget ended first; 130 interrupted.
    """
    # late, so that --help does not wait for the benchmarks and the memory
    from scripts.benchmarks import OpenOptions  # noqa: PLC0415
    from scripts.planning import RunOptions  # noqa: PLC0415
    from scripts.running import execute  # noqa: PLC0415

    options = RunOptions(
        bench=bench,
        dataset=dataset,
        models=tuple(model),
        tasks=tuple(task or ()),
        limit=limit,
        limits=_limits(
            {
                "--steps": ("steps", steps),
                "--wall": ("wall_s", wall),
                "--tokens": ("tokens", tokens),
                "--cost": ("cost_usd", cost),
                "--context": ("context_tokens", context),
                "--cell": ("cell_s", cell),
                "--observation-chars": ("observation_chars", observation_chars),
            }
        ),
        seed=seed,
        concurrency=concurrency,
        budget_usd=budget,
        retry_errors=retry_errors,
        out=out,
        shard=shard,
        models_file=models,
        profiles=tuple(profile or ("none",)),
        memories=tuple(memory or ()),
        settings=memory_settings(
            cards=cards,
            gate=gate,
            latch=latch,
            risk_stop=risk_stop,
            jit=jit,
            pre_tool=pre_tool,
        ),
        judge=judge,
        opening=OpenOptions(prompt=prompt, think_time=think_time),
    )
    raise typer.Exit(execute(options, dry_run=dry_run, quiet=quiet, as_json=as_json))


def _limits(options: Mapping[str, tuple[str, float | None]]) -> Limits:
    """Return the limits that options stand for. Raises `UsageError` naming the option."""
    try:
        return Limits.model_validate(dict(options.values()))
    except ValidationError as error:
        first = error.errors()[0]
        option = next(name for name, (field, _) in options.items() if field == first["loc"][0])
        raise UsageError(f"{option}: {first['msg']}.") from None
