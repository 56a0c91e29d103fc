"""Chat models that play the replies of a trace, strictly: a miss is an error, never a live call."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from runtime.contracts import Json, Message, Reply, Task
from runtime.errors import BadFile, RecordingMiss, UnknownName, UsageError
from runtime.records import Header, MessageRecord, ModelCallRecord
from runtime.trace import TraceFile, read_trace

__all__ = ["RecordedModel", "RecordedSource", "RecordedTurn", "recorded_turns"]


@dataclass(frozen=True)
class RecordedTurn:
    """One recorded completion and the shape of the conversation that it answered."""

    roles: tuple[str, ...]
    reply: Reply


def recorded_turns(trace: TraceFile) -> tuple[RecordedTurn, ...]:
    """Return the completions of a trace in order: each model call with the reply after it.

    A call without a reply (the episode ended in between) is no turn.
    """
    turns: list[RecordedTurn] = []
    roles: list[str] = []
    call: ModelCallRecord | None = None
    for record in trace.records:
        if isinstance(record, ModelCallRecord):
            call = record
        elif isinstance(record, MessageRecord):
            if record.role == "assistant" and call is not None:
                turns.append(RecordedTurn(tuple(roles), call.reply(record.content)))
                call = None
            roles.append(record.role)
    return tuple(turns)


class RecordedModel:
    """The replies of one trace, in order."""

    def __init__(self, name: str, path: Path, turns: Sequence[RecordedTurn]) -> None:
        """`path` is the trace's, for errors."""
        self._name = name
        self._path = path
        self._turns = tuple(turns)
        self._played = 0

    @property
    def name(self) -> str:
        """The name on the command line."""
        return self._name

    @property
    def played(self) -> int:
        """How many replies were given so far."""
        return self._played

    @property
    def remaining(self) -> int:
        """How many replies are left."""
        return len(self._turns) - self._played

    async def complete(self, messages: Sequence[Message]) -> Reply:
        """Give the next reply. Raises `RecordingMiss`.

        The conversation has to have as many messages, of the same roles, as the recorded one had
        here; what they say may differ, as it does when memory is switched on or off. Latency is
        the recorded one and is not slept.
        """
        if not self.remaining:
            raise RecordingMiss(
                f"{self._path}: all {len(self._turns)} recorded replies are played, and the "
                "episode asks for one more: it no longer goes as it was recorded."
            )
        turn = self._turns[self._played]
        roles = tuple(message.role for message in messages)
        if roles != turn.roles:
            raise RecordingMiss(
                f"{self._path}: reply {self._played + 1} was given to {_shape(turn.roles)}, but "
                f"is asked for after {_shape(roles)}: the episode no longer goes as recorded."
            )
        self._played += 1
        return turn.reply


class RecordedSource:
    """A trace, or a folder with traces at any depth, such as a run."""

    def __init__(self, name: str, path: Path) -> None:
        """Raise `UsageError` if `path` holds no trace, `BadFile` for a damaged header."""
        self._name = name
        self._path = path
        self._headers = dict(_headers(path))
        if not self._headers:
            raise UsageError(f"{path} holds no trace: give a trace (*.jsonl) or a run folder.")

    @property
    def name(self) -> str:
        """The name on the command line."""
        return self._name

    def describe(self) -> dict[str, Json]:
        """Return the name and what the replies came from."""
        origins = {json.dumps(each.model, sort_keys=True) for each in self._headers.values()}
        return {"name": self.name, "recorded": [json.loads(each) for each in sorted(origins)]}

    def secrets(self) -> tuple[str, ...]:
        """Return nothing: a trace is masked already."""
        return ()

    def for_episode(self, task: Task, seed: int) -> RecordedModel:
        """Return the task's replies; of several traces the one with this seed, first by path.

        Raises `UnknownName` if no trace is of this task, `UsageError` if it holds no reply.
        """
        of_task = [path for path, header in self._headers.items() if _is_of(header, task)]
        if not of_task:
            known = (header.task.id for header in self._headers.values())
            raise UnknownName(f"recorded task in {self._path}", task.id, known)
        path = min(of_task, key=lambda path: (self._headers[path].seed != seed, path))
        turns = recorded_turns(read_trace(path))
        if not turns:
            raise UsageError(f"{path} holds no model reply: the episode ended before the first.")
        return RecordedModel(self.name, path, turns)

    async def close(self) -> None:
        """Do nothing."""


def _is_of(header: Header, task: Task) -> bool:
    return (header.task.benchmark, header.task.id) == (task.benchmark, task.id)


def _headers(path: Path) -> Iterator[tuple[Path, Header]]:
    """Yield the traces below `path` with their headers. Other JSON-lines files are passed over."""
    if not path.exists():
        raise UsageError(f"There is no {path}: recorded: takes a trace (*.jsonl) or a run folder.")
    files = sorted(path.rglob("*.jsonl")) if path.is_dir() else [path]
    for file in filter(Path.is_file, files):  # a pipe would never end
        header = _header(file)
        if header is not None:
            yield file, header
        elif file == path:
            raise BadFile(file, "is no trace: its first line is no header (type episode)", 1)


def _header(path: Path) -> Header | None:
    try:
        with path.open(encoding="utf-8") as file:
            data = json.loads(file.readline())
    except OSError as error:
        raise BadFile(path, f"cannot be read: {error.strerror}") from error
    except (ValueError, RecursionError):
        return None
    if not isinstance(data, dict) or data.get("type") != "episode":
        return None
    try:
        return Header.model_validate(data)
    except ValidationError as error:
        raise BadFile(path, f"not a trace header: {error.errors()[0]['msg']}", 1) from error


def _shape(roles: Sequence[str]) -> str:
    return f"{len(roles)} messages ending in {roles[-1]}" if roles else "no message"
