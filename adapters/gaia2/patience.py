"""Bounds the wall time of one call: some tools take a pattern of the agent's and search with it.

Runs in ARE's interpreter, in a process of one thread.
"""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

__all__ = ["at_most"]


@contextmanager
def at_most(seconds: float) -> Iterator[None]:
    """Raise `TimeoutError` in the block once it has taken `seconds`."""

    def ring(*_: Any) -> None:
        raise TimeoutError(f"The call took more than {seconds:g} s of real time and was ended.")

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
