"""GAIA2's cell process: our own small interpreter, locked down. Runs in our interpreter.

The same process would serve any world whose functions are `app.function(arguments)`: it knows the
functions' documentation and nothing else.
"""

from __future__ import annotations

import builtins
import gc
import importlib
import socket
from typing import Any

from adapters.gaia2.repl import LARGEST, Session
from runtime.bridge import lockdown, zygote
from runtime.bridge.wire import Frame, Wire

__all__ = ["main"]


class GateStop(BaseException):
    """Raised in agent code by the gate's stop: not an Exception, so that few handlers catch it."""


GateStop.__module__ = "builtins"


def main(arguments: list[str]) -> None:
    """Serve as a warm process. The first argument is the control socket's descriptor."""
    importlib.import_module("_strptime")  # else on first use, when a locked cell can read no file
    zygote.serve(int(arguments[0]), {"cell": run}, {})


def run(sockets: list[int], params: Frame) -> None:
    """Lock the process down and run cells until the parent closes the channel."""
    control = Wire(socket.socket(fileno=sockets[0]))
    caller = _Caller(Wire(socket.socket(fileno=sockets[1])), control)
    session = Session(params["docs"], caller, seed=params["seed"])
    caller.session = session
    state = lockdown.lock(keep=sockets, jail=params["jail"], cwd="/")
    control.send({"ok": {"lockdown": state}})
    while True:
        frame = control.recv()
        caller.cell, caller.stopped = frame["id"], False
        text = session.execute(frame["source"])
        if caller.stopped:
            text = session.output.text()
        raised = session.ended_by == "raised" and not caller.stopped
        control.send({"op": "done", "id": frame["id"], "text": text, "raised": raised})


class _Caller:
    """Sends calls to the parent, one at a time.

    Cells have no threads; the collector, which may run a finalizer that makes calls of its own,
    waits until an exchange is over.
    """

    def __init__(self, calls: Wire, control: Wire) -> None:
        self._calls, self._control = calls, control
        self._number = 0
        self.session: Session
        self.cell = 0
        self.stopped = False

    def __call__(self, function: str, arguments: dict[str, Any]) -> Any:
        reply = self._exchange({"function": function, "arguments": arguments})
        if "stop" in reply:
            self._note_stop()
            raise GateStop("VERIFY_BEFORE_WRITE")
        if "raise" in reply:
            raise RuntimeError(reply["raise"])
        if "exception" in reply:
            raise _exception(*reply["exception"])
        return reply.get("value")

    def _exchange(self, frame: Frame) -> Frame:
        gc.disable()
        try:
            self._number += 1
            self._calls.send({"n": self._number, **frame})
            while (reply := self._calls.recv()).get("n") != self._number:
                continue  # the reply to a call that ran out of memory before it came
            return reply
        finally:
            gc.enable()

    def _note_stop(self) -> None:
        if not self.stopped:
            self.stopped = True
            self.session.output.stop_listening()
            printed = self.session.output.text()[:LARGEST]
            self._control.send({"op": "printed", "id": self.cell, "text": printed})


def _exception(name: str, text: str) -> Exception:
    """Rebuild an exception that a tool raised: a built-in one, or one of the same name."""
    known = getattr(builtins, name, None)
    if isinstance(known, type) and issubclass(known, Exception):
        try:
            return known(text)
        except TypeError:
            pass  # one that wants more than a text, such as UnicodeDecodeError
    names = {"__module__": "builtins", "__str__": lambda self: self.args[0]}
    stand_in: type[Exception] = type(name, (Exception,), names)
    return stand_in(text)
