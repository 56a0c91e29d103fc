"""GAIA2's world process: one scenario, its clock and its judge. Never sees agent code.

Runs in ARE's interpreter. It executes the calls that the parent forwards, tells after each cell
what happened meanwhile, and judges. An LLM judge's questions go to the parent, which has the model:
in the middle of any exchange this process may send `{"judge": messages}` and wait for
`{"op": "judged", "text": ...}`.
"""

from __future__ import annotations

import json
import logging
import random
import uuid
from typing import Any

from adapters.gaia2.clock import SteppedEnvironment
from adapters.gaia2.files import Roots
from adapters.gaia2.kinds import kind_of_call
from adapters.gaia2.notifications import OVER, TURN_OVER, notification
from adapters.gaia2.patience import at_most
from adapters.gaia2.scenario import BadScenario, load
from adapters.gaia2.tools import agent_tools, describe, name_of
from adapters.gaia2.turns import Turns
from adapters.gaia2.values import plain
from runtime.bridge.served import Answer, exception_parts, serve_world
from runtime.bridge.wire import Frame, Wire

__all__ = ["main"]

CALL_S = 0.01
"""Simulated seconds of one call: ARE's log is ordered by time alone, so times must differ."""
LONGEST_CALL_S = 20.0
"""Wall seconds of one call."""


class JudgeFault(Exception):
    """The judge's model failed."""


def main(sockets: list[int], params: Frame) -> None:
    """Open the scenario and serve the parent until it closes the channel."""
    logging.disable(logging.CRITICAL)
    _make_repeatable()

    def opened(wire: Wire) -> tuple[Answer, Frame]:
        world = _World(params, wire)
        return world.serve, {"time": world.now, "tools": world.rows}

    serve_world(sockets, opened)


def _make_repeatable() -> None:
    """Number what ARE draws at random, message ids for one: agents see them."""
    numbers = random.Random(0)  # noqa: S311 - repeatable on purpose
    uuid.uuid4 = lambda: uuid.UUID(int=numbers.getrandbits(128), version=4)
    random.seed(0)


class _World:
    """One open scenario."""

    def __init__(self, params: Frame, wire: Wire) -> None:
        self._wire = wire
        self._read_only = bool(params["read_only"])
        self._events: list[dict[str, Any]] = []
        self._inbox: list[str] = []
        self._scenario = load(params["scenario"], params["checks"], self._ask_parent)
        self._environment = SteppedEnvironment(self._scenario.start_time or 0.0, self._log)
        self._environment.run(self._scenario, wait_for_end=False)
        self._environment.get_app("AgentUserInterface").wait_for_user_response = False
        self._tools = {
            f"{app.name}.{name_of(tool)}": (tool, describe(app, tool))
            for app in self._environment.apps.values()
            for tool in agent_tools(app)
        }
        self._roots = Roots(self._environment.apps.values())
        turns = getattr(self._scenario, "nb_turns", None) or 1
        self._turns = Turns(self._environment, turns, patient=params["patient"])
        self._begin()

    @property
    def now(self) -> float:
        """The simulated time."""
        return self._environment.now

    @property
    def rows(self) -> list[dict[str, Any]]:
        """The tools that agents get."""
        return [row for _, row in self._tools.values()]

    def serve(self, frame: Frame) -> Frame:
        """Answer one frame."""
        operation = frame["op"]
        if operation == "call":
            return self._call(frame["function"], frame["arguments"]) | {"time": self.now}
        if operation == "state":
            return self._state()
        if operation == "think":
            self._environment.advance(float(frame["seconds"]))
            return {"time": self.now}
        if operation == "events":
            return {"events": self._events}
        if operation == "apps":
            states = {name: app.get_state() for name, app in self._environment.apps.items()}
            return {"apps": plain(states)}
        if operation == "evaluate":
            return self._evaluate()
        raise ValueError(f"unknown operation {operation!r}")

    def _begin(self) -> None:
        """Let time pass until the user has asked; the prompt shows that message already."""
        environment = self._environment
        messages: list[Any] = []
        while (first := next(filter(_is_of_the_user, messages), None)) is None:
            if not environment.messages_waiting():
                environment.advance_until(float("inf"), environment.messages_waiting)
            if not environment.running:
                raise BadScenario(
                    "No message of the user comes within the scenario's duration"
                    f" ({environment.duration:g} s), so nobody asks for anything."
                )
            messages += environment.drain()
        self._keep([message for message in messages if message is not first])

    def _call(self, function: str, arguments: dict[str, Any]) -> Frame:
        tool, row = self._tools[function]
        kind = kind_of_call(row["kind"], row["reason"], arguments)
        if self._read_only and kind != "READ":
            return {"raise": f"This world is open for reading only: {function} was not executed."}
        if self._turns.ended:
            return {"raise": TURN_OVER}
        self._environment.advance(CALL_S)
        if not self._environment.running:
            return {"raise": OVER}
        try:
            with at_most(LONGEST_CALL_S):
                value = self._roots.hidden(plain(tool.function(tool.class_instance, **arguments)))
        except Exception as error:  # noqa: BLE001 - what a tool raises is its answer
            _, name, text = exception_parts(error)  # agents know no module of ARE's
            return {"exception": ["builtins", name, self._roots.hidden(text)]}
        if kind == "FINISH":
            self._turns.message_sent()
        if function.endswith(".wait_for_notification"):
            self._keep(self._environment.drain())  # each one ends one wait
        return {"value": value}

    def _state(self) -> Frame:
        told = self._turns.settle()
        self._keep(self._environment.drain())
        notifications, self._inbox = self._inbox, []
        if told is not None:
            notifications.append(told)
        return {"done": self._turns.done, "notifications": notifications, "time": self.now}

    def _keep(self, messages: list[Any]) -> None:
        for message in messages:
            kind = message.message_type.name
            if kind == "ENVIRONMENT_STOP":
                continue  # `done` tells it
            self._inbox.append(notification(message.timestamp.timestamp(), kind, message.message))

    def _evaluate(self) -> Frame:
        if self._environment.running:
            self._environment.advance(1.0)
        result = self._scenario.validate(self._environment)
        own = not hasattr(self._scenario, "judge") or self._scenario.judge is None
        if result.exception is not None and not own:
            raise result.exception
        self._environment.stop()
        detail = str(result.exception or result.rationale or "")
        passed = bool(result.success)
        check = {"requirement": "judge", "passed": passed, "detail": "" if passed else detail}
        return {"passed": passed, "checks": [check]}

    def _ask_parent(self, messages: list[dict[str, str]], **_: Any) -> tuple[str, None]:
        self._wire.send({"judge": [dict(message) for message in messages]})
        reply = self._wire.recv()
        if reply.get("op") != "judged" or "text" not in reply:
            raise JudgeFault(str(reply.get("failed", "the judge did not answer")))
        return str(reply["text"]), None

    def _log(self, event: Any) -> None:
        """Keep what completed as it was then: results are live objects, and ids change later."""
        if event.event_type.name not in {"AGENT", "ENV", "USER"}:
            return
        action = event.action
        arguments = action.resolved_args or action.args
        entry = {
            "time": event.event_time,
            "type": event.event_type.name,
            "app": event.app_name(),
            "function": event.function_name(),
            "operation": getattr(action.operation_type, "value", None),
            "arguments": {name: item for name, item in arguments.items() if name != "self"},
            "result": event.metadata.return_value,
            "exception": event.metadata.exception,
        }
        self._events.append(json.loads(json.dumps(plain(entry))))


def _is_of_the_user(message: Any) -> bool:
    return bool(message.message_type.name == "USER_MESSAGE")
