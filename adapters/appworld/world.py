"""AppWorld's world process: the engine, its state and its evaluator. Never sees agent code.

Runs in AppWorld's interpreter. It executes the calls that the parent forwards, keeps the engine's
own log of them, saves once at the end and evaluates.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from adapters.appworld.kinds import kind_of
from runtime.bridge.served import Answer, exception_parts, serve_world
from runtime.bridge.wire import Frame, Wire

__all__ = ["main", "open_engine"]

METHODS = ("get", "post", "put", "patch", "delete")


def main(managers: Iterable[Any], sockets: list[int], params: Frame) -> None:
    """Open the task and serve the parent until it closes the channel.

    `managers`: the engine's log-in managers, which sign access tokens.
    """

    def opened(_wire: Wire) -> tuple[Answer, Frame]:
        world = _World(open_engine(managers, params), read_only=bool(params["read_only"]))
        return world.serve, {}

    serve_world(sockets, opened)


def open_engine(managers: Iterable[Any], params: Frame) -> Any:
    """Open the engine on a task with its outputs below `params["outputs"]`."""
    from appworld import AppWorld
    from appworld.common.path_store import PathStore
    from fastapi_login.secrets import to_secret

    outputs = params["outputs"]
    PathStore.experiment_outputs = property(lambda _self: outputs)
    secret = params["token_secret"] or secrets.token_hex(16)
    for manager in managers:  # the engine's own secret is one constant for all worlds
        manager.secret = to_secret({"algorithms": manager.algorithm, "secret": secret.encode()})
    return AppWorld(
        task_id=params["task"],
        experiment_name=params["experiment"],
        timeout_seconds=params["cell_s"],
        random_seed=params["seed"],
    )


class _World:
    def __init__(self, engine: Any, *, read_only: bool) -> None:
        self._engine, self._read_only = engine, read_only
        self._client = self._engine.requester.client
        self._tracker = self._engine.requester.request_tracker
        self._tracker.max_num_requests = None  # the parent counts, and refuses in its own words
        self._executed: list[list[Any]] = []

    def serve(self, frame: Frame) -> Frame:
        handlers = {
            "call": self._call,
            "note": self._note,
            "state": self._state,
            "evaluate": self._evaluate,
            "executed": self._executed_writes,
            "hash": self._hash,
        }
        return handlers[frame["op"]](frame)

    def _call(self, frame: Frame) -> Frame:
        self._log(frame)
        kind, _ = kind_of(frame["function"], frame["method"])
        if self._read_only and kind != "READ":
            body = '{"message":"This world is open for reading only: nothing was changed."}'
            return {"status": 403, "type": "application/json", "body": body}
        headers = {"Authorization": frame["auth"]} if frame["auth"] else {}
        place = {} if frame["arguments"] is None else {frame["place"]: frame["arguments"]}
        try:
            response = self._client.request(
                frame["method"], frame["path"], headers=headers, **place
            )
        except Exception as error:  # noqa: BLE001 - the plain engine lets it through to the cell
            self._executed += [[frame["function"], None]] if kind != "READ" else []
            return {"exception": exception_parts(error)}
        self._executed += [[frame["function"], response.status_code]] if kind != "READ" else []
        content_type = response.headers.get("content-type")
        return {"status": response.status_code, "type": content_type, "body": response.text}

    def _note(self, frame: Frame) -> Frame:
        self._log(frame)
        return {"ok": True}

    def _log(self, frame: Frame) -> None:
        """Log a request as the plain engine would: its own words, the token among the data."""
        method = frame["method"].lower()
        if method not in METHODS:
            return
        data = frame["logged"]
        self._tracker.add_request(method=method, url=frame["url"], data=data)

    def _state(self, _frame: Frame) -> Frame:
        try:
            return {"done": self._engine.task_completed()}
        except ValueError:  # an answer such as NaN was given, but no JSON can show it
            return {"done": True}

    def _evaluate(self, frame: Frame) -> Frame:
        cells = [{**cell, "input": cell["input"].strip()} for cell in frame["io"]]
        self._engine.environment_io = cells
        self._engine.num_interactions = len(cells)
        self._engine._save_state(self._engine.output_db_home_path_on_disk)  # noqa: SLF001
        self._engine.save_logs()
        return verdict(self._engine)

    def _executed_writes(self, _frame: Frame) -> Frame:
        return {"executed": self._executed}

    def _hash(self, _frame: Frame) -> Frame:
        """Return a digest of every database of the world."""
        from appworld.apps.model_lib import CachedDBHandler

        digests = {}
        for key, (engine, *_) in sorted(CachedDBHandler.cache.items()):
            if "task_output" in key:
                dump = "\n".join(engine.raw_connection().connection.iterdump())
                digests[Path(key).name] = hashlib.sha256(dump.encode()).hexdigest()
        return {"hash": digests}


def verdict(engine: Any) -> Frame:
    """Evaluate the saved state and return the verdict with one check per requirement."""
    result = engine.evaluate().to_dict()
    checks = [_check(item, passed=True) for item in result["passes"]]
    checks += [_check(item, passed=False) for item in result["failures"]]
    return {"passed": bool(result["success"]), "checks": checks}


def _check(item: dict[str, str], *, passed: bool) -> Frame:
    """Return one requirement; of a failure's trace what failed, without the evaluator's code."""
    detail = item.get("trace", "").rpartition("----------\n")[2].strip()
    return {"requirement": item["requirement"].strip(), "passed": passed, "detail": detail}
