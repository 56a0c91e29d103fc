"""AppWorld's cell process: the engine's own shell in front of a stub client. Holds no state.

Runs in AppWorld's interpreter, locked down before the first cell. The engine is opened as if its
APIs lived on another host, which gives it no database and nothing on disk; its HTTP client is
then replaced by one that asks the parent.
"""

from __future__ import annotations

import json
import signal
import socket
import sys
from typing import Any

from runtime.bridge import lockdown
from runtime.bridge.caller import LONGEST_OUTPUT, Caller, rebuilt
from runtime.bridge.wire import Frame, Wire

__all__ = ["main"]


def main(sockets: list[int], params: Frame) -> None:
    """Open the shell, lock the process down, run cells until the parent closes the channel."""
    control = Wire(socket.socket(fileno=sockets[0]))
    caller = Caller(Wire(socket.socket(fileno=sockets[1])), control, _printed)
    client = _Client(caller)
    engine = _open(params)
    engine.requester.client = client
    engine.requester.request_tracker.add_request = client.track
    shell = _Shell(engine, caller)
    state = lockdown.lock(keep=sockets, jail=params["jail"], cwd=params["cwd"])
    control.send({"ok": {"lockdown": state}})
    while True:
        frame = control.recv()
        control.send(shell.run(frame["id"], frame["source"]) | {"op": "done", "id": frame["id"]})


def _printed() -> str:
    value = getattr(sys.stdout, "getvalue", None)
    return str(value()) if value is not None else ""


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

    def __init__(self, engine: Any, caller: Caller) -> None:
        self._engine, self._caller = engine, caller
        self._run_in_engine = engine._shell_run_cell  # noqa: SLF001
        engine._shell_run_cell = self._run_cell  # noqa: SLF001

    def run(self, run_id: str, source: str) -> Frame:
        self._caller.begin(run_id)
        try:
            text = self._engine.execute(source)
        except BaseException as error:  # noqa: BLE001 - whatever agent code raises is its output
            text = f"Execution failed. Traceback:\n{type(error).__name__}: {error}"
            self._engine.safety_guard.disable()
        signal.alarm(0)
        raised = text.startswith("Execution failed. Traceback:")
        if self._caller.kept is not None:
            text, raised = self._caller.kept, False
        if len(text) > LONGEST_OUTPUT:
            cut = len(text) - LONGEST_OUTPUT
            text = f"{text[:LONGEST_OUTPUT]}\n... {cut} more characters were cut"
        return {"text": text, "raised": raised}

    def _run_cell(self, code: str) -> Any:
        """Run a cell; one that was stopped looks like a success, so that its output survives."""
        result = self._run_in_engine(code)
        if self._caller.kept is None:
            return result
        return type("Stopped", (), {"success": True})()


class _Client:
    """Stands in for the engine's HTTP client: every request goes to the parent."""

    def __init__(self, caller: Caller) -> None:
        self.caller = caller
        self._tracked: Frame = {}

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
        reply = self.caller.exchange(frame, _as_logged)
        if "raise" in reply:
            raise Exception(reply["raise"])  # noqa: TRY002 - the plain engine's own class
        return reply

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
        raise rebuilt(*reply["exception"])
    content = reply["body"].encode("utf-8", "surrogatepass")
    headers = {"content-type": reply["type"] or "application/json"}
    return httpx.Response(reply["status"], headers=headers, content=content)
