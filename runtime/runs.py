"""A run folder: what was asked for, and which episodes are complete.

    RUN/manifest.json               the configuration, once
    RUN/<arm>/episodes/<task>.jsonl one trace a finished episode: the file exists = it is complete
    RUN/<arm>/<benchmark>/          what the benchmark itself leaves behind
    RUN/spent.jsonl                 what replaced attempts have cost (runtime/spending.py)

The same command again finds its manifest equal and goes on; another one is refused with the
difference. Two processes may work on one folder only if they hold different shards.
"""

from __future__ import annotations

import fcntl
import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

from pydantic import Field, ValidationError

from runtime.contracts import Json, Limits, Value
from runtime.errors import BadFile, RunMismatch, UsageError
from runtime.records import EndRecord, Header
from runtime.trace import TraceFile, read_trace

__all__ = ["ArmManifest", "Manifest", "RunFolder", "Shard", "file_name", "where_runs_are"]

MANIFEST = "manifest.json"
DRAFT = f"{MANIFEST}.partial"
REPEAT = "Repeat the command it was made with, or choose another --out."
LOCK = ".lock"
DELETE = "Delete the file and run the same command again to have the episode repeated."
UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")


class ArmManifest(Value):
    """One arm: a model under one setting of memory and gate."""

    name: str
    model: dict[str, Json]
    settings: dict[str, Json] = Field(default_factory=dict)
    """Profile, memory hash, gate, latch and so on, as the arm's policy describes itself."""

    def facts(self) -> dict[str, Json]:
        """Return what tells this arm from another, under the keys that reports use."""
        return {
            "arm": self.name,
            "model": self.model.get("name"),
            "memory": self.settings.get("memory"),
            "profile": self.settings.get("profile", "none"),
            "gate": self.settings.get("gate", False),
            "latch": self.settings.get("latch"),
        }


class Manifest(Value):
    """Everything that decides what a run's episodes are."""

    schema_version: int = Field(default=1, ge=1, le=1)
    benchmark: str
    dataset: str
    tasks: dict[str, str]
    """Scenario by task, in the order of the dataset."""
    seed: int
    limits: Limits
    versions: dict[str, str]
    arms: tuple[ArmManifest, ...]
    judge: str | None = None


class Shard(Value):
    """Part `index` of `count`, counted from 1: every count-th task."""

    index: int = Field(default=1, ge=1)
    count: int = Field(default=1, ge=1)

    @classmethod
    def parse(cls, text: str) -> Shard:
        """Read `2/8`. Raises `UsageError`."""
        found = re.fullmatch(r"(\d+)/(\d+)", text)
        if found is None or not 1 <= int(found.group(1)) <= int(found.group(2)):
            raise UsageError(f"--shard takes I/N with 1 <= I <= N, such as 2/8, not {text!r}.")
        return cls(index=int(found.group(1)), count=int(found.group(2)))

    def holds(self, position: int) -> bool:
        """Tell whether the task at `position`, from 0, is of this shard."""
        return position % self.count == self.index - 1


