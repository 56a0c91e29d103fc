"""A small shop that runs cells in this process: a benchmark for tests of loop, batch and replay.

A cell is real code; its calls go through the gate as the bridge sends them. `shop.login` gives the
password and a token that differs from episode to episode, as a real world's do.
"""

from __future__ import annotations

import asyncio
import contextlib
import io
import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

from runtime.catalogue import Catalogue, Function, Parameter
from runtime.contracts import (
    CallResult,
    CellEnd,
    Check,
    Gate,
    Json,
    Kind,
    Limits,
    Message,
    Observation,
    Outcome,
    Prompt,
    Reply,
    Task,
    ToolCall,
    Usage,
)
from runtime.errors import UnknownName
from runtime.models.script import Turn
from runtime.models.scripted import ScriptedModel

PASSWORD = "hunter2-of-the-shop"


def _function(name: str, kind: Kind, *parameters: str) -> Function:
    known = tuple(Parameter(name=each, type="any", required=True) for each in parameters)
    return Function(name=name, kind=kind, reason="fake", parameters=known)


CATALOGUE = Catalogue(
    [
        _function("shop.login", Kind.READ),
        _function("shop.list_items", Kind.READ),
        _function("shop.buy", Kind.WRITE, "item"),
        _function("shop.finish", Kind.FINISH),
    ]
)


def task(name: str = "t_1") -> Task:
    """A task that is passed by buying a lamp and finishing."""
    return Task(
        benchmark="fake",
        id=name,
        scenario_id=name.partition("_")[0],
        dataset="all",
        instruction=f"Buy a lamp for {name}.",
    )


def cell(source: str, thought: str = "Next.") -> str:
    """A reply with one cell."""
    return f"{thought}\n```python\n{source}\n```"


LOOK, BUY, FINISH = (
    cell("print(shop.login())"),
    cell('print(shop.buy(item="lamp"))'),
    cell("shop.finish()"),
)
GOOD = (LOOK, BUY, FINISH)
BAD = (LOOK, FINISH)


class _Stopped(BaseException):
    """What the bridge raises in a cell that was stopped."""


@dataclass
class FakeWorld:
    """One open task."""

    gate: Gate
    bought: list[Json] = field(default_factory=list)
    done: bool = False
    closed: int = 0
    lockdown: str = "none (fake)"
    thoughts: list[float] = field(default_factory=list)
    notifications: tuple[str, ...] = ()
    """Told after each cell."""
    broken: str = ""
    """Raise this when asked to run a cell."""
    judge_cost_usd: float | None = None
    _token: str = field(default_factory=lambda: f"eyJhbGciOi.{secrets.token_hex(8)}.sig")
    _gate_error: Exception | None = None
    _calls: int = 0
    _cells: int = 0

    async def execute(self, source: str, *, seconds: float | None = None) -> Observation:
        """Run a cell in this process; `hang()` in it waits until its time is up."""
        if self.broken:
            raise RuntimeError(self.broken)
        self._cells += 1
        before = self._calls
        self.gate.begin_cell(source)
        printed = io.StringIO()
        status = "finished"
        try:
            if source == "hang()":
                await asyncio.sleep(seconds or 0)
                status = "timeout"
            else:
                with contextlib.redirect_stdout(printed):
                    exec(source, {"shop": _Shop(self)})
        except _Stopped:
            status = "stopped"
        except Exception as error:
            status = "raised"
            printed.write(f"{type(error).__name__}: {error}")
        if self._gate_error is not None:
            raise self._gate_error
        end = CellEnd(status=status)
        notes = self.gate.end_cell(end).text
        return Observation(
            text=printed.getvalue() or "Execution successful.",
            notes=notes,
            end=end,
            calls=self._calls - before,
            done=self.done,
            notifications=self.notifications,
        )

    def call(self, name: str, arguments: dict[str, Any]) -> Any:
        """Make one call as the bridge does: decide, execute or not, note the result."""
        self._calls += 1
        kind = CATALOGUE.kind(f"shop.{name}")
        call = ToolCall(
            n=self._calls, cell=self._cells, function=f"shop.{name}", arguments=arguments, kind=kind
        )
        try:
            decision = self.gate.decide(call)
        except Exception as error:  # the bridge asks outside of the cell: its code cannot catch it
            self._gate_error = error
            raise _Stopped from error
        if decision.action in {"stop", "refuse"}:
            raise _Stopped(decision.message)
        if decision.action == "answer":
            assert decision.result is not None
            return decision.result.value
        value = getattr(self, f"_{name}")(**arguments)
        self.gate.done(call, CallResult(ok=True, value=value, status=200, reply={"body": value}))
        return value

    def _login(self) -> Json:
        return {"password": PASSWORD, "access_token": self._token}

    def _list_items(self) -> Json:
        return ["lamp", "chair"]

    def _buy(self, item: Json) -> Json:
        self.bought.append(item)
        return {"bought": item}

    def _finish(self) -> Json:
        self.done = True
        return {}

    async def thought(self, seconds: float) -> None:
        self.thoughts.append(seconds)

    async def evaluate(self) -> Outcome:
        passed = self.bought == ["lamp"] and self.done
        check = Check(requirement="one lamp", passed=passed)
        return Outcome(passed=passed, checks=(check,), judge_cost_usd=self.judge_cost_usd)

    async def close(self) -> None:
        self.closed += 1


