"""Turn boundaries: what happens after the agent has written to the user. Runs in ARE's interpreter.

The message hands the turn over. Time then passes until the judge has looked at the turn and the
user or the environment has something to say, or the scenario is over. Under the Time ability the
last boundary does not end an episode while something is pending: environment or user events that
are scheduled, or a reminder the agent has set. The oracle is never looked at.
"""

from __future__ import annotations

from adapters.gaia2.clock import SteppedEnvironment
from adapters.gaia2.notifications import CLOCK_MESSAGES, clock_message

__all__ = ["Turns"]


class Turns:
    """Counts an episode's turns and moves time between them."""

    def __init__(self, environment: SteppedEnvironment, turns: int, *, patient: bool) -> None:
        """`turns`: messages to the user after which the episode ends. `patient`: Time ability."""
        self._environment = environment
        self._turns, self._patient = turns, patient
        self._messages = 0
        self._clock_messages = 0
        self.ended = False
        """Whether the agent has handed over the current turn."""
        self.done = False
        """Whether the episode is over."""

    def message_sent(self) -> None:
        """Note that the agent wrote to the user."""
        self._messages += 1
        self.ended = True

    def settle(self) -> str | None:
        """Between cells: let the world catch up. Return a clock message if there is one to tell."""
        environment = self._environment
        told = None
        if self.ended:
            environment.advance(1.0)  # the judge looks at a report once a second
            if self._messages >= self._turns:
                told = self._at_the_last_boundary()
            else:
                self._until_told()
            self.ended = False
        self.done = self.done or not environment.running
        return told

    def _until_told(self) -> None:
        environment = self._environment
        if not environment.messages_waiting():
            environment.advance_until(float("inf"), environment.messages_waiting)

    def _at_the_last_boundary(self) -> str | None:
        environment = self._environment
        pending = [*environment.foreign_events_due(), *environment.timers_due()]
        if not (self._patient and environment.running):
            self.done = True
            return None
        if environment.messages_waiting():
            return None
        if not pending or self._clock_messages >= CLOCK_MESSAGES:
            self.done = True
            return None
        self._clock_messages += 1
        return clock_message(environment.now)
