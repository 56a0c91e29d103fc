"""Joins run folders of one run, such as those of shards on several machines."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from pathlib import Path

from runtime.errors import UsageError
from runtime.runs import LOCK, MANIFEST, RunFolder, Shard
from runtime.trace import PART

__all__ = ["merge_runs"]


def merge_runs(sources: Sequence[RunFolder], target: RunFolder) -> int:
    """Copy all complete episodes of `sources` into `target` and return how many were new there.

    What is there already stays, so an interrupted merge is done again. Raises `RunMismatch` if the
    folders are not of one run, `UsageError` if two hold different traces of one episode, or if the
    target cannot be written.
    """
    manifest = sources[0].manifest()
    for source in sources:
        source.check(manifest, f"Only folders of one run can be joined; here is {sources[0].path}.")
    target.begin(manifest)
    with target.locked(Shard()):
        for source in sources:
            _refuse_conflicts(source, target)
        try:
            return sum(_copy(source, target) for source in sources)
        except OSError as error:
            raise UsageError(f"Cannot write to {target.path}: {error.strerror or error}.") from None


def _traces(folder: RunFolder) -> list[Path]:
    return sorted(path.relative_to(folder.path) for path in folder.path.glob("*/episodes/*.jsonl"))


def _refuse_conflicts(source: RunFolder, target: RunFolder) -> None:
    for name in _traces(source):
        there = target.path / name
        if there.exists() and there.read_bytes() != (source.path / name).read_bytes():
            raise UsageError(
                f"{source.path / name} and {there} are different traces of one episode."
                " Keep one of them."
            )


def _copy(source: RunFolder, target: RunFolder) -> int:
    """Copy what the benchmark left behind, then the traces: a trace says that all is there."""
    traces = _traces(source)
    for path in sorted(source.path.rglob("*")):
        name = path.relative_to(source.path)
        if name not in traces and not _is_ours_alone(name):
            _copy_one(path, target.path / name)
    new = [name for name in traces if not (target.path / name).exists()]
    for name in new:
        _copy_one(source.path / name, target.path / name)
    return len(new)


def _is_ours_alone(name: Path) -> bool:
    return name.parts[0] == MANIFEST or name.name.startswith(LOCK) or name.name.endswith(PART)


def _copy_one(path: Path, to: Path) -> None:
    if path.is_symlink():
        if not to.is_symlink():
            to.symlink_to(os.readlink(path))  # noqa: PTH115 - as it stands, not as it resolves
    elif path.is_dir():
        to.mkdir(parents=True, exist_ok=True)
    elif not to.exists():
        draft = to.with_name(to.name + PART)
        shutil.copy2(path, draft)
        draft.replace(to)
