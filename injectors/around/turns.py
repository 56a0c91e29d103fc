"""Turns of the model: what was answered inside one is read by the model only when it has ended.

A task is in the turn that it opened or was started in. A thread does not know the turn that it was
started in, so a call that is in none counts as in the one that has been open longest. With none
open it is a turn of its own.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from threading import Lock

__all__ = ["Turn", "Turns"]


@dataclass(eq=False)
class Turn:
    """One reply of the model with its calls, or one call. Moments are counted, not timed."""

    of: Turns
    began: int
    ended: int | None = None

    def has_read(self, other: Turn) -> bool:
        """Say whether this turn's reply may build on what was answered in another one."""
        return other.ended is not None and other.ended < self.began


_ENTERED: ContextVar[tuple[Turn, ...]] = ContextVar("turns", default=())
"""The turns that the running task or thread is in: at most one of each session."""


class Turns:
    """The turns of one session."""

    def __init__(self) -> None:
        self._moments = 0
        self._open: list[Turn] = []
        self._lock = Lock()

    @contextmanager
    def turn(self) -> Iterator[None]:
        """Open a turn. Inside of another one it is a part of that."""
        if self._entered() is not None:
            yield
            return
        turn = Turn(self, self.moment())
        self._open.append(turn)
        _ENTERED.set((*_ENTERED.get(), turn))
        try:
            yield
        finally:
            self._open.remove(turn)
            turn.ended = self.moment()
            _ENTERED.set(tuple(entered for entered in _ENTERED.get() if entered.ended is None))

    def current(self) -> Turn:
        """Return the turn of a call that is made now."""
        entered = self._entered()
        if entered is not None:
            return entered
        longest = next(iter(self._open), None)
        return longest or Turn(self, self.moment(), self.moment())

    def moment(self) -> int:
        """Return a number above all that were returned before."""
        with self._lock:
            self._moments += 1
            return self._moments

    def _entered(self) -> Turn | None:
        """A task may outlive the turn that it was started in: then it is in none."""
        inside = (turn for turn in _ENTERED.get() if turn.of is self and turn.ended is None)
        return next(inside, None)
