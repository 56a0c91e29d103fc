"""What the parts of the harness hand to each other and store: immutable, validated values."""

from __future__ import annotations

from enum import StrEnum
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, FiniteFloat, JsonValue

__all__ = [
    "CallResult",
    "CellEnd",
    "Check",
    "Decision",
    "Injection",
    "Json",
    "Kind",
    "Limits",
    "Message",
    "Observation",
    "Outcome",
    "Prompt",
    "Refusal",
    "Reply",
    "Task",
    "ToolCall",
    "Usage",
    "Value",
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
    wall_s: FiniteFloat = Field(default=300.0, gt=0)
    tokens: int | None = Field(default=None, ge=1)
    """Input plus output tokens over all model calls."""
    cost_usd: FiniteFloat | None = Field(default=None, gt=0)
    context_tokens: int | None = Field(default=None, ge=1)
    """Largest prompt as the provider counts it."""
    cell_s: FiniteFloat = Field(default=100.0, gt=0)
    """Wall time of one cell, after which its interpreter is killed."""
    calls_per_cell: int = Field(default=1000, ge=1)
    stop_grace_s: FiniteFloat = Field(default=2.0, gt=0)
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


class Usage(Value):
    """Tokens of one or many model calls, as the provider reports them."""

    input: int = Field(default=0, ge=0)
    cached: int = Field(default=0, ge=0)
    """Part of `input` that was read from the provider's cache."""
    output: int = Field(default=0, ge=0)
    reasoning: int = Field(default=0, ge=0)
    """Part of `output`."""

    def __add__(self, other: Usage) -> Usage:
        """Add up two usages field by field."""
        return Usage(
            input=self.input + other.input,
            cached=self.cached + other.cached,
            output=self.output + other.output,
            reasoning=self.reasoning + other.reasoning,
        )


class Outcome(Value):
    """An evaluator's or judge's verdict on the world's final state."""

    passed: bool
    checks: tuple[Check, ...] = ()
    judge_usage: Usage | None = None
    """Tokens of a judge that is a model; they are not the agent's."""
    judge_cost_usd: float | None = None


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
    adaptations: tuple[str, ...] = ()
    """How the request departed from models.toml, since the endpoint rejects something there."""
    masked: bool = False
    """`text` holds masks of a trace (recorded models): the episode puts its own secrets back."""


class Injection(Value):
    """Text that an injector adds to what the agent sees. Empty text means nothing is added."""

    text: str = ""
    cards: tuple[str, ...] = ()
    tokens: int = 0
    """Counted with o200k_base."""
