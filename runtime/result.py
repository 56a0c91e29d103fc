"""What is told of an episode: where it comes from, where it is, how it ended."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import Field

from runtime.records import EndRecord
from runtime.tally import Limit
from runtime.values import Json, Outcome, Usage, Value

__all__ = ["EpisodeResult", "Progress", "Provenance"]


class Provenance(Value):
    """What a trace's header says beyond task and limits. All of it is for the reader."""

    episode: str = ""
    seed: int = 0
    model: dict[str, Json] = Field(default_factory=dict)
    arm: dict[str, Json] = Field(default_factory=dict)
    judge: str | None = None
    parent: str | None = None


class Progress(Value):
    """Where a running episode is."""

    step: int
    calls: int
    usage: Usage
    cost_usd: float | None
    doing: Literal["open", "model", "cell", "evaluate"]


class EpisodeResult(Value):
    """How an episode ended."""

    status: Literal["passed", "failed", "errored"]
    limit: Limit | None
    outcome: Outcome | None
    end: EndRecord
    error: str = ""
    trace: Path
