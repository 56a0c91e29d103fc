"""GAIA2's cell process: our own small interpreter, locked down. Runs in our interpreter.

The same process would serve any world whose functions are `app.function(arguments)`: it knows the
functions' documentation and nothing else.
"""

from __future__ import annotations

import importlib
import socket
from typing import Any

from adapters.gaia2.repl import Session
from runtime.bridge import lockdown, zygote
from runtime.bridge.caller import Caller, rebuilt
from runtime.bridge.wire import Frame, Wire

__all__ = ["main"]


def main(arguments: list[str]) -> None:
    """Serve as a warm process. The first argument is the control socket's descriptor."""
    importlib.import_module("_strptime")  # else on first use, when a locked cell can read no file
    zygote.serve(int(arguments[0]), {"cell": run}, {})


def run(sockets: list[int], params: Frame) -> None:
    """Lock the process down and run cells until the parent closes the channel."""
    control = Wire(socket.socket(fileno=sockets[0]))
    cell = _Cell(Wire(socket.socket(fileno=sockets[1])), control, params)
    state = lockdown.lock(keep=sockets, jail=params["jail"], cwd="/")
    control.send({"ok": {"lockdown": state}})
    while True:
        frame = control.recv()
        control.send(cell.run(frame["id"], frame["source"]) | {"op": "done", "id": frame["id"]})


class _Cell:
    """Runs cells in one session, whose calls go to the parent."""

    def __init__(self, calls: Wire, control: Wire, params: Frame) -> None:
        self._caller = Caller(calls, control, self._printed)
        self._session = Session(params["docs"], self._call, seed=params["seed"])

    def run(self, run_id: str, source: str) -> Frame:
        self._caller.begin(run_id)
        text = self._session.execute(source)
        if self._caller.kept is not None:
            return {"text": self._session.output.text(), "raised": False}
        return {"text": text, "raised": self._session.ended_by == "raised"}

    def _call(self, function: str, arguments: dict[str, Any]) -> Any:
        reply = self._caller.exchange({"function": function, "arguments": arguments})
        if "raise" in reply:
            raise RuntimeError(reply["raise"])
        if "exception" in reply:
            raise rebuilt(*reply["exception"])
        return reply.get("value")

    def _printed(self) -> str:
        """Return what was printed; what a stopped cell prints from here on is not heard."""
        self._session.output.stop_listening()
        return self._session.output.text()
