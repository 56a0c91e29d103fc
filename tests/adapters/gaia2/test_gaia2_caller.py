"""Each call of a cell gets its own reply, whatever the collector finds in the midst of it."""

from __future__ import annotations

import gc
import socket
from collections.abc import Iterator
from typing import Any

import pytest

from adapters.gaia2.cell import _Caller
from runtime.bridge.wire import Frame, Wire


@pytest.fixture
def ends() -> Iterator[tuple[Wire, Wire]]:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        for end in (ours, theirs):
            end.settimeout(5)
        yield Wire(ours), Wire(theirs)


class Last:
    """Garbage that only the collector can find, and that makes a call when it does."""

    def __init__(self, caller: _Caller, answers: list[Any]) -> None:
        self.itself, self.caller, self.answers = self, caller, answers

    def __del__(self) -> None:
        self.answers.append(self.caller("Emails.inner", {}))


class Littered:
    """A cell's end of a wire that leaves garbage and work for the collector at its first reply."""

    def __init__(self, wire: Wire, parent: Wire, answers: list[Any]) -> None:
        self.wire, self.parent, self.answers = wire, parent, answers
        self.caller = _Caller(self, wire)  # type: ignore[arg-type]
        self._littered = False

    def send(self, frame: Frame) -> None:
        self.wire.send(frame)
        request = self.parent.recv()
        self.parent.send({"n": request["n"], "value": f"of {request['function']}"})

    def recv(self) -> Frame:
        if not self._littered:
            self._littered = True
            Last(self.caller, self.answers)
            assert len([[] for _ in range(100_000)]) == 100_000
        return self.wire.recv()


def test_a_finalizer_that_calls_waits_for_the_call_in_hand(ends: tuple[Wire, Wire]) -> None:
    answers: list[Any] = []
    caller = Littered(*ends, answers).caller
    assert caller("Emails.outer", {}) == "of Emails.outer"
    gc.collect()
    assert answers == ["of Emails.inner"]
    assert caller("Emails.next", {}) == "of Emails.next"
