"""Executes a plan of `contramem run`, shows it while it runs, and what it came to."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence

from rich.console import Console

from runtime.batch import BatchResult
from runtime.contracts import Json
from runtime.report.summary import ArmSummary, summarise
from runtime.report.tables import arms_table, tasks_table
from runtime.report.visible import as_it_is
from runtime.runs import ArmManifest
from scripts.live import LiveView, LogView, SilentView
from scripts.planning import Plan, RunOptions, make_plan
from scripts.tables import print_table, table_width

__all__ = ["execute"]

SOME_ERRORED, BUDGET_SPENT, INTERRUPTED = 1, 4, 130
MOST_TASKS_SHOWN = 40
PART_OF = {
    **dict.fromkeys(("latch", "risk_stop"), "gate"),
    **dict.fromkeys(("cards", "jit", "pre_tool"), "memory"),
}
"""What has to be on for a setting to mean anything."""
WITHOUT = {"gate": "the gate on (--gate on)", "memory": "a bank (--memory BANK)"}


def execute(options: RunOptions, *, dry_run: bool, quiet: bool, as_json: bool) -> int:
    """Run what the options ask for, or show its plan, and return the exit code.

    Raises the errors of `make_plan` and of `Batch.run`.
    """
    console = Console(stderr=True)
    try:
        return asyncio.run(_execute(console, options, dry_run, quiet=quiet, as_json=as_json))
    except KeyboardInterrupt:
        say(console, "Interrupted. Finished episodes are kept: the same command goes on from here.")
        return INTERRUPTED


async def _execute(
    console: Console, options: RunOptions, dry_run: bool, *, quiet: bool, as_json: bool
) -> int:
    with console.status("Starting the benchmark ..."):
        plan = await make_plan(options)
    try:
        if not quiet:
            for remark in remarks(options.settings, plan.manifest.arms):
                say(console, remark)
        if dry_run:
            _show_plan(plan, options, as_json=as_json)
            return 0
        if plan.outlook.waiting:
            await plan.check()
        with _view(console, quiet=quiet) as view:
            result = await plan.batch.run(view)
    finally:
        await plan.close()
    summaries = summarise(plan.folder, plan.manifest)
    _show_result(plan, summaries, as_json=as_json)
    return _exit_code(summaries, result)


def remarks(given: Mapping[str, Json], arms: Sequence[ArmManifest]) -> list[str]:
    """Say which of the given settings change nothing in any arm."""
    on = {
        "gate": any(arm.settings.get("gate") for arm in arms),
        "memory": any(arm.settings.get("memory") for arm in arms),
    }
    return [
        f"--{name.replace('_', '-')} changes nothing: no arm has {WITHOUT[part]}."
        for name, part in PART_OF.items()
        if given.get(name) is not None and not on[part]
    ]


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
    if len(plan.tasks) <= MOST_TASKS_SHOWN:
        print_table(tasks_table(summaries, [task.id for task in plan.tasks]))
    print_table(arms_table(summaries, table_width()))
    console = Console()
    say(console, f"Run folder: {plan.folder.path}")
    example = f"{summaries[0].arm.name}/{plan.tasks[0].id}"
    hint = f"Read one: contramem show {plan.folder.path}/{example}"
    say(console, hint)


def _show_plan(plan: Plan, options: RunOptions, *, as_json: bool) -> None:
    facts: dict[str, Json] = {
        "run": str(plan.folder.path),
        "arms": [arm.facts() for arm in plan.manifest.arms],
        "tasks": len(plan.tasks),
        "episodes": len(plan.batch.jobs()),
        "complete": len(plan.batch.jobs()) - len(plan.outlook.waiting),
        "seed": options.seed,
        "concurrency": options.concurrency,
        "limits": plan.manifest.limits.model_dump(exclude_none=True),
        "cost_bound_usd": plan.cost_bound_usd,
        "budget_usd": options.budget_usd,
    }
    if as_json:
        print(json.dumps(facts))
        return
    console = Console()
    words = {name: str(value) for name, value in facts.items()}
    words["arms"] = f"\n{'':15}  ".join(_arm_words(arm) for arm in plan.manifest.arms)
    words["limits"] = ", ".join(
        f"{name} {value:,}" if isinstance(value, int) else f"{name} {value:g}"
        for name, value in plan.manifest.limits
        if value is not None
    )
    words["cost_bound_usd"] = (
        "unknown" if facts["cost_bound_usd"] is None else words["cost_bound_usd"]
    )
    words["budget_usd"] = "none" if options.budget_usd is None else words["budget_usd"]
    for name, value in words.items():
        say(console, f"{name:>15}  {value}")


def _arm_words(arm: ArmManifest) -> str:
    facts = arm.facts()
    gate = f"gate on, latch {facts['latch']}" if facts["gate"] else "gate off"
    memory = facts["memory"] or "none"
    return f"{arm.name}: profile {facts['profile']}, memory {memory}, {gate}"


def say(console: Console, text: str) -> None:
    """Print a line as it is."""
    console.print(as_it_is(text), soft_wrap=True)
