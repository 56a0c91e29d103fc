"""AppWorld's cell process: the engine's own shell in front of a stub client. Holds no state.

Runs in AppWorld's interpreter, locked down before the first cell. The engine is opened as if its
APIs lived on another host, which gives it no database and nothing on disk; its HTTP client is
then replaced by one that asks the parent.
"""

from __future__ import annotations

import builtins
import gc
import json
import signal
import socket
import sys
import threading
from typing import Any

from runtime.bridge import lockdown
from runtime.bridge.wire import Frame, Wire, encode

__all__ = ["main"]

LONGEST_OUTPUT = 1 << 20
"""Characters of one cell's output that leave the process."""


class GateStop(BaseException):
    """Raised in agent code by the gate's stop: not an Exception, so that few handlers catch it."""


GateStop.__module__ = "builtins"


def main(sockets: list[int], params: Frame) -> None:
    """Open the shell, lock the process down, run cells until the parent closes the channel."""
    control = Wire(socket.socket(fileno=sockets[0]))
    client = _Client(Wire(socket.socket(fileno=sockets[1])), control)
    engine = _open(params)
    engine.requester.client = client
    engine.requester.request_tracker.add_request = client.track
    shell = _Shell(engine, client)
    state = lockdown.lock(keep=sockets, jail=params["jail"], cwd=params["cwd"])
    control.send({"ok": {"lockdown": state}})
    while True:
        frame = control.recv()
        client.cell = frame["id"]
        control.send(shell.run(frame["source"]) | {"op": "done", "id": frame["id"]})


def _open(params: Frame) -> Any:
    import appworld.requester as requester_module
    from appworld import AppWorld
    from appworld.apps.api_lib import set_local_random_seed

    class Shell(AppWorld):  # type: ignore[misc]
        """The engine without its disk."""

        def _save_state(self, *_arguments: Any) -> None:
            pass

        def save_logs(self) -> None:
            pass

        def _prepare_directories(self) -> None:
            pass

    names = (
        "set_remote_dbs",
        "set_remote_date_and_time",
        "set_remote_random_seed",
        "set_remote_show_api_response_schemas",
    )
    for name in names:
        setattr(requester_module, name, lambda *_arguments, **_named: "cell")
    engine = Shell(
        task_id=params["task"],
        experiment_name="cell",
        remote_apis_url="http://testserver",
        load_ground_truth=False,
        timeout_seconds=params["cell_s"],
        random_seed=params["seed"],
    )
    set_local_random_seed(engine.random_seed)
    engine.requester.remote_apis_url = engine.remote_apis_url = None
    engine.shell.showtraceback = lambda *_arguments, **_named: None
    engine.shell.showsyntaxerror = lambda *_arguments, **_named: None
    return engine


class _Shell:
    """Runs cells in the engine's shell and keeps what was printed before a stop."""

    def __init__(self, engine: Any, client: _Client) -> None:
        self._engine, self._client = engine, client
        self._run_in_engine = engine._shell_run_cell  # noqa: SLF001
        engine._shell_run_cell = self._run_cell  # noqa: SLF001

    def run(self, source: str) -> Frame:
        self._client.printed = None
        try:
            text = self._engine.execute(source)
        except BaseException as error:  # noqa: BLE001 - whatever agent code raises is its output
            text = f"Execution failed. Traceback:\n{type(error).__name__}: {error}"
            self._engine.safety_guard.disable()
        signal.alarm(0)
        raised = text.startswith("Execution failed. Traceback:")
        if self._client.printed is not None:
            text, raised = self._client.printed, False
        if len(text) > LONGEST_OUTPUT:
            cut = len(text) - LONGEST_OUTPUT
            text = f"{text[:LONGEST_OUTPUT]}\n... {cut} more characters were cut"
        return {"text": text, "raised": raised}

    def _run_cell(self, code: str) -> Any:
        """Run a cell; one that was stopped looks like a success, so that its output survives."""
        result = self._run_in_engine(code)
        if self._client.printed is None:
            return result
        return type("Stopped", (), {"success": True})()


