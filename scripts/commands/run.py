"""`contramem run`: the main job."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from pydantic import ValidationError

from runtime.contracts import Json, Limits
from runtime.errors import UsageError
from scripts.commands.options import OnOff

__all__ = ["run"]


def _option(
    text: str,
    *names: str,
    panel: str = "Options",
    metavar: str | None = None,
    least: int | None = None,
) -> object:
    return typer.Option(*names, help=text, rich_help_panel=panel, metavar=metavar, min=least)


LIMITS, MEMORY = "Limits of one episode", "Memory and gate"
DEFAULTS = Limits()


def run(
    bench: Annotated[str, _option("appworld or gaia2", "--bench", metavar="NAME")],
    dataset: Annotated[
        str, _option("As `contramem tasks` lists them", "--dataset", metavar="NAME")
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
        list[str] | None, _option("Only this task; repeatable", "--task", metavar="ID")
    ] = None,
    limit: Annotated[
        int | None, _option("Only the first N tasks", "--limit", metavar="N", least=1)
    ] = None,
    out: Annotated[
        Path | None,
        _option(
            "The run's folder (default: ./runs/, named after the configuration)",
            "--out",
            metavar="DIR",
        ),
    ] = None,
    concurrency: Annotated[
        int, _option("Episodes at once", "--concurrency", metavar="N", least=1)
    ] = 2,
    seed: Annotated[int, _option("Recorded, and sent where models.toml says so", "--seed")] = 0,
    budget: Annotated[
        float | None,
        _option("Launch nothing more once USD are spent", "--budget", metavar="USD", least=0),
    ] = None,
    retry_errors: Annotated[
        bool, _option("Repeat episodes that ended by an infrastructure error", "--retry-errors")
    ] = False,
    shard: Annotated[str, _option("Only part I of N", "--shard", metavar="I/N")] = "1/1",
    models: Annotated[
        Path | None, _option("Another models.toml", "--models", metavar="FILE")
    ] = None,
    prompt: Annotated[
        Path | None, _option("Another prompt template", "--prompt", metavar="FILE")
    ] = None,
    judge: Annotated[
        str | None,
        _option(
            "gaia2: the model that judges what has no scripted checks", "--judge", metavar="NAME"
        ),
    ] = None,
    think_time: Annotated[
        str | None,
        _option(
            "gaia2: simulated time that a model call costs: zero, measured or fixed:SECONDS",
            "--think-time",
            metavar="HOW",
        ),
    ] = None,
    steps: Annotated[int, _option("Completions", "--steps", panel=LIMITS)] = DEFAULTS.steps,
    wall: Annotated[
        float, _option("Seconds of wall time", "--wall", panel=LIMITS)
    ] = DEFAULTS.wall_s,
    tokens: Annotated[
        int | None, _option("Input plus output tokens", "--tokens", panel=LIMITS)
    ] = None,
    cost: Annotated[float | None, _option("USD", "--cost", panel=LIMITS)] = None,
    context: Annotated[
        int | None, _option("Tokens of one prompt", "--context", panel=LIMITS)
    ] = None,
    cell: Annotated[
        float, _option("Seconds of one cell", "--cell", panel=LIMITS)
    ] = DEFAULTS.cell_s,
    observation_chars: Annotated[
        int, _option("Characters of one observation", "--observation-chars", panel=LIMITS)
    ] = DEFAULTS.observation_chars,
    profile: Annotated[
        str,
        _option(
            "none, appworld-start, gaia2-start-gate, time or full; single options override it",
            "--profile",
            panel=MEMORY,
        ),
    ] = "none",
    memory: Annotated[
        list[str] | None,
        _option("A bank, or none. Repeat it for one arm each.", "--memory", panel=MEMORY),
    ] = None,
    cards: Annotated[
        str | None, _option("function, skill or both", "--cards", panel=MEMORY)
    ] = None,
    gate: Annotated[
        OnOff | None, _option("Stop a write once before it executes", "--gate", panel=MEMORY)
    ] = None,
    latch: Annotated[
        str | None,
        _option("What a stop verifies: call, function or cell", "--latch", panel=MEMORY),
    ] = None,
    risk_stop: Annotated[
        OnOff | None,
        _option("Whether a new high-confidence risk stops again", "--risk-stop", panel=MEMORY),
    ] = None,
    jit: Annotated[
        bool | None, _option("A card with the cell that first used its API", "--jit", panel=MEMORY)
    ] = None,
    pre_tool: Annotated[
        str | None,
        _option("writes, or all: a read's card with its first use", "--pre-tool", panel=MEMORY),
    ] = None,
    dry_run: Annotated[bool, _option("Show the plan and run nothing", "--dry-run")] = False,
    quiet: Annotated[bool, _option("Show nothing but the result", "--quiet", "-q")] = False,
    as_json: Annotated[bool, _option("Print one JSON object at the end", "--json")] = False,
) -> None:
    """Run agents on a benchmark's tasks. The same command again goes on where it ended.

    Exit codes: 0 done (failed tasks are results, not errors); 1 episodes errored; 2 wrong usage; \
3 something is not set up; 4 the budget ended first; 130 interrupted.
    """
    settings: dict[str, Json] = {
        "cards": cards,
        "gate": None if gate is None else gate is OnOff.ON,
        "latch": latch,
        "risk_stop": None if risk_stop is None else risk_stop is OnOff.ON,
        "jit": jit,
        "pre_tool": pre_tool,
    }
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
            steps=steps,
            wall_s=wall,
            tokens=tokens,
            cost_usd=cost,
            context_tokens=context,
            cell_s=cell,
            observation_chars=observation_chars,
        ),
        seed=seed,
        concurrency=concurrency,
        budget_usd=budget,
        retry_errors=retry_errors,
        out=out,
        shard=shard,
        models_file=models,
        profile=profile,
        memories=tuple(memory or ()),
        settings=settings,
        judge=judge,
        opening=OpenOptions(prompt=prompt, think_time=think_time),
    )
    raise typer.Exit(execute(options, dry_run=dry_run, quiet=quiet, as_json=as_json))


def _limits(**limits: float | None) -> Limits:
    try:
        return Limits.model_validate(limits)
    except ValidationError as error:
        first = error.errors()[0]
        raise UsageError(f"Limit {first['loc'][0]}: {first['msg']}.") from None
