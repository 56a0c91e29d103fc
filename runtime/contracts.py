"""What the parts of the harness say to each other: small protocols over `runtime.values`.

A benchmark brings `Benchmark` and `World`; a policy brings `Gate` and `Injector`; a provider brings
`ChatModel`. Everything else in `runtime` is written against these names only. The values are
exported from here too: one import serves a program of one's own.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol, Self, runtime_checkable

from runtime.values import (
    CallResult,
    CellEnd,
    Check,
    Decision,
    Injection,
    Json,
    Kind,
    Limits,
    Message,
    Observation,
    Outcome,
    Prompt,
    Refusal,
    Reply,
    Task,
    ToolCall,
    Usage,
    Value,
)

if TYPE_CHECKING:
    from pathlib import Path

    from runtime.catalogue import Catalogue

__all__ = [
    "AllowGate",
    "Benchmark",
    "CallResult",
    "CellEnd",
    "ChatModel",
    "Check",
    "Decision",
    "Gate",
    "Injection",
    "Injector",
    "Json",
    "Kind",
    "Limits",
    "Message",
    "ModelSource",
    "NoInjector",
    "Observation",
    "Outcome",
    "Prompt",
    "Refusal",
    "Reply",
    "Task",
    "ToolCall",
    "Usage",
    "Value",
    "World",
]


@runtime_checkable
class Gate(Protocol):
    """Decides on every call of agent code, outside of that code's reach. One gate per episode."""

    def begin_cell(self, source: str) -> None:
        """Note that a cell with this source is about to run."""

    def decide(self, call: ToolCall) -> Decision:
        """Decide on one call. Asked between cells and after a stop too: it refuses there."""
        ...

    def done(self, call: ToolCall, result: CallResult) -> None:
        """Note the result of a call that was allowed."""

    def observe(self, text: str) -> None:
        """Note what the agent is told besides outputs: notifications, a user's later words."""

    def end_cell(self, end: CellEnd) -> Injection:
        """Note the end of the cell; return what its observation should add, and the cards in it."""
        ...


class Injector(Protocol):
    """Delivers memory. One injector per episode."""

    def task_start(self, task: Task) -> Injection:
        """Return the block for the prompt."""
        ...

    def after_cell(self, source: str, calls: Sequence[tuple[ToolCall, CallResult]]) -> Injection:
        """Return what the cell's observation should add, given the calls the cell made."""
        ...

    def near_end(self) -> Injection:
        """Return what to add once, when the episode is close to its limits or its close."""
        ...


class ChatModel(Protocol):
    """A language model with chat completions, for one episode."""

    @property
    def name(self) -> str:
        """The name under which it was configured."""
        ...

    async def complete(self, messages: Sequence[Message]) -> Reply:
        """Complete a conversation. Raises `runtime.errors.ModelError` and its kinds."""
        ...


class ModelSource(Protocol):
    """Hands out a chat model per episode. Shares connections and rate limits behind the scenes."""

    @property
    def name(self) -> str:
        """The name on the command line: `scripted:careful`, or one of models.toml."""
        ...

    def describe(self) -> dict[str, Json]:
        """Return model id, parameters and prices for the trace. Never a key."""
        ...

    def secrets(self) -> tuple[str, ...]:
        """Return what must be masked in every trace: keys."""
        ...

    def for_episode(self, task: Task, seed: int) -> ChatModel:
        """Return the model for one episode. Raises `UsageError` if it cannot serve the task."""
        ...

    async def close(self) -> None:
        """Close connections."""


class World(Protocol):
    """One open task: its state lives in another process than the agent's code."""

    @property
    def lockdown(self) -> str:
        """The level of lock-down in force for agent code, in words."""
        ...

    async def execute(self, source: str, *, seconds: float | None = None) -> Observation:
        """Run one cell for at most `seconds` (never more than `Limits.cell_s`).

        Raises `WorldError` if the world itself, not the agent's code, fails.
        """
        ...

    async def thought(self, seconds: float) -> None:
        """Take note of how long the model just took. A world with a clock may charge it."""

    async def evaluate(self) -> Outcome:
        """Save and judge the final state."""
        ...

    async def close(self) -> None:
        """End the world's processes. May be called twice."""


class Benchmark(Protocol):
    """A source of tasks and of worlds for them. Holds warm processes: close it."""

    name: str

    def datasets(self) -> Sequence[str]:
        """Names that `tasks` accepts."""
        ...

    def tasks(self, dataset: str) -> Sequence[Task]:
        """Return a dataset's tasks in their order. Raises `UnknownName`."""
        ...

    def check(self, tasks: Sequence[Task]) -> None:
        """Raise `UsageError` for a task that could not be opened; starts nothing."""

    def prompt(self, task: Task) -> Prompt:
        """Return the opening messages for a task."""
        ...

    def kind(self, function: str, arguments: dict[str, Json]) -> Kind:
        """Classify a call."""
        ...

    async def catalogue(self) -> Catalogue:
        """Return the functions agent code may call (starts the warm process if need be)."""
        ...

    def versions(self) -> dict[str, str]:
        """Return what decides an outcome beside the task: package versions, the prompt's hash.

        Complete once `catalogue` was awaited.
        """
        ...

    def limits(self, task: Task, limits: Limits) -> Limits:
        """Return the limits for a task, where a kind of task has its own in every arm."""
        ...

    def for_arm(self, folder: Path, arm: str) -> Benchmark:
        """Return the same benchmark on the same warm process for one arm of a run.

        What the benchmark itself leaves behind goes below `folder`. Only the original is closed.
        """
        ...

    async def open(
        self, task: Task, gate: Gate, limits: Limits, *, read_only: bool = False
    ) -> World:
        """Open a task. With `read_only` the world's side refuses every WRITE and FINISH."""
        ...

    async def close(self) -> None:
        """End all warm processes."""

    async def __aenter__(self) -> Self: ...
    async def __aexit__(self, *exc: object) -> None: ...


class AllowGate:
    """The default gate: every call passes. A base for gates of one's own."""

    def __init__(self) -> None:
        self._running = False

    def begin_cell(self, source: str) -> None:  # noqa: ARG002 - protocol
        """Open the gate for one cell."""
        self._running = True

    def decide(self, call: ToolCall) -> Decision:
        """Allow the call if a cell is running."""
        if not self._running:
            return Decision(action="refuse", reason="refused", message="No cell is running.")
        reason = {Kind.READ: "read", Kind.WRITE: "gate off", Kind.FINISH: "finish"}[call.kind]
        return Decision(action="allow", reason=reason)

    def done(self, call: ToolCall, result: CallResult) -> None:
        """Do nothing."""

    def observe(self, text: str) -> None:
        """Do nothing."""

    def end_cell(self, end: CellEnd) -> Injection:  # noqa: ARG002 - protocol
        """Close the gate until the next cell."""
        self._running = False
        return Injection()


class NoInjector:
    """The default injector: no memory."""

    def task_start(self, task: Task) -> Injection:  # noqa: ARG002 - protocol
        """Inject nothing."""
        return Injection()

    def after_cell(
        self,
        source: str,  # noqa: ARG002 - protocol
        calls: Sequence[tuple[ToolCall, CallResult]],  # noqa: ARG002 - protocol
    ) -> Injection:
        """Inject nothing."""
        return Injection()

    def near_end(self) -> Injection:
        """Inject nothing."""
        return Injection()