class _Shop:
    def __init__(self, world: FakeWorld) -> None:
        self._world = world

    def __getattr__(self, name: str) -> Callable[..., Any]:
        return lambda **arguments: self._world.call(name, arguments)


class FakeBenchmark:
    """Holds tasks `t_1`, `t_2`, `u_1`; remembers the worlds it opened."""

    name = "fake"

    def __init__(self, tasks: Sequence[str] = ("t_1", "t_2", "u_1"), **world: Any) -> None:
        self._tasks = tuple(task(name) for name in tasks)
        self._world = world
        self.worlds: list[FakeWorld] = []
        self.open_error: Exception | None = None

    def datasets(self) -> Sequence[str]:
        return ["all"]

    def tasks(self, dataset: str) -> Sequence[Task]:
        if dataset != "all":
            raise UnknownName("dataset", dataset, ["all"])
        return self._tasks

    def check(self, tasks: Sequence[Task]) -> None:
        """Every task can be opened."""

    def prompt(self, task: Task) -> Prompt:
        system = Message(role="system", content="You shop by code.")
        user = Message(role="user", content=f"Task: {task.instruction}\nBegin.")
        return Prompt(messages=(system, user), anchor="Task:")

    def kind(self, function: str, arguments: dict[str, Json]) -> Kind:
        return CATALOGUE.kind(function)

    async def catalogue(self) -> Catalogue:
        return CATALOGUE

    def versions(self) -> dict[str, str]:
        return {"fake": "1"}

    def limits(self, task: Task, limits: Limits) -> Limits:
        return limits

    def for_arm(self, folder: Path, arm: str) -> Self:
        return self

    async def open(
        self, task: Task, gate: Gate, limits: Limits, *, read_only: bool = False
    ) -> FakeWorld:
        await asyncio.sleep(0)
        if self.open_error is not None:
            raise self.open_error
        self.worlds.append(FakeWorld(gate, **self._world))
        return self.worlds[-1]

    async def close(self) -> None:
        """Nothing to close."""

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *exc: object) -> None:
        """Nothing to close."""


def says(*replies: str) -> ScriptedModel:
    """A model that gives these replies in order."""
    return ScriptedModel("fake-model", Path("fake.md"), [Turn(each) for each in replies])


@dataclass
class PricedModel:
    """Gives replies in order, each with this usage and price; keeps the conversations."""

    replies: Sequence[str | Exception]
    usage: Usage | None = field(default_factory=lambda: Usage(input=100, output=10))
    cost_usd: float | None = 0.01
    name: str = "priced"
    asked: list[tuple[Message, ...]] = field(default_factory=list)

    async def complete(self, messages: Sequence[Message]) -> Reply:
        self.asked.append(tuple(messages))
        reply = self.replies[len(self.asked) - 1]
        if isinstance(reply, Exception):
            raise reply
        return Reply(text=reply, usage=self.usage, cost_usd=self.cost_usd, latency_s=0.5)


class FakeSource:
    """A source whose episodes all get the same replies; counts how many ran at once."""

    def __init__(self, *replies: str, cost_usd: float | None = 0.01, name: str = "fake") -> None:
        self.name = name
        self._replies, self._cost_usd = replies, cost_usd
        self.episodes: list[str] = []
        self.key = "key-0123456789"

    def describe(self) -> dict[str, Json]:
        return {"name": self.name}

    def secrets(self) -> tuple[str, ...]:
        return (self.key,)

    def for_episode(self, task: Task, seed: int) -> PricedModel:
        self.episodes.append(task.id)
        return PricedModel(self._replies, cost_usd=self._cost_usd, name=self.name)

    async def close(self) -> None:
        """Nothing to close."""
