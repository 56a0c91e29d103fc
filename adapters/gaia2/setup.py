"""Makes GAIA2 ready to run: ARE's environment and scenarios.

Scenarios are JSON files in the format of ARE's exporter. A root is a folder of datasets (folders of
such files), or one such folder by itself, which is then a dataset of its own name, or a folder
`scenarios` with an `index.json` beside it that says which dataset holds which. A folder `checks`
holds no scenarios but their scripted checks.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from adapters.environments import Environment, create, environment, last_words, require
from adapters.folders import Progress, home, make_whole
from adapters.gaia2.checks import CHECKS, checks_of, require_sound
from adapters.gaia2.tasks import read_task
from adapters.roots import Root, recorded, remember
from runtime.errors import BadFile, NotReady, UsageError

__all__ = ["Gaia2Setup", "check_root", "datasets", "gaia2_paths", "roots", "setup"]

WORLD = "gaia2"
DOWNLOADER = "adapters.gaia2.download"
DATASET = "meta-agents-research-environments/gaia2"
INDEX = "index.json"
MINI = Path(__file__).parent / "mini"


@dataclass(frozen=True)
class Gaia2Setup:
    """Where everything is that ARE needs."""

    python: Path
    """The interpreter that can import `are`."""
    scratch: Path
    """A folder of ours for what runs leave behind."""
    roots: tuple[Root, ...]
    """The first that has a dataset provides it."""

    def datasets(self) -> dict[str, tuple[Path, ...]]:
        """Return the scenario files of every dataset, by the datasets' names."""
        found: dict[str, tuple[Path, ...]] = {}
        for root in reversed(self.roots):
            found.update(datasets(root.path))
        return found

    def child_environment(self) -> dict[str, str]:
        """Return the whole environment of ARE's processes: the same on every machine.

        ARE derives its entities' ids from `hash(str)`, hence the fixed hash seed.
        """
        return {
            "HF_HUB_OFFLINE": "1",
            "HOME": str(self.scratch),
            "LANG": "C.UTF-8",
            "PATH": os.defpath,
            "PYTHONHASHSEED": "0",
            "TZ": "UTC",
        }


def setup(data: str | None, progress: Progress) -> None:
    """Make the environment and the data; what is there already is kept.

    `data`: `official`, `mini` or None (the bundled scenarios, always there), or a folder of the
    user's. Raises `UsageError` for a folder that holds no scenarios, `NotReady` for what could not
    be made.
    """
    own = None if data in {None, "official", "mini"} else check_root(Path(data or ""))
    create(engine := environment(WORLD), progress=progress)
    if own is not None:
        remember(WORLD, own)
    elif data == "official":
        _download(engine, progress)


def gaia2_paths() -> Gaia2Setup:
    """Return what `setup` made. Raises `NotReady` with the command that makes it."""
    return Gaia2Setup(
        python=require(WORLD).python,
        scratch=home() / WORLD / "scratch",
        roots=roots(),
    )


def roots() -> tuple[Root, ...]:
    """Return the data roots in the order in which a dataset is looked up."""
    candidates = (("path", recorded(WORLD)), ("official", official_root()), ("mini", MINI))
    return tuple(Root(name, path) for name, path in candidates if path and datasets(path))


def datasets(root: Path) -> dict[str, tuple[Path, ...]]:
    """Return the scenario files of a root's datasets, by the datasets' names."""
    if (index := root / INDEX).is_file():
        return {
            name: tuple(root / "scenarios" / f"{scenario}.json" for scenario in scenarios)
            for name, scenarios in _indexed(index).items()
        }
    if own := _scenario_files(root):
        return {root.name: own}
    if not root.is_dir():
        return {}
    folders = sorted(path for path in root.iterdir() if path.is_dir() and path.name != CHECKS)
    return {folder.name: files for folder in folders if (files := _scenario_files(folder))}


def _indexed(index: Path) -> dict[str, tuple[str, ...]]:
    try:
        return TypeAdapter(dict[str, tuple[str, ...]]).validate_json(index.read_bytes())
    except (OSError, ValidationError) as error:
        raise BadFile(index, f"no index of datasets, each a list of scenarios ({error})") from None


def check_root(root: Path) -> Path:
    """Return a root's absolute path once every scenario and every file of checks in it is read.

    Raises `UsageError`: `BadFile` names the file that does not hold what it should.
    """
    root = root.expanduser().absolute()
    found = datasets(root)
    if not found:
        raise UsageError(
            f"{root} holds no scenarios: expected .json files, or folders of .json files, in the"
            " format that ARE exports."
        )
    for dataset, files in found.items():
        for file in files:
            read_task(file, dataset)
            if checks := checks_of(file):
                require_sound(checks, file)
    return root


def official_root() -> Path:
    """Return where the official scenarios are, or would be."""
    return home() / WORLD / "official"


def _scenario_files(folder: Path) -> tuple[Path, ...]:
    return tuple(sorted(folder.glob("*.json")))


def _download(engine: Environment, progress: Progress) -> None:
    def fill(draft: Path, lock: int) -> None:
        progress("downloading GAIA2's scenarios")
        draft.mkdir()
        scratch = str(home() / WORLD / "huggingface")
        variables = {"HF_HUB_CACHE": scratch, "HF_DATASETS_CACHE": scratch}
        done = engine.run_ours(DOWNLOADER, [DATASET, draft], variables, lock)
        if done.returncode or not datasets(draft):
            raise NotReady(
                f"The download of {DATASET} from Hugging Face failed:\n{last_words(done.stdout)}\n"
                "It needs open internet, and HF_TOKEN if the dataset asks for one. Without:"
                " `--data mini` uses the bundled scenarios, `--data PATH` a folder that you have."
            )

    make_whole(official_root(), fill, whole=lambda root: bool(datasets(root)), progress=progress)
