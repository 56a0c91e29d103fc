"""The benchmarks by name: where each is opened and where its bundled personas lie."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from adapters.appworld.benchmark import AppWorld
from adapters.appworld.prompt import Template
from adapters.appworld.setup import appworld_paths
from runtime.contracts import Benchmark, ChatModel
from runtime.errors import UnknownName

__all__ = ["BENCHMARKS", "OpenOptions", "open_benchmark", "persona_folders"]


@dataclass(frozen=True)
class OpenOptions:
    """What a benchmark may need to be opened, beyond its dataset."""

    prompt: Path | None = None
    judge: ChatModel | None = None
    think_time: str = "zero"


def _appworld(dataset: str | None, options: OpenOptions) -> Benchmark:
    template = Template.load(options.prompt) if options.prompt else None
    return AppWorld(appworld_paths(dataset), template=template)


BENCHMARKS: dict[str, Callable[[str | None, OpenOptions], Benchmark]] = {"appworld": _appworld}


def open_benchmark(
    name: str, dataset: str | None = None, options: OpenOptions | None = None
) -> Benchmark:
    """Return a benchmark; nothing is started yet. Raises `UnknownName` or `NotReady`."""
    if name not in BENCHMARKS:
        raise UnknownName("benchmark", name, BENCHMARKS)
    return BENCHMARKS[name](dataset, options or OpenOptions())


def persona_folders() -> list[Path]:
    """Return the folders of bundled personas, one per benchmark."""
    folders = [Path(str(files(f"adapters.{name}.mini"))) / "personas" for name in BENCHMARKS]
    return [folder for folder in folders if folder.is_dir()]
