"""`contramem tasks`: what there is to run."""

from __future__ import annotations

import json
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from runtime.contracts import Benchmark
from scripts.benchmarks import open_benchmark

__all__ = ["tasks"]


def tasks(
    bench: Annotated[str, typer.Option("--bench", help="appworld or gaia2")],
    dataset: Annotated[
        str | None, typer.Option("--dataset", help="Without it: the names of all datasets.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """List a benchmark's datasets, or the tasks of one."""
    benchmark = open_benchmark(bench, dataset)
    if dataset is None:
        _list_datasets(benchmark, as_json=as_json)
    else:
        _list_tasks(benchmark, dataset, as_json=as_json)


def _list_datasets(benchmark: Benchmark, *, as_json: bool) -> None:
    counts = {name: len(benchmark.tasks(name)) for name in benchmark.datasets()}
    if as_json:
        print(json.dumps(counts))
        return
    table = Table("dataset", "tasks")
    for name, count in counts.items():
        table.add_row(name, str(count))
    Console().print(table)


def _list_tasks(benchmark: Benchmark, dataset: str, *, as_json: bool) -> None:
    found = benchmark.tasks(dataset)
    if as_json:
        print(json.dumps([task.model_dump(mode="json", exclude={"context"}) for task in found]))
        return
    table = Table("task", "scenario", "kind", "instruction", show_lines=False)
    for task in found:
        kind = task.signature or task.ability or ""
        table.add_row(task.id, task.scenario_id, kind, task.instruction)
    Console().print(table)
