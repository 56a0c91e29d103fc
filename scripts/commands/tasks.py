"""`contramem tasks`: what there is to run."""

from __future__ import annotations

import json
from typing import Annotated

import typer
from rich.table import Table

from runtime.contracts import Benchmark
from runtime.report.visible import as_it_is
from scripts.benchmarks import dataset_names, open_benchmark
from scripts.tables import print_table

__all__ = ["tasks"]


def tasks(
    bench: Annotated[str, typer.Option("--bench", metavar="NAME", help="appworld or gaia2.")],
    dataset: Annotated[
        str | None,
        typer.Option("--dataset", metavar="NAME", help="Without it: the names of all datasets."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """List a benchmark's datasets, or the tasks of one."""
    benchmark = open_benchmark(bench, dataset)
    if dataset is None:
        _list_datasets(bench, as_json=as_json)
    else:
        _list_tasks(benchmark, dataset, as_json=as_json)


def _list_datasets(bench: str, *, as_json: bool) -> None:
    counts = {name: len(open_benchmark(bench, name).tasks(name)) for name in dataset_names(bench)}
    if as_json:
        print(json.dumps(counts))
        return
    table = Table("dataset", "tasks")
    for name, count in counts.items():
        table.add_row(as_it_is(name), str(count))
    print_table(table)


def _list_tasks(benchmark: Benchmark, dataset: str, *, as_json: bool) -> None:
    found = benchmark.tasks(dataset)
    if as_json:
        print(json.dumps([task.model_dump(mode="json", exclude={"context"}) for task in found]))
        return
    table = Table(show_lines=True)
    table.add_column("task", no_wrap=True)  # it is what --task takes
    table.add_column("kind")
    table.add_column("instruction")
    for task in found:
        cells = (task.id, task.signature or task.ability or "", task.instruction)
        table.add_row(*map(as_it_is, cells))
    print_table(table)
