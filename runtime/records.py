"""The records of a trace, one class a line type, in the order of docs/trace-format.md."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import ConfigDict, Field

from runtime.contracts import (
    CellEnd,
    Check,
    Json,
    Kind,
    Limits,
    Observation,
    Refusal,
    Reply,
    Task,
    Usage,
    Value,
)

__all__ = [
    "CallRecord",
    "CellRecord",
    "DecisionRecord",
    "EndRecord",
    "ErrorRecord",
    "Header",
    "InjectionRecord",
    "MessageRecord",
    "ModelCallRecord",
    "NotificationRecord",
    "ObservationRecord",
    "OutcomeRecord",
    "Record",
    "ResultRecord",
    "Timed",
]


class Header(Value):
    """All that is needed to run the episode again."""

    type: Literal["episode"] = "episode"
    schema_version: Literal[1] = Field(default=1, alias="schema")
    episode: str
    task: Task
    seed: int = 0
    model: dict[str, Json] = Field(default_factory=dict)
    """Name, model id and parameters."""
    arm: dict[str, Json] = Field(default_factory=dict)
    """Name, profile, memory hash, gate settings."""
    limits: Limits
    prompt_sha256: str
    versions: dict[str, str] = Field(default_factory=dict)
    lockdown: str = ""
    judge: str | None = None
    parent: str | None = None
    """Of a replay: the episode that was played."""
    source: str | None = None
    """Of an imported trace: what it was imported from."""

    model_config = ConfigDict(populate_by_name=True, serialize_by_alias=True)


class Timed(Value):
    """Base of all records after the header."""

    t: float = 0.0
    """Seconds since the episode began."""


class MessageRecord(Timed):
    """A message as it entered the conversation."""

    type: Literal["message"] = "message"
    role: Literal["system", "user", "assistant"]
    content: str


class ModelCallRecord(Timed):
    """One completion; its text is the assistant message that follows."""

    type: Literal["model_call"] = "model_call"
    step: int
    usage: Usage | None
    cost_usd: float | None
    latency_s: float
    finish_reason: str
    served_model: str
    attempts: int
    adaptations: tuple[str, ...] = ()
    recorded: bool = False
    """Played from a recording. The first one that is not is where a continued replay forked."""

    @classmethod
    def of(cls, step: int, reply: Reply) -> Self:
        """Return the record of a reply."""
        return cls(
            step=step,
            usage=reply.usage,
            cost_usd=reply.cost_usd,
            latency_s=reply.latency_s,
            finish_reason=reply.finish_reason,
            served_model=reply.served_model,
            attempts=reply.attempts,
            adaptations=reply.adaptations,
            recorded=reply.masked,
        )

    def reply(self, text: str) -> Reply:
        """Return the reply again, with the text that follows the record in its trace."""
        return Reply(
            text=text,
            usage=self.usage,
            cost_usd=self.cost_usd,
            latency_s=self.latency_s,
            finish_reason=self.finish_reason,
            served_model=self.served_model,
            attempts=self.attempts,
            adaptations=self.adaptations,
            masked=True,
        )


class CellRecord(Timed):
    """A cell that is about to run."""

    type: Literal["cell"] = "cell"
    cell: int
    source: str


class DecisionRecord(Value):
    """A gate's word, stored with its call."""

    action: Literal["allow", "stop", "refuse", "answer"]
    reason: str
    advisory: dict[str, Json] | None = None


class CallRecord(Timed):
    """One request of agent code and the one decision on it."""

    type: Literal["call"] = "call"
    n: int
    cell: int
    function: str
    arguments: dict[str, Json]
    kind: Kind
    account: str | None = None
    simulated_time: float | None = None
    decision: DecisionRecord


class ResultRecord(Timed):
    """What the world answered to call `n`, if it was executed."""

    type: Literal["result"] = "result"
    n: int
    ok: bool
    status: int | None = None
    value: Json = None


class ObservationRecord(Timed):
    """What the cell gave back, before truncation for the model."""

    type: Literal["observation"] = "observation"
    cell: int
    text: str
    notes: str = ""
    end: CellEnd
    calls: int
    wall_s: float
    done: bool = False
    refusals: tuple[Refusal, ...] = ()

    @classmethod
    def of(cls, cell: int, observation: Observation) -> Self:
        """Return the record of an observation."""
        return cls(
            cell=cell,
            text=observation.text,
            notes=observation.notes,
            end=observation.end,
            calls=observation.calls,
            wall_s=observation.wall_s,
            done=observation.done,
            refusals=observation.refusals,
        )


class InjectionRecord(Timed):
    """Memory that was delivered."""

    type: Literal["injection"] = "injection"
    point: Literal["task_start", "after_cell", "near_end", "advisory"]
    cards: tuple[str, ...]
    tokens: int
    text: str = ""


class NotificationRecord(Timed):
    """Something the world told the agent between turns."""

    type: Literal["notification"] = "notification"
    text: str


class OutcomeRecord(Timed):
    """The evaluator's verdict."""

    type: Literal["outcome"] = "outcome"
    passed: bool
    checks: tuple[Check, ...] = ()
    judge_usage: Usage | None = None
    judge_cost_usd: float | None = None


class ErrorRecord(Timed):
    """An infrastructure error, or the words of the limit that was hit."""

    type: Literal["error"] = "error"
    error: str
    message: str


class EndRecord(Timed):
    """The last line of a complete trace, with the totals."""

    type: Literal["end"] = "end"
    status: Literal["passed", "failed", "errored"]
    limit: Literal["steps", "wall", "tokens", "cost", "context"] | None = None
    steps: int
    calls: int
    events: int
    """Agent events: reads, writes, cells that made neither."""
    usage: Usage
    memory_tokens: int = 0
    cost_usd: float | None = None
    judge_cost_usd: float | None = None
    """Of a judge that is a model: no part of `cost_usd`."""
    wall_s: float

    @property
    def total_usd(self) -> float | None:
        """What the episode has cost, judging included; None if that is unknown."""
        return None if self.cost_usd is None else self.cost_usd + (self.judge_cost_usd or 0.0)


Record = Annotated[
    Header
    | MessageRecord
    | ModelCallRecord
    | CellRecord
    | CallRecord
    | ResultRecord
    | ObservationRecord
    | InjectionRecord
    | NotificationRecord
    | OutcomeRecord
    | ErrorRecord
    | EndRecord,
    Field(discriminator="type"),
]
