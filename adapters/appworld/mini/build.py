"""Builds the mini world: `python -m adapters.appworld.mini.build ROOT`, in AppWorld's interpreter.

ROOT appears only when it is complete, so an interrupted build leaves nothing that looks like a
world; the next one starts afresh. Two builds of one code have the same content.
"""

from __future__ import annotations

import random
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

from appworld.apps import get_all_apps
from appworld.apps.model_lib import CachedDBHandler
from appworld.collections.models import ModelCollection
from appworld.common.constants import DB_VERSION, DEFAULT_SYSTEM_DATETIME
from appworld.common.path_store import path_store
from appworld.common.utils import freeze_time

from adapters.appworld.mini.base import api_docs, fill
from adapters.appworld.mini.catalogue import DATASETS, MARKER, TASKS, description
from adapters.appworld.mini.store import write_json, write_task
from runtime.locking import locked

__all__ = ["build", "main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Build at the one argument; complaints go to stderr with exit code 2."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    if len(given) != 1:
        sys.stderr.write("usage: python -m adapters.appworld.mini.build ROOT\n")
        return 2
    try:
        build(Path(given[0]))
    except ValueError as problem:
        sys.stderr.write(f"{problem}\n")
        return 2
    return 0


def build(root: Path) -> None:
    """Build the world at `root`, in the place of an older mini world if one is there.

    Raises:
        ValueError: the path cannot serve, or holds something that is no mini world.
    """
    root = root.absolute()
    if "memory" in str(root):
        raise ValueError(
            f'{root}: AppWorld takes every path with "memory" in it for a database in memory. '
            "Choose a path without this word."
        )
    if root.exists() and not (root / "data" / MARKER).is_file():
        raise ValueError(f"{root} exists and is no mini world. Choose another path or remove it.")
    root.parent.mkdir(parents=True, exist_ok=True)
    with locked(root.parent):
        fresh = root.with_name(f".{root.name}.building")
        shutil.rmtree(fresh, ignore_errors=True)
        fresh.mkdir()
        path_store.update_root(str(fresh))
        _write_world(fresh / "data")
        _replace(root, fresh)
        path_store.update_root(str(root))


def _replace(root: Path, fresh: Path) -> None:
    old = root.with_name(f".{root.name}.old")
    shutil.rmtree(old, ignore_errors=True)
    if root.exists():
        root.rename(old)
    fresh.rename(root)
    shutil.rmtree(old, ignore_errors=True)


def _write_world(data: Path) -> None:
    random.seed(100)
    docs = api_docs()
    for app, rows in docs.items():
        # The engine's loader takes this key out of every entry and fails where it is missing.
        named = {row["api_name"]: {**row, "canary_string": ""} for row in rows}
        write_json(data / "api_docs" / "standard" / f"{app}.json", named)
    with freeze_time(DEFAULT_SYSTEM_DATETIME):
        base = ":memory:base"
        models = ModelCollection.load(
            to_db_home_path=base,
            from_db_home_path=base,
            load_apps=list(get_all_apps()),
            create_db=True,
        )
        fill(models, docs)
        models.save(
            db_home_path=str(data / "base_dbs"),
            format="full",
            app_names=list(get_all_apps()),
            delete_if_exists=True,
            vaccum=True,
        )
        models.close()
        CachedDBHandler.reset()
        for task in TASKS:
            write_task(data, task)
    for dataset in DATASETS:
        ids = [task.id for task in TASKS if task.dataset == dataset]
        path = data / "datasets" / f"{dataset}.txt"
        path.parent.mkdir(exist_ok=True)
        path.write_text("\n".join(ids) + "\n", encoding="utf-8")
    write_json(data / MARKER, {"tasks": {task.id: description(task) for task in TASKS}})
    (data / "version.txt").write_text(DB_VERSION, encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
