"""Joins run folders of one run, such as those of shards on several machines."""

from __future__ import annotations

import os
import shutil
from collections.abc import Collection, Sequence
from pathlib import Path

from runtime.errors import UsageError
from runtime.runs import LOCK, MANIFEST, RunFolder, Shard, file_name, last_record
from runtime.spending import SPENT, Spending
from runtime.trace import PART

__all__ = ["merge_runs"]


def merge_runs(sources: Sequence[RunFolder], target: RunFolder) -> int:
    """Copy all complete episodes of `sources` into `target` and return how many were new there.

    What is there already stays, so an interrupted merge is done again. Outputs of an episode come
    from where its trace comes from: those of one that was cut off elsewhere are left behind. Raises
    `RunMismatch` if the folders are not of one run, `UsageError` if two hold different traces of
    one episode or the target cannot be written, `BadFile` for a trace without an end.
    """
    manifest = sources[0].manifest()
    for source in sources:
        source.check(manifest, f"Only folders of one run can be joined; here is {sources[0].path}.")
    target.begin(manifest)
    with target.locked(Shard()):
        for source in sources:
            _refuse_conflicts(source, target)
        try:
            return sum(_copy(source, target, manifest.tasks) for source in sources)
        except OSError as error:
            raise UsageError(f"Cannot write to {target.path}: {error.strerror or error}.") from None


def _traces(folder: RunFolder) -> list[Path]:
    return sorted(path.relative_to(folder.path) for path in folder.path.glob("*/episodes/*.jsonl"))


def _refuse_conflicts(source: RunFolder, target: RunFolder) -> None:
    for name in _traces(source):
        last_record(source.path / name)
        there = target.path / name
        if there.exists() and there.read_bytes() != (source.path / name).read_bytes():
            raise UsageError(
                f"{source.path / name} and {there} are different traces of one episode."
                " Keep one of them."
            )


def _copy(source: RunFolder, target: RunFolder, tasks: Collection[str]) -> int:
    """Copy what the benchmark left behind, then the traces: a trace says that all is there."""
    new = [name for name in _traces(source) if not (target.path / name).exists()]
    complete = {(name.parts[0], name.stem) for name in new}
    episodes = {file_name(task) for task in tasks}
    for name in sorted(path.relative_to(source.path) for path in source.path.rglob("*")):
        if (len(name.parts) > 1 and name.parts[1] == "episodes") or _is_ours_alone(name):
            continue
        owner = next((part for part in name.parts[1:] if file_name(part) in episodes), None)
        if owner is None:
            _copy_one(source.path / name, target.path / name)
        elif (name.parts[0], file_name(owner)) in complete:
            if name.name == owner:
                _remove(target.path / name)
            _copy_one(source.path / name, target.path / name)
    for name in new:
        _copy_one(source.path / name, target.path / name)
    Spending(target.path).join(Spending(source.path))
    return len(new)


def _remove(path: Path) -> None:
    """Remove what an earlier, unfinished merge or attempt left in an episode's place."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def _is_ours_alone(name: Path) -> bool:
    if name.parts[0] in {MANIFEST, SPENT}:
        return True
    return name.name.startswith(LOCK) or name.name.endswith(PART)


def _copy_one(path: Path, to: Path) -> None:
    if path.is_symlink():
        if not to.is_symlink():
            to.symlink_to(os.readlink(path))  # noqa: PTH115 - as it stands, not as it resolves
    elif path.is_dir():
        to.mkdir(parents=True, exist_ok=True)
    elif not to.exists():
        to.parent.mkdir(parents=True, exist_ok=True)
        draft = to.with_name(to.name + PART)
        shutil.copy2(path, draft)
        draft.replace(to)
