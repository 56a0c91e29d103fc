"""The engine as its makers run it, in one process: what the split is compared with.

Runs in AppWorld's interpreter, for tests and benches only. It has no boundary.
"""

from __future__ import annotations

import socket
from collections.abc import Iterable
from typing import Any

from adapters.appworld.world import open_engine, verdict
from runtime.bridge.wire import Frame, Wire

__all__ = ["main"]


def main(managers: Iterable[Any], sockets: list[int], params: Frame) -> None:
    """Open the task and serve `run`, `state` and `evaluate`."""
    wire = Wire(socket.socket(fileno=sockets[0]))
    engine = open_engine(managers, params)
    wire.send({"ok": {}})
    while True:
        frame = wire.recv()
        if frame["op"] == "run":
            wire.send({"text": engine.execute(frame["source"])})
        elif frame["op"] == "state":
            wire.send({"done": engine.task_completed()})
        else:
            wire.send(verdict(engine))
