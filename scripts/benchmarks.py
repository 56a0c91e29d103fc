"""The benchmarks by name: where each is opened and where its bundled personas lie."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from adapters.appworld import setup as appworld_setup
from adapters.appworld.benchmark import AppWorld
from adapters.appworld.prompt import Template
from adapters.appworld.setup import appworld_paths
from adapters.gaia2 import setup as gaia2_setup
from adapters.gaia2.benchmark import Gaia2
from adapters.gaia2.setup import gaia2_paths
from adapters.roots import Root
from runtime.contracts import Benchmark, ModelSource, Task
from runtime.errors import UnknownName, UsageError

__all__ = ["OpenOptions", "dataset_names", "open_benchmark", "persona_folders"]


@dataclass(frozen=True)
class OpenOptions:
    """What a benchmark may need to be opened, beyond its dataset."""

    prompt: Path | None = None
    judge: ModelSource | None = None
    """Judges soft arguments of scenarios that have no scripted checks."""
    think_time: str | None = None
    """What a model call costs on the world's clock: zero, measured or fixed:SECONDS."""


def _appworld(dataset: str | None, options: OpenOptions) -> Benchmark:
    _only_for("gaia2", judge=options.judge, think_time=options.think_time)
    template = Template.load(options.prompt) if options.prompt else None
    return AppWorld(appworld_paths(dataset), template=template)


def _gaia2(dataset: str | None, options: OpenOptions) -> Benchmark:  # noqa: ARG001 - one signature
    _only_for("appworld", prompt=options.prompt)
    judge = options.judge.for_episode(_JUDGING, 0) if options.judge else None
    return Gaia2(gaia2_paths(), judge=judge, think=options.think_time or "zero")


def _only_for(bench: str, **given: object) -> None:
    for name, value in given.items():
        if value is not None:
            raise UsageError(f"--{name.replace('_', '-')} is for --bench {bench} only.")


_JUDGING = Task(benchmark="gaia2", id="judge", scenario_id="judge", dataset="", instruction="")
"""One judge serves all episodes: it is no episode's model."""


@dataclass(frozen=True)
class _Known:
    """A benchmark that has a name on the command line."""

    open: Callable[[str | None, OpenOptions], Benchmark]
    roots: Callable[[], Iterable[Root]]
    datasets: Callable[[Path], Iterable[str]]


BENCHMARKS = {
    "appworld": _Known(_appworld, appworld_setup.roots, appworld_setup.datasets),
    "gaia2": _Known(_gaia2, gaia2_setup.roots, gaia2_setup.datasets),
}


def open_benchmark(
    name: str, dataset: str | None = None, options: OpenOptions | None = None
) -> Benchmark:
    """Return a benchmark; nothing is started yet. Raises `UnknownName` or `NotReady`."""
    if name not in BENCHMARKS:
        raise UnknownName("benchmark", name, BENCHMARKS)
    return BENCHMARKS[name].open(dataset, options or OpenOptions())


def dataset_names(name: str) -> list[str]:
    """Return the names of all datasets of a benchmark, whichever root of data they lie in."""
    known = BENCHMARKS[name]
    return sorted({dataset for root in known.roots() for dataset in known.datasets(root.path)})


def persona_folders() -> list[Path]:
    """Return the folders of bundled personas, one per benchmark."""
    folders = [Path(str(files(f"adapters.{name}.mini"))) / "personas" for name in BENCHMARKS]
    return [folder for folder in folders if folder.is_dir()]
