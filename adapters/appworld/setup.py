"""Makes AppWorld ready to run: its environment, its unpacked apps and its data.

The apps' code may be redistributed only encrypted, so it is unpacked here, on the user's machine,
by the benchmark's own `appworld install`, and lives in the environment.
"""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from adapters.environments import Environment, create, environment, last_words, require
from adapters.folders import Progress, holds_memory, home, make_whole
from adapters.roots import Root, recorded, remember
from runtime.errors import NotReady, UnknownName, UsageError

__all__ = ["AppWorldSetup", "appworld_paths", "check_root", "datasets", "roots", "setup"]

WORLD = "appworld"
BUILDER = "adapters.appworld.mini.build"
ROOT_VARIABLE = "APPWORLD_ROOT"
NEEDED = ("version.txt", "api_docs", "base_dbs", "datasets", "tasks")
"""What the engine reads below a root's `data`."""


@dataclass(frozen=True)
class AppWorldSetup:
    """Where everything is that the engine needs."""

    python: Path
    """The interpreter that can import `appworld`."""
    cache: Path
    """APPWORLD_CACHE: the engine's own unpacked tests."""
    root: Path
    """APPWORLD_ROOT: the folder that holds `data`."""
    scratch: Path
    """A folder of ours for what runs leave behind."""

    def child_environment(self) -> dict[str, str]:
        """Return the whole environment of the engine's processes: the same on every machine."""
        return {
            **_variables(self.cache, self.root, self.scratch),
            "HOME": str(self.scratch),
            "LANG": "C.UTF-8",
            "MALLOC_ARENA_MAX": "2",  # else threads use up the address space a cell may have
            "PATH": os.defpath,
            "TZ": "UTC",
        }


def setup(data: str | None, progress: Progress) -> None:
    """Make the environment and the data; what is there already is kept.

    `data`: `official`, `mini`, a root of the user's, or None for the one in APPWORLD_ROOT, what is
    there, or `mini`, in this order. Raises `UsageError` for a root that is none, `NotReady` for
    what could not be made.
    """
    data = data or os.environ.get(ROOT_VARIABLE)
    own = None if data in {None, "official", "mini"} else check_root(Path(data or ""))
    create(engine := environment(WORLD), progress=progress, finish=partial(_unpack, progress))
    if own is not None:
        remember(WORLD, own)
    elif data == "official":
        _download(engine, progress)
    elif data == "mini" or not roots():
        _build_mini(engine, progress)
    appworld_paths()  # says what is still missing, if anything is


def appworld_paths(dataset: str | None = None) -> AppWorldSetup:
    """Return what `setup` made, with the first root that has the dataset (or the first root).

    Raises `NotReady` with the command that makes what is missing, `UnknownName` for a dataset that
    no root has.
    """
    engine = require(WORLD)
    found = roots()
    if not found:
        raise NotReady("AppWorld has no data here. Run `contramem setup appworld`.")
    known = [(root, datasets(root.path)) for root in found]
    having = [root for root, names in known if dataset is None or dataset in names]
    if dataset is not None and not having:
        names = {name for _, names in known for name in names}
        raise UnknownName(
            "AppWorld dataset",
            dataset,
            names,
            "`contramem setup appworld --data official` brings train, dev and the tests.",
        )
    return AppWorldSetup(
        python=engine.python,
        cache=_cache(engine),
        root=having[0].path,
        scratch=_scratch(),
    )


def roots() -> tuple[Root, ...]:
    """Return the data roots in the order in which a dataset is looked up.

    APPWORLD_ROOT counts as the user's own root while it is set. Raises `UsageError` if it is none.
    """
    own = os.environ.get(ROOT_VARIABLE)
    path = check_root(Path(own)) if own else recorded(WORLD)
    candidates = (("path", path), ("official", official_root()), ("mini", mini_root()))
    return tuple(Root(name, path) for name, path in candidates if path and _is_root(path))


def datasets(root: Path) -> tuple[str, ...]:
    """Return the names of a root's datasets, sorted."""
    return tuple(sorted(file.stem for file in (root / "data" / "datasets").glob("*.txt")))


def check_root(root: Path) -> Path:
    """Return a root's absolute path. Raises `UsageError` saying what keeps it from being one."""
    root = root.expanduser().absolute()
    if holds_memory(root):
        raise UsageError(
            f'AppWorld cannot run from {root}: it takes every path that contains "memory" for a'
            " database in memory. Move or copy the root to another path."
        )
    if missing := _missing(root):
        raise UsageError(
            f"{root} is no AppWorld root: {', '.join(missing)} not found there. A root holds"
            " a folder `data` as `appworld download data` makes it."
        )
    return root


def official_root() -> Path:
    """Return where the official data is, or would be."""
    return home() / WORLD / "official"


def mini_root() -> Path:
    """Return where the mini world is, or would be. Another builder or engine, another folder."""
    here = Path(__file__).parent
    digest = hashlib.sha256((here / "requirements.txt").read_bytes())
    for source in sorted((here / "mini").rglob("*.py")):
        digest.update(source.read_bytes())
    return home() / WORLD / f"mini-{digest.hexdigest()[:12]}"


def _unpack(progress: Progress, draft: Environment, lock: int) -> None:
    progress("unpacking AppWorld's apps")
    variables = _variables(_cache(draft), draft.folder, _scratch())
    done = draft.run(["-m", "appworld.cli", "install"], variables, lock)
    if done.returncode:
        raise NotReady(f"`appworld install` failed:\n{last_words(done.stdout)}")


def _download(engine: Environment, progress: Progress) -> None:
    def fill(draft: Path, lock: int) -> None:
        progress("downloading AppWorld's data")
        draft.mkdir()
        command = ["-m", "appworld.cli", "download", "data", "--root", str(draft)]
        variables = _variables(_cache(engine), draft, _scratch())
        done = engine.run(command, variables, lock)
        if not _is_root(draft):  # its exit code is 0 where the server refused
            raise NotReady(
                f"AppWorld's own download failed:\n{last_words(done.stdout)}\n"
                "It needs open internet. Without: `contramem setup appworld --data mini` builds"
                " our small world, `--data PATH` takes a root that you have."
            )

    make_whole(official_root(), fill, whole=_is_root, progress=progress)


def _build_mini(engine: Environment, progress: Progress) -> None:
    def fill(draft: Path, lock: int) -> None:
        progress("building the mini world")
        variables = _variables(_cache(engine), draft, _scratch())
        done = engine.run_ours(BUILDER, [draft], variables, lock)
        if done.returncode or not _is_root(draft):
            raise NotReady(f"The mini world could not be built:\n{last_words(done.stdout)}")

    make_whole(mini_root(), fill, whole=_is_root, progress=progress)


def _variables(cache: Path, root: Path, scratch: Path) -> dict[str, str]:
    return {
        "APPWORLD_CACHE": str(cache),
        "APPWORLD_ROOT": str(root),
        "IPYTHONDIR": str(scratch / "ipython"),  # else the engine's shell writes to the user's home
        "PYTHON_DOTENV_DISABLED": "1",  # the engine reads the first .env above its own folder
        "PYTHONHASHSEED": "0",
        "_TYPER_STANDARD_TRACEBACK": "1",  # a failure's last line, not a page of boxes
    }


def _cache(engine: Environment) -> Path:
    return engine.folder / "appworld"


def _scratch() -> Path:
    return home() / WORLD / "scratch"


def _missing(root: Path) -> list[str]:
    return [f"data/{name}" for name in NEEDED if not (root / "data" / name).exists()]


def _is_root(root: Path) -> bool:
    return not _missing(root)
