"""What the parts of the harness say to each other: stored values (pydantic) and small protocols.

A benchmark brings `Benchmark` and `World`; a policy brings `Gate` and `Injector`; a provider brings
`ChatModel`. Everything else in `runtime` is written against these names only.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, Literal, Protocol, Self, runtime_checkable

from pydantic import BaseModel, ConfigDict, Field, JsonValue

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

Json = JsonValue


class Value(BaseModel):
    """Base of every stored value: immutable, and strict about unknown fields."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Kind(StrEnum):
    """What a call does to the world. Unknown calls count as WRITE."""

    READ = "READ"
    WRITE = "WRITE"
    FINISH = "FINISH"


class Task(Value):
    """One task of a benchmark. Tasks of one scenario share `scenario_id` (SGC groups by it)."""

    benchmark: str
    id: str
    scenario_id: str
    dataset: str
    instruction: str
    apps: tuple[str, ...] = ()
    """Apps that the instruction names, lower case."""
    ability: str | None = None
    signature: str | None = None
    context: dict[str, str] = Field(default_factory=dict)
    """What the prompt needs besides the instruction, such as the supervisor's name."""


class Limits(Value):
    """Bounds of one episode. A limit that is hit ends the episode; it is evaluated and counted."""

    steps: int = Field(default=50, ge=1)
    wall_s: float = Field(default=300.0, gt=0)
    tokens: int | None = Field(default=None, ge=1)
    """Input plus output tokens over all model calls."""
    cost_usd: float | None = Field(default=None, gt=0)
    context_tokens: int | None = Field(default=None, ge=1)
    """Largest prompt as the provider counts it."""
    cell_s: float = Field(default=100.0, gt=0)
    """Wall time of one cell, after which its interpreter is killed."""
    calls_per_cell: int = Field(default=1000, ge=1)
    stop_grace_s: float = Field(default=2.0, gt=0)
    """Wall time that a stopped cell has left to end by itself."""
    observation_chars: int = Field(default=20_000, ge=200)


class ToolCall(Value):
    """One request of agent code to its world, in canonical form."""

    n: int
    """Position in the episode, from 1."""
    cell: int
    """Number of the cell that was running, from 1; 0 between cells."""
    function: str
    """`app.function`."""
    arguments: dict[str, Json]
    """Arguments as the world will read them, without the access token."""
    kind: Kind
    account: str | None = None
    """Whose access token the call carries (the token itself is never kept)."""
    token_seen: bool = False
    """Whether an access token came with the call, valid or not."""
    simulated_time: float | None = None
    """The world's clock in seconds since the epoch, where the world has one."""


class CallResult(Value):
    """What the world answered to one call."""

    ok: bool
    value: Json = None
    """The response: parsed JSON, or the error's text."""
    status: int | None = None
    """HTTP status, where the world speaks HTTP."""
    reply: dict[str, Json] = Field(default_factory=dict, repr=False)
    """The frame the cell receives, opaque outside the bridge: a record answers with it."""


class Decision(Value):
    """A gate's word on one call."""

    action: Literal["allow", "stop", "refuse", "answer"]
    reason: str
    """read, finish, gate off, verified, in a verified cell, stopped, refused or resumed."""
    message: str = ""
    """What a refused call raises inside the cell."""
    advisory: dict[str, Json] | None = None
    """Of a stop: what the agent is shown after its cell has ended."""
    result: CallResult | None = None
    """Of an answer: the recorded result that stands in for executing."""


class Refusal(Value):
    """A request that the bridge answered by itself because it is no call of the world's table."""

    request: str
    reason: str


class CellEnd(Value):
    """How one cell came to its end, as told to the gate."""

    status: Literal["finished", "raised", "stopped", "timeout", "killed"]
    """`killed`: the process died or had to be ended; `stopped`: by the gate's decision."""
    detail: str = ""


class Observation(Value):
    """What one cell gave back."""

    text: str
    """The cell's output as the engine words it, untruncated."""
    notes: str = ""
    """What the gate adds: an advisory, a ledger. Never truncated."""
    end: CellEnd
    calls: int = 0
    wall_s: float = 0.0
    done: bool = False
    """The world says that the episode is over (task completed, scenario ended)."""
    notifications: tuple[str, ...] = ()
    refusals: tuple[Refusal, ...] = ()


class Check(Value):
    """One requirement of an evaluator."""

    requirement: str
    passed: bool
    detail: str = ""


class Outcome(Value):
    """An evaluator's or judge's verdict on the world's final state."""

    passed: bool
    checks: tuple[Check, ...] = ()


class Message(Value):
    """One chat message."""

    role: Literal["system", "user", "assistant"]
    content: str


class Prompt(Value):
    """The opening messages of an episode, and where a memory block would go.

    The last message contains `anchor`; `with_block` puts a block right before its first occurrence
    and leaves every other byte as it is. An empty block changes nothing.
    """

    messages: tuple[Message, ...]
    anchor: str

    def with_block(self, block: str) -> tuple[Message, ...]:
        """Return the messages with `block` placed before the anchor line."""
        if not block:
            return self.messages
        *head, last = self.messages
        before, _, after = last.content.partition(self.anchor)
        return (*head, Message(role=last.role, content=f"{before}{block}\n\n{self.anchor}{after}"))


class Usage(Value):
    """Tokens of one or many model calls, as the provider reports them."""

    input: int = 0
    cached: int = 0
    """Part of `input` that was read from the provider's cache."""
    output: int = 0
    reasoning: int = 0
    """Part of `output`."""

    def __add__(self, other: Usage) -> Usage:
        """Add up two usages field by field."""
        return Usage(
            input=self.input + other.input,
            cached=self.cached + other.cached,
            output=self.output + other.output,
            reasoning=self.reasoning + other.reasoning,
        )


class Reply(Value):
    """One completion."""

    text: str
    usage: Usage | None = None
    """None where the provider reports none."""
    cost_usd: float | None = None
    """None where the price is unknown, never 0."""
    latency_s: float = 0.0
    finish_reason: str = "stop"
    served_model: str = ""
    attempts: int = 1
    masked: bool = False
    """`text` holds masks of a trace (recorded models): the episode puts its own secrets back."""


class Injection(Value):
    """Text that an injector adds to what the agent sees. Empty text means nothing is added."""

    text: str = ""
    cards: tuple[str, ...] = ()
    tokens: int = 0
    """Counted with o200k_base."""


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

    def end_cell(self, end: CellEnd) -> str:
        """Note the end of the cell and return what its observation should add (or "")."""
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

    def end_cell(self, end: CellEnd) -> str:  # noqa: ARG002 - protocol
        """Close the gate until the next cell."""
        self._running = False
        return ""


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
