"""Running totals of one episode, and the limits that they may hit."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Literal

from runtime.contracts import Limits, Reply, Usage

__all__ = ["Limit", "LimitHit", "Tally"]

Limit = Literal["steps", "wall", "tokens", "cost", "context"]


class LimitHit(Exception):
    """Ends an episode's turns; its world is evaluated all the same."""

    def __init__(self, limit: Limit, words: str = "") -> None:
        super().__init__(words)
        self.limit: Limit = limit
        self.words = words


@dataclass
class Tally:
    """What an episode has used up so far."""

    begun: float = field(default_factory=time.monotonic)
    steps: int = 0
    cells: int = 0
    idle_cells: int = 0
    """Cells that made no call."""
    usage: Usage = field(default_factory=Usage)
    prompt_tokens: int = 0
    """Of the last prompt, as the provider counts it."""
    cost_usd: float | None = 0.0
    """None as soon as one call's price is unknown: an unknown price is not zero."""
    memory_tokens: int = 0

    def add(self, reply: Reply) -> None:
        """Count one completion."""
        self.usage += reply.usage or Usage()
        self.prompt_tokens = reply.usage.input if reply.usage else 0
        known = self.cost_usd is not None and reply.cost_usd is not None
        self.cost_usd = (self.cost_usd or 0.0) + (reply.cost_usd or 0.0) if known else None

    def wall_s(self) -> float:
        """Return the seconds since the episode began."""
        return time.monotonic() - self.begun

    def check(self, limits: Limits) -> None:
        """Raise `LimitHit` if there is no room for another step."""
        if self.wall_s() >= limits.wall_s:
            raise LimitHit("wall")
        if self.steps >= limits.steps:
            raise LimitHit("steps")
        if limits.tokens is not None and self.usage.input + self.usage.output >= limits.tokens:
            raise LimitHit("tokens")
        if limits.cost_usd is not None and (self.cost_usd or 0.0) >= limits.cost_usd:
            raise LimitHit("cost")
        if limits.context_tokens is not None and self.prompt_tokens >= limits.context_tokens:
            raise LimitHit("context", f"The last prompt had {self.prompt_tokens} tokens.")
