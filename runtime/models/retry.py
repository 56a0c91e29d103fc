"""When to ask an endpoint again, and how long to wait before."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

from runtime.models.failures import Failure

__all__ = ["Retry"]


@dataclass(frozen=True)
class Retry:
    """Bounded retries: the server's own Retry-After first, else exponential with jitter.

    The openai client's own retries are switched off: they bypass the provider's throttle (each
    attempt counts against a rate limit), and tell nobody how many attempts there were.
    """

    retries: int
    first_wait_s: float = 1.0
    longest_wait_s: float = 30.0
    longest_asked_s: float = 120.0
    """A server that asks for more has nothing for this episode: waiting would only stall the run,
    asking sooner would only anger the server. Such an episode ends as errored, to be redone."""
    _random: random.Random = field(default_factory=random.Random, repr=False)
    """Of its own: the global generator belongs to the caller's seeds."""

    def wait_s(self, failure: Failure, done: int) -> float | None:
        """Return the wait before the next attempt after `done` retries; None to give up."""
        if not failure.passing or done >= self.retries:
            return None
        if failure.retry_after_s is not None:
            asked = failure.retry_after_s
            return asked if asked <= self.longest_asked_s else None
        ceiling = min(self.longest_wait_s, self.first_wait_s * 2.0**done)
        # Between half and all of it, so that episodes that failed together come back apart.
        return ceiling * self._random.uniform(0.5, 1.0)
