"""The loop of a world process: opened, then one answer a frame. Standard library only."""

from __future__ import annotations

import socket
from collections.abc import Callable

from runtime.bridge.wire import Frame, Wire

__all__ = ["Answer", "exception_parts", "serve_world"]

Answer = Callable[[Frame], Frame]


def serve_world(sockets: list[int], opened: Callable[[Wire], tuple[Answer, Frame]]) -> None:
    """Open a world and answer the parent until it closes the channel.

    `opened` returns what answers a frame, and what the parent is told first. Whatever either raises
    goes to the parent as `{"error": ...}`, which becomes a `WorldError` there.
    """
    wire = Wire(socket.socket(fileno=sockets[0]))
    try:
        answer, ready = opened(wire)
    except Exception as error:  # noqa: BLE001 - the parent turns it into a WorldError
        wire.send({"error": f"{type(error).__name__}: {error}"})
        return
    wire.send({"ok": ready})
    while True:
        frame = wire.recv()
        try:
            reply = answer(frame)
        except Exception as error:  # noqa: BLE001 - the same
            reply = {"error": f"{type(error).__name__}: {error}"}
        wire.send(reply)


def exception_parts(error: Exception) -> tuple[str, str, str]:
    """Return what the cell needs to raise a function's exception again: module, name and text."""
    kind = type(error)
    text = error.args[0] if isinstance(error, KeyError) and error.args else error
    return kind.__module__, kind.__qualname__, str(text)