class RunFolder:
    """One run on disk."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def manifest(self) -> Manifest:
        """Read the manifest. Raises `UsageError` or `BadFile`."""
        path = self.path / MANIFEST
        try:
            return Manifest.model_validate_json(path.read_text("utf-8"))
        except FileNotFoundError:
            words = f"{self.path} is no run folder: it has no {MANIFEST}."
            raise UsageError(f"{words} {where_runs_are(self.path)}".rstrip()) from None
        except ValidationError as error:
            first = error.errors()[0]
            where = ".".join(map(str, first["loc"])) or "the file"
            raise BadFile(path, f"is no manifest of a run: {where}: {first['msg']}") from None
        except (OSError, UnicodeDecodeError) as error:
            raise BadFile(path, f"cannot be read ({error})") from None

    def check(self, manifest: Manifest, advice: str = REPEAT) -> None:
        """Raise `RunMismatch` showing what differs if the folder is of another configuration."""
        old, new = (each.model_dump(mode="json") for each in (self.manifest(), manifest))
        lines = [
            line
            for line in _differences(old, new)
            if ".memory_path:" not in line  # the bank counts by its content, wherever it lies
        ]
        if lines:
            shown = "\n".join(f"  {line}" for line in lines[:12])
            raise RunMismatch(
                f"{self.path} was made with another configuration:\n{shown}\n{advice}"
            )

    def resumes(self, manifest: Manifest) -> bool:
        """Tell whether this run is here already. Changes nothing; raises what `begin` does."""
        path = self.path / MANIFEST
        try:
            if path.exists():
                self.check(manifest)
                return True
            if self.path.exists() and any(map(_is_foreign, self.path.iterdir())):
                raise UsageError(
                    f"{self.path} holds other files and no {MANIFEST}: choose an empty --out."
                )
        except OSError as error:
            raise self._cannot_write(error) from None
        return False

    def begin(self, manifest: Manifest) -> bool:
        """Make the folder, or check that it is this run's; return whether it resumes.

        Raises `RunMismatch` showing what differs, `UsageError` if it cannot be written or holds
        something else.
        """
        self.resumes(manifest)  # before anything is written
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            with (self.path / f"{LOCK}.begin").open("w") as file:
                fcntl.flock(file, fcntl.LOCK_EX)  # shards may all begin at once
                return self._begin(manifest)
        except OSError as error:
            raise self._cannot_write(error) from None

    def _begin(self, manifest: Manifest) -> bool:
        path, draft = self.path / MANIFEST, self.path / DRAFT
        if self.resumes(manifest):
            return True
        draft.write_text(manifest.model_dump_json(indent=1) + "\n", "utf-8")
        draft.replace(path)
        return False

    @contextmanager
    def locked(self, shard: Shard) -> Iterator[None]:
        """Keep other processes from working on the same tasks. Raises `UsageError`."""
        with ExitStack() as held:
            self._lock(held, self.path / f"{LOCK}.{shard.index}-of-{shard.count}")
            # afterwards, so that of two that start at once one sees the other
            for path in self.path.glob(f"{LOCK}.*-of-*"):
                if not path.match(f"*-of-{shard.count}"):  # its shards overlap with this one
                    self._lock(held, path)
            yield

    def _lock(self, held: ExitStack, path: Path) -> None:
        try:
            file = held.enter_context(path.open("w"))
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise UsageError(
                f"Another process is working on {self.path}. Wait for it, or give each its part of"
                " the same number of parts with --shard."
            ) from None
        except OSError as error:
            raise self._cannot_write(error) from None

    def _cannot_write(self, error: OSError) -> UsageError:
        words = error.strerror or error
        return UsageError(f"Cannot write to {self.path}: {words}. Choose another --out.")

    def trace_path(self, arm: str, task_id: str) -> Path:
        """Return where an episode's trace lies once it is complete."""
        return self.path / arm / "episodes" / f"{file_name(task_id)}.jsonl"

    def end_of(self, arm: str, task_id: str) -> EndRecord | None:
        """Return how a complete episode ended, or None if there is none yet.

        Raises `BadFile` if its trace is cut off, or another task's.
        """
        path = self.trace_path(arm, task_id)
        if not path.exists():
            return None
        if (found := first_record(path).task.id) != task_id:
            raise BadFile(path, f"is the trace of another task, {found}. {DELETE}")
        return last_record(path)

    def traces(self) -> Iterator[TraceFile]:
        """Read all complete traces, arm by arm."""
        for path in sorted(self.path.glob("*/episodes/*.jsonl")):
            yield read_trace(path)


def where_runs_are(path: Path) -> str:
    """Say which run folders are in or above a folder that is none, or what it holds instead."""
    inside = sorted(file.parent for file in path.glob(f"*/{MANIFEST}"))
    if inside:
        more = f" and {len(inside) - 5} more" if len(inside) > 5 else ""
        return f"Run folders in it: {', '.join(map(str, inside[:5]))}{more}."
    if (path.parent / MANIFEST).is_file():
        return f"It lies in the run folder {path.parent}."
    if any(path.glob("*.jsonl")):
        return "It holds traces without a run: read one with `contramem show FILE`."
    return ""


def file_name(text: str) -> str:
    """Return a name that is safe as a file's: ids may come from foreign files."""
    return UNSAFE.sub("-", text).strip(".-")[:120] or "unnamed"


def first_record(path: Path) -> Header:
    """Read a trace's header without reading the rest. Raises `BadFile`."""
    try:
        with path.open("rb") as file:
            return Header.model_validate_json(file.readline())
    except (OSError, ValidationError) as error:
        raise BadFile(path, f"has no header ({type(error).__name__}). {DELETE}", 1) from None


def last_record(path: Path) -> EndRecord:
    """Read a complete trace's end record without reading the rest. Raises `BadFile`."""
    try:
        with path.open("rb") as file:
            file.seek(max(0, os.fstat(file.fileno()).st_size - 65536))
            lines = file.read().splitlines()
        return EndRecord.model_validate_json(lines[-1])
    except (OSError, IndexError, ValidationError) as error:
        raise BadFile(path, f"has no end record ({type(error).__name__}). {DELETE}") from None


def _is_foreign(entry: Path) -> bool:
    return entry.name != DRAFT and LOCK not in entry.name


def _differences(old: Json, new: Json, where: str = "") -> Iterator[str]:
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        for name in sorted({*old, *new}):
            yield from _differences(old.get(name), new.get(name), f"{where}.{name}".lstrip("."))
    elif isinstance(old, list) and isinstance(new, list):
        before, after = _named(old), _named(new)
        for name in {**before, **after}:
            yield from _differences(before.get(name), after.get(name), f"{where}[{name}]")
    elif old != new:
        yield f"{where}: {_short(old)} there, {_short(new)} here"


def _named(items: Sequence[Json]) -> dict[str, Json]:
    """Key items by their names, as arms have them, or by their places where names do not tell."""
    names = [str(item["name"]) for item in items if isinstance(item, Mapping) and "name" in item]
    told_apart = len(set(names)) == len(items)
    return dict(zip(names if told_apart else map(str, range(len(items))), items, strict=True))


def _short(value: Json) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 80 else f"{text[:77]}..."
