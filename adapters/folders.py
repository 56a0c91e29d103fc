"""Our folder in the user's cache, and folders in it that appear whole or not at all."""

from __future__ import annotations

import fcntl
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import platformdirs

from runtime.errors import NotReady

__all__ = ["HOME_VARIABLE", "Progress", "holds_memory", "home", "make_whole"]

HOME_VARIABLE = "CONTRAMEM_HOME"
Progress = Callable[[str], None]
"""Told in a few words what is being done."""


def home() -> Path:
    """Return the folder that holds all we make on this machine; it may not exist yet.

    It is `CONTRAMEM_HOME`, else `contramem` in the user's cache folder. Raises `NotReady` where
    its path cannot be used.
    """
    chosen = os.environ.get(HOME_VARIABLE)
    folder = Path(chosen).expanduser() if chosen else platformdirs.user_cache_path("contramem")
    folder = folder.absolute()
    if holds_memory(folder):
        raise NotReady(
            f"{folder} cannot hold a benchmark's environment: AppWorld takes every path that"
            ' contains "memory" for a database in memory.'
            f" Set {HOME_VARIABLE} to a folder without that word in its path."
        )
    return folder


def holds_memory(path: Path) -> bool:
    """Say whether AppWorld's engine would misread the path: it tests for this very substring."""
    return "memory" in str(path.absolute()) or "memory" in str(path.resolve())


def make_whole(
    folder: Path,
    fill: Callable[[Path, int], None],
    *,
    whole: Callable[[Path], bool],
    progress: Progress,
) -> bool:
    """Make `folder` unless it is there and `whole`; return whether it was made now.

    `fill(partial, lock)` makes a sibling, which is then renamed into place. Two processes take
    turns. `fill` hands the descriptor `lock` to the processes it starts: if we are killed, the
    next attempt waits until they have ended too. Raises `NotReady` if the disk does not play along.
    """
    if whole(folder):
        return False
    partial = folder.with_name(f"{folder.name}.partial")
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with _locked(folder.with_name(f"{folder.name}.lock"), progress) as lock:
            if whole(folder):
                return False
            _remove(partial)
            try:
                fill(partial, lock)
                _remove(folder)
                partial.rename(folder)
            finally:
                _remove(partial)
    except OSError as error:
        raise NotReady(
            f"Cannot make {folder}: {error.strerror or error}. Free space there, or set"
            f" {HOME_VARIABLE} to a folder that can be written, then run the same command again."
        ) from error
    return True


@contextmanager
def _locked(path: Path, progress: Progress) -> Iterator[int]:
    with path.open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            progress(f"another set-up holds {path}; waiting for it")
            fcntl.flock(file, fcntl.LOCK_EX)
        yield file.fileno()


def _remove(folder: Path) -> None:
    if folder.exists():
        shutil.rmtree(folder)