class _Client:
    """Stands in for the engine's HTTP client: every request goes to the parent."""

    def __init__(self, calls: Wire, control: Wire) -> None:
        self._calls, self._control = calls, control
        self._number = 0
        self._lock = threading.RLock()
        self._replies: dict[int, Frame] = {}
        self._tracked: Frame = {}
        self.cell = 0
        self.printed: str | None = None

    def track(self, method: str, url: str, data: Any = None) -> None:
        """Stand in for the engine's request tracker: the world keeps the log.

        A request that the engine will not send (no address, data that is no mapping) is noted at
        once; others are kept until they are sent, for the order of their keys in the log.
        """
        url = str(url)
        sent = url.startswith("/") or "://" in url
        kept = dict(data) if isinstance(data, dict) else {}
        self._tracked = {"op": "note", "method": method.upper(), "url": url, "data": kept}
        self._tracked["order"] = list(kept)
        if not sent or (data and not isinstance(data, dict)):
            self._exchange(self._tracked | {"data": data})

    def request(
        self,
        method: str,
        url: str,
        *,
        params: Any = None,
        json: Any = None,
        data: Any = None,
        headers: Any = None,
        **_ignored: Any,
    ) -> Any:
        """Ask the parent and wrap its reply as the engine's client would."""
        tracked, self._tracked = self._tracked, {}
        if json is not None and (problem := _unserialisable(json)) is not None:
            if tracked:
                self._exchange(tracked)
            raise problem
        auth = next(
            (value for key, value in dict(headers or {}).items() if key.lower() == "authorization"),
            None,
        )
        reply = self._exchange(
            {
                "op": "call",
                "method": str(method),
                "url": str(url),
                "params": params,
                "json": json,
                "data": data,
                "auth": auth,
                "order": tracked.get("order", []),
            }
        )
        return _response(reply)

    def _exchange(self, frame: Frame) -> Frame:
        """One thread's exchange at a time, and neither timer nor collector may cut it in two.

        A finalizer that runs nevertheless, in the midst of an exchange of its own thread, may
        make another.
        """
        with self._lock:
            self._number += 1
            number = self._number
            encoded = encode(frame | {"n": number}, _as_logged)  # runs code of the agent's values
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
            self._note_stop()
            raise GateStop("VERIFY_BEFORE_WRITE")
        if "raise" in reply:
            raise Exception(reply["raise"])  # noqa: TRY002 - the plain engine's own class
        return reply

    def _note_stop(self) -> None:
        if self.printed is not None:
            return
        value = getattr(sys.stdout, "getvalue", None)
        self.printed = value() if value is not None else ""
        printed = self.printed[:LONGEST_OUTPUT]
        self._control.send({"op": "printed", "id": self.cell, "text": printed})

    def get(self, url: str, **named: Any) -> Any:
        """Send a GET."""
        return self.request("GET", url, **named)

    def post(self, url: str, **named: Any) -> Any:
        """Send a POST."""
        return self.request("POST", url, **named)

    def put(self, url: str, **named: Any) -> Any:
        """Send a PUT."""
        return self.request("PUT", url, **named)

    def patch(self, url: str, **named: Any) -> Any:
        """Send a PATCH."""
        return self.request("PATCH", url, **named)

    def delete(self, url: str, **named: Any) -> Any:
        """Send a DELETE."""
        return self.request("DELETE", url, **named)


def _unserialisable(value: Any, _dumps: Any = json.dumps) -> Exception | None:
    """Return the error that the engine's client would raise."""
    try:
        _dumps(value)
    except (TypeError, ValueError) as error:
        return error
    return None


def _as_logged(value: Any) -> Any:
    """Make JSON of what is none, as the engine's log does."""
    if isinstance(value, set | frozenset):
        return list(value)
    return value.isoformat() if hasattr(value, "isoformat") else str(value)


def _response(reply: Frame) -> Any:
    import httpx

    if "exception" in reply:
        raise _exception(*reply["exception"])
    content = reply["body"].encode("utf-8", "surrogatepass")
    headers = {"content-type": reply["type"] or "application/json"}
    return httpx.Response(reply["status"], headers=headers, content=content)


def _exception(module: str, name: str, text: str) -> Exception:
    """Rebuild an exception that the engine's server raised."""
    known = getattr(builtins, name, None) if module == "builtins" else None
    if isinstance(known, type) and issubclass(known, Exception) and known is not KeyError:
        try:
            return known(text)
        except TypeError:
            pass  # one that wants more than a text, such as UnicodeEncodeError
    names = {"__module__": module, "__qualname__": name, "__str__": lambda self: self.args[0]}
    stand_in: type[Exception] = type(name, (Exception,), names)  # KeyError would quote its text
    return stand_in(text)
