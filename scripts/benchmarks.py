"""The benchmarks by name. All that the command line knows of one is its entry here."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from adapters.appworld import setup as appworld_setup
from adapters.appworld.benchmark import AppWorld
from adapters.appworld.prompt import Template
from adapters.appworld.setup import appworld_paths
from adapters.folders import Progress
from adapters.gaia2 import setup as gaia2_setup
from adapters.gaia2.benchmark import Gaia2
from adapters.gaia2.setup import gaia2_paths
from adapters.roots import Root
from injectors.forms import BlockForm, plain_form, rtm_form
from injectors.profiles import Latch
from runtime.contracts import Benchmark, ModelSource, Task
from runtime.errors import UnknownName, UsageError

__all__ = [
    "BENCHMARKS",
    "Known",
    "OpenOptions",
    "block_form",
    "dataset_names",
    "default_latch",
    "open_benchmark",
    "persona_folders",
]

ADAPTERS = Path(str(files("adapters")))


@dataclass(frozen=True)
class OpenOptions:
    """What a benchmark may need to be opened, beyond its dataset."""

    prompt: Path | None = None
    judge: ModelSource | None = None
    """Judges soft arguments of scenarios that have no scripted checks."""
    think_time: str | None = None
    """What a model call costs on the world's clock: zero, measured or fixed:SECONDS."""


@dataclass(frozen=True)
class Known:
    """A benchmark that has a name on the command line, its folder's name in `adapters`."""

    title: str
    package: str
    """The package in its environment that it is."""
    open: Callable[[str | None, OpenOptions], Benchmark]
    setup: Callable[[str | None, Progress], None]
    roots: Callable[[], Iterable[Root]]
    datasets: Callable[[Path], Iterable[str]]
    mini: Callable[[], Path]
    """Where its small world of ours is, or would be."""
    root_variable: str | None = None
    """The environment variable that names the user's own root of data."""
    latch: Latch = "call"
    """What a stop of the gate verifies unless told otherwise; `call` is the strictest."""
    form: BlockForm = plain_form
    """How the block of memory at a task's start is written."""


def _open_appworld(dataset: str | None, options: OpenOptions) -> Benchmark:
    _only_for("gaia2", judge=options.judge, think_time=options.think_time)
    template = Template.load(options.prompt) if options.prompt else None
    return AppWorld(appworld_paths(dataset), template=template)


def _open_gaia2(dataset: str | None, options: OpenOptions) -> Benchmark:  # noqa: ARG001 - one signature
    _only_for("appworld", prompt=options.prompt)
    judge = options.judge.for_episode(_JUDGING, 0) if options.judge else None
    return Gaia2(gaia2_paths(), judge=judge, think=options.think_time or "zero")


def _only_for(bench: str, **given: object) -> None:
    for name, value in given.items():
        if value is not None:
            raise UsageError(f"--{name.replace('_', '-')} is for --bench {bench} only.")


_JUDGING = Task(benchmark="gaia2", id="judge", scenario_id="judge", dataset="", instruction="")
"""One judge serves all episodes: it is no episode's model."""


BENCHMARKS = {
    "appworld": Known(
        title="AppWorld",
        package="appworld",
        open=_open_appworld,
        setup=appworld_setup.setup,
        roots=appworld_setup.roots,
        datasets=appworld_setup.datasets,
        mini=appworld_setup.mini_root,
        root_variable=appworld_setup.ROOT_VARIABLE,
        latch="function",
    ),
    "gaia2": Known(
        title="GAIA2 with ARE",
        package="meta-agents-research-environments",
        open=_open_gaia2,
        setup=gaia2_setup.setup,
        roots=gaia2_setup.roots,
        datasets=gaia2_setup.datasets,
        mini=lambda: gaia2_setup.MINI,
        form=rtm_form,
    ),
}


def open_benchmark(
    name: str, dataset: str | None = None, options: OpenOptions | None = None
) -> Benchmark:
    """Return a benchmark; nothing is started yet. Raises `UnknownName` or `NotReady`."""
    if name not in BENCHMARKS:
        raise UnknownName("benchmark", name, BENCHMARKS)
    return BENCHMARKS[name].open(dataset, options or OpenOptions())


def default_latch(name: str) -> Latch:
    """Return what a stop of the gate verifies on a benchmark unless told otherwise."""
    return BENCHMARKS[name].latch if name in BENCHMARKS else Known.latch


def block_form(name: str) -> BlockForm:
    """Return how a benchmark's block of memory is written."""
    return BENCHMARKS[name].form if name in BENCHMARKS else plain_form


def dataset_names(name: str) -> list[str]:
    """Return the names of all datasets of a benchmark, whichever root of data they lie in."""
    known = BENCHMARKS[name]
    return sorted({dataset for root in known.roots() for dataset in known.datasets(root.path)})


def persona_folders() -> list[Path]:
    """Return the folders of bundled personas, of the benchmarks that have some."""
    folders = [ADAPTERS / name / "mini" / "personas" for name in BENCHMARKS]
    return [folder for folder in folders if folder.is_dir()]
