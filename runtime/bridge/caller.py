"""How agent code asks: requests to the parent, one at a time, and what a stop does to the cell.

Runs in cell processes, beside agent code. Standard library only.
"""

from __future__ import annotations

import builtins
import gc
import signal
import threading
from collections.abc import Callable
from typing import Any

from runtime.bridge.wire import Frame, Wire, encode

__all__ = ["LONGEST_OUTPUT", "Caller", "GateStop", "rebuilt"]

LONGEST_OUTPUT = 1 << 20
"""Characters of one cell's output that leave the process."""


class GateStop(BaseException):
    """Raised in agent code by the gate's stop: not an Exception, so that few handlers catch it."""


GateStop.__module__ = "builtins"


class Caller:
    """A cell process's end of its two channels."""

    def __init__(self, calls: Wire, control: Wire, printed: Callable[[], str]) -> None:
        """`printed` returns what the running cell has printed so far."""
        self._calls, self._control, self._printed = calls, control, printed
        self._number = 0
        self._lock = threading.RLock()
        self._replies: dict[int, Frame] = {}
        self._run_id = ""
        self.kept: str | None = None
        """What the running cell had printed when it was stopped; None if it was not."""

    def begin(self, run_id: str) -> None:
        """Note that a cell is about to run, which the parent calls `run_id`."""
        self._run_id, self.kept = run_id, None

    def exchange(self, frame: Frame, default: Callable[[Any], Any] | None = None) -> Frame:
        """Send a request and return its reply. `default` makes JSON of values that are none.

        One thread's exchange at a time, and neither timer nor collector may cut it in two. A
        finalizer that runs nevertheless, in the midst of an exchange of its own thread, may make
        another. Raises `GateStop`.
        """
        with self._lock:
            self._number += 1
            number = self._number
            encoded = encode(frame | {"n": number}, default)  # runs code of the agent's values
            collects = gc.isenabled()
            gc.disable()
            held = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGALRM})
            try:
                self._calls.send_bytes(encoded)
                while number not in self._replies:
                    reply = self._calls.recv()
                    self._replies[reply["n"]] = reply
                reply = self._replies.pop(number)
            finally:
                signal.pthread_sigmask(signal.SIG_SETMASK, held)
                if collects:
                    gc.enable()
        if "stop" in reply:
            self._keep_printed()
            raise GateStop("VERIFY_BEFORE_WRITE")
        return reply

    def _keep_printed(self) -> None:
        """Keep what was printed before the stop, and tell it: the cell may have to be killed."""
        if self.kept is None:
            self.kept = self._printed()
            told = self.kept[:LONGEST_OUTPUT]
            self._control.send({"op": "printed", "id": self._run_id, "text": told})


def rebuilt(module: str, name: str, text: str) -> Exception:
    """Return an exception that the world raised: a built-in one, or a stand-in of the same name.

    `text`: of a `KeyError` the key, of others their words.
    """
    known = getattr(builtins, name, None) if module == "builtins" else None
    if isinstance(known, type) and issubclass(known, Exception):
        try:
            return known(text)
        except TypeError:
            pass  # one that wants more than a text, such as UnicodeEncodeError
    names = {"__module__": module, "__qualname__": name, "__str__": lambda self: self.args[0]}
    stand_in: type[Exception] = type(name, (Exception,), names)
    return stand_in(text)
