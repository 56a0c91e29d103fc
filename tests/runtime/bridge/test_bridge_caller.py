"""Each call of a cell gets its own reply, whatever the collector finds in the midst of it."""

from __future__ import annotations

import gc
import socket
from collections.abc import Iterator
from typing import Any

import pytest

from runtime.bridge.caller import Caller
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

    def __init__(self, caller: Caller, answers: list[Any]) -> None:
        self.itself, self.caller, self.answers = self, caller, answers

    def __del__(self) -> None:
        self.answers.append(self.caller.exchange({"function": "inner"})["value"])


class Littered:
    """A cell's end of a wire that leaves garbage and work for the collector at its first reply."""

    def __init__(self, wire: Wire, parent: Wire, answers: list[Any]) -> None:
        self.wire, self.parent, self.answers = wire, parent, answers
        self.caller = Caller(self, wire, lambda: "")  # type: ignore[arg-type]
        self._littered = False

    def send_bytes(self, encoded: bytes) -> None:
        self.wire.send_bytes(encoded)
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
    assert caller.exchange({"function": "outer"})["value"] == "of outer"
    gc.collect()
    assert answers == ["of inner"]
    assert caller.exchange({"function": "next"})["value"] == "of next"
