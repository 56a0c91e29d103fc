"""`contramem run`: the main job."""

from __future__ import annotations

import asyncio
import json
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from runtime.batch import BatchResult
from runtime.contracts import Json, Limits
from runtime.report.summary import ArmSummary, summarise
from runtime.report.tables import arms_table, tasks_table
from runtime.runs import Shard
from scripts.benchmarks import OpenOptions
from scripts.live import LiveView, LogView, SilentView
from scripts.planning import Plan, RunOptions, make_plan

__all__ = ["run"]

SOME_ERRORED, BUDGET_SPENT = 1, 4
MOST_TASKS_SHOWN = 40


class OnOff(StrEnum):
    """A switch."""

    ON = "on"
    OFF = "off"


def _option(text: str, *names: str, panel: str = "Options", metavar: str | None = None) -> object:
    return typer.Option(*names, help=text, rich_help_panel=panel, metavar=metavar)


LIMITS, MEMORY = "Limits of one episode", "Memory and gate"
DEFAULTS = Limits()


def run(
    bench: Annotated[str, _option("appworld or gaia2", "--bench")],
    dataset: Annotated[str, _option("A dataset's name, as `contramem tasks` shows", "--dataset")],
    model: Annotated[
        list[str],
        _option(
            "scripted:PERSONA, recorded:RUN_OR_EPISODE, openai:MODEL, or a name of models.toml."
            " Repeat it for one arm each.",
            "--model",
        ),
    ],
    task: Annotated[list[str] | None, _option("Only this task; repeatable", "--task")] = None,
    limit: Annotated[int | None, _option("Only the first N tasks", "--limit")] = None,
    out: Annotated[
        Path | None,
        _option("The run's folder (default: ./runs/, named after the configuration)", "--out"),
    ] = None,
    concurrency: Annotated[int, _option("Episodes at once", "--concurrency")] = 2,
    seed: Annotated[int, _option("Recorded, and sent where models.toml says so", "--seed")] = 0,
    budget: Annotated[
        float | None, _option("Launch nothing more once USD are spent", "--budget", metavar="USD")
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

    Exits with 1 if episodes errored, 2 for wrong usage, 3 if something is not set up, 4 if the
    budget ended first, 130 when interrupted. Failed tasks are results, not errors.
    """
    settings: dict[str, Json] = {
        "cards": cards,
        "gate": None if gate is None else gate is OnOff.ON,
        "latch": latch,
        "risk_stop": None if risk_stop is None else risk_stop is OnOff.ON,
        "jit": jit,
        "pre_tool": pre_tool,
    }
    options = RunOptions(
        bench=bench,
        dataset=dataset,
        models=tuple(model),
        tasks=tuple(task or ()),
        limit=limit,
        limits=Limits(
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
        shard=Shard.parse(shard),
        models_file=models,
        profile=profile,
        memories=tuple(memory or ()),
        settings=settings,
        opening=OpenOptions(prompt=prompt),
    )
    raise typer.Exit(asyncio.run(_run(options, dry_run=dry_run, quiet=quiet, as_json=as_json)))


async def _run(options: RunOptions, *, dry_run: bool, quiet: bool, as_json: bool) -> int:
    console = Console(stderr=True)
    with console.status("Starting the benchmark ..."):
        plan = await make_plan(options)
    try:
        if dry_run:
            _show_plan(plan, options, as_json=as_json)
            return 0
        with _view(console, quiet=quiet) as view:
            result = await plan.batch.run(view)
    finally:
        await plan.close()
    summaries = summarise(plan.folder, plan.manifest, plan.tasks)
    _show_result(plan, summaries, as_json=as_json)
    return _exit_code(summaries, result)


def _view(console: Console, *, quiet: bool) -> SilentView:
    if quiet:
        return SilentView()
    return LiveView(console) if console.is_terminal else LogView(console)


def _exit_code(summaries: list[ArmSummary], result: BatchResult) -> int:
    if result.not_run:
        return BUDGET_SPENT
    return SOME_ERRORED if any(row.errored for row in summaries) else 0


def _show_result(plan: Plan, summaries: list[ArmSummary], *, as_json: bool) -> None:
    if as_json:
        rows = [row.as_json() for row in summaries]
        print(json.dumps({"run": str(plan.folder.path), "arms": rows}))
        return
    console = Console()
    if len(plan.tasks) <= MOST_TASKS_SHOWN:
        console.print(tasks_table(summaries, [task.id for task in plan.tasks]))
    manifest = plan.manifest
    console.print(arms_table(summaries, title=f"{manifest.benchmark} {manifest.dataset}"))
    console.print(f"Run folder: {plan.folder.path}", highlight=False, markup=False, soft_wrap=True)
    example = f"{summaries[0].arm.name}/{plan.tasks[0].id}"
    hint = f"Read one: contramem show {plan.folder.path}/{example}"
    console.print(hint, highlight=False, markup=False, soft_wrap=True)


def _show_plan(plan: Plan, options: RunOptions, *, as_json: bool) -> None:
    jobs = plan.batch.jobs()
    done = sum(plan.folder.end_of(job.arm.name, job.task.id) is not None for job in jobs)
    facts: dict[str, Json] = {
        "run": str(plan.folder.path),
        "arms": [arm.name for arm in plan.manifest.arms],
        "tasks": len(plan.tasks),
        "episodes": len(jobs),
        "complete": done,
        "limits": plan.manifest.limits.model_dump(exclude_none=True),
        "cost_bound_usd": plan.cost_bound_usd(),
        "budget_usd": options.budget_usd,
    }
    if as_json:
        print(json.dumps(facts))
        return
    console = Console()
    for name, value in facts.items():
        words = "unknown" if value is None else value
        if isinstance(value, list):
            words = ", ".join(map(str, value))
        elif isinstance(value, dict):
            words = ", ".join(f"{key} {item:g}" for key, item in value.items())
        console.print(f"{name:>15}  {words}", highlight=False, markup=False, soft_wrap=True)
