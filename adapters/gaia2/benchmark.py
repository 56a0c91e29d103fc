"""GAIA2 as a benchmark: its datasets, its tasks, and how a scenario is opened."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Self

from adapters.gaia2.calls import Tools
from adapters.gaia2.checks import checks_of, require_sound
from adapters.gaia2.episode import Gaia2World, think_time
from adapters.gaia2.judge import Judge
from adapters.gaia2.prompt import opening, rules_sha256
from adapters.gaia2.setup import Gaia2Setup
from adapters.gaia2.tasks import read_task
from adapters.scratch import Scratch
from runtime.bridge.cell import CellProcess
from runtime.bridge.host import Host
from runtime.bridge.wire import Frame
from runtime.catalogue import Catalogue
from runtime.contracts import ChatModel, Gate, Json, Kind, Limits, Prompt, Task
from runtime.errors import UnknownName, UsageError

__all__ = ["TIME_WALL_S", "Gaia2"]

TIME_WALL_S = 900.0
"""Wall time of an episode of the Time ability, in every arm (memory.md section 9)."""
SCENARIO_CLASS = "scenario_class"
"""Key of `Task.context` that names one of ARE's own scenario classes (`module:Class`)."""
WORLDS, CELLS = "adapters.gaia2.zygote", "adapters.gaia2.cell"
OPEN_S = 120.0


class Gaia2:
    """Implements `runtime.contracts.Benchmark`. Two warm processes serve all episodes.

    One runs ARE's interpreter and forks worlds; one runs ours and forks cells.
    """

    name = "gaia2"

    def __init__(
        self,
        setup: Gaia2Setup,
        *,
        judge: ChatModel | None = None,
        think: str = "zero",
        seed: int = 0,
    ) -> None:
        """Describe a benchmark; nothing is started before it is needed.

        `judge`: model for scenarios without scripted checks. `think`: what a model call costs on
        the world's clock, `zero`, `measured` or `fixed:SECONDS`. `seed`: of `random` in cells.
        """
        self._setup, self._judge, self._seed = setup, judge, seed
        self._think, self._think_setting = think_time(think), think
        self._scratch = Scratch(setup.scratch)
        self._version = "not started"
        self._scenarios: dict[str, dict[str, Path]] = {}
        self._tables: dict[str, Tools] = {}
        self._began: dict[str, float] = {}
        self._distinct: dict[str, Tools] = {}
        self._general: Tools | None = None
        self._hosts: tuple[Host, Host] | None = None

    def datasets(self) -> Sequence[str]:
        """Return the datasets of all data roots."""
        return sorted(self._setup.datasets())

    def tasks(self, dataset: str) -> Sequence[Task]:
        """Return a dataset's tasks. Raises `UnknownName` or `BadFile`."""
        return [read_task(path, dataset) for path in self._files(dataset)]

    def limits(self, task: Task, limits: Limits) -> Limits:
        """Return the limits for a task: the Time ability has a longer wall time in every arm."""
        if task.ability != "Time":
            return limits
        return limits.model_copy(update={"wall_s": max(limits.wall_s, TIME_WALL_S)})

    def check(self, tasks: Sequence[Task]) -> None:
        """Raise `UsageError` for a scenario that lacks a judge or sound checks."""
        for task in tasks:
            self._judge_for(task, scripted=self._params(task)["checks"] is not None)

    def prompt(self, task: Task) -> Prompt:
        """Return the opening messages. Raises `UsageError` for a task that was never opened."""
        if task.id not in self._tables:
            raise UsageError(f"Open {task.id} first: its tools are known once its world is.")
        rows = list(self._tables[task.id].rows.values())
        return opening(task, rows, time=self._began[task.id])

    def kind(self, function: str, arguments: dict[str, Json]) -> Kind:
        """Classify a call; WRITE before anything was opened, and for unknown functions."""
        tables = [self._general, *self._tables.values()]
        known = next((t for t in tables if t is not None and function in t.rows), None)
        return known.kind(function, arguments) if known is not None else Kind.WRITE

    async def catalogue(self) -> Catalogue:
        """Return the tools of GAIA2's apps under their usual names."""
        if self._general is None:
            self._general = Tools((await self._start())["functions"])
        return self._general.catalogue

    def versions(self) -> dict[str, str]:
        """Return ARE's version (once it runs), the prompt's hash and what thinking costs."""
        return {
            "meta-agents-research-environments": self._version,
            "prompt": rules_sha256()[:16],
            "think_time": self._think_setting,
        }

    def for_arm(self, folder: Path, arm: str) -> Gaia2:  # noqa: ARG002 - protocol
        """Return itself: nothing is written besides the trace."""
        return self

    async def open(
        self, task: Task, gate: Gate, limits: Limits, *, read_only: bool = False
    ) -> Gaia2World:
        """Open a scenario: fork a world and a locked-down cell.

        Raises `WorldError`, and `UsageError` for a scenario that lacks a judge or sound checks.
        """
        params = await asyncio.to_thread(self._params, task) | {"read_only": read_only}
        judge = self._judge_for(task, scripted=params["checks"] is not None)
        await self._start()
        worlds, cells = self._warm()
        world = await worlds.spawn("world", params)
        cell: CellProcess | None = None
        opened = False
        try:
            ready = await world.opened("The world process", OPEN_S)
            tools = self._tables[task.id] = self._shared(ready["tools"])
            self._began[task.id] = ready["time"]
            about = {"docs": tools.docs(), "seed": self._seed, "jail": str(self._jail)}
            cell = CellProcess(cells, "cell", about, grace_s=limits.stop_grace_s)
            await cell.open()
            opened = True
        finally:
            if not opened:
                if cell is not None:
                    await cell.close()
                await world.end()
        return Gaia2World(
            cell=cell,
            world=world,
            wiring=tools,
            gate=gate,
            limits=limits,
            started=ready["time"],
            think=self._think,
            judge=judge,
            show_time=task.ability == "Time",
        )

    async def close(self) -> None:
        """End the warm processes and everything they forked."""
        for host in self._hosts or ():
            await host.close()
        self._hosts = None
        self._scratch.remove()

    async def __aenter__(self) -> Self:
        """Return the benchmark."""
        return self

    async def __aexit__(self, *exc: object) -> None:
        """Close it."""
        await self.close()

    def _shared(self, rows: list[dict[str, Any]]) -> Tools:
        """Return the one table with these rows: most scenarios have the same apps."""
        return self._distinct.setdefault(json.dumps(rows), Tools(rows))

    async def _start(self) -> Frame:
        ready = await self._warm()[0].start()
        self._version = ready["version"]
        return ready

    def _warm(self) -> tuple[Host, Host]:
        if self._hosts is None:
            home = self._scratch.make()
            self._jail.mkdir()
            (home / "files").mkdir()
            theirs = {
                **self._setup.child_environment(),
                "DEMO_FS_PATH": str(home / "files"),
                "PYTHONWARNINGS": "ignore",
                "TMPDIR": str(home),
            }
            ours = {"LANG": "C.UTF-8", "PATH": os.defpath, "PYTHONHASHSEED": "0", "TZ": "UTC"}
            cells = Path(sys.executable)
            self._hosts = (
                Host(
                    python=self._setup.python,
                    module=WORLDS,
                    env=theirs,
                    cwd=home,
                    mend="contramem setup gaia2",
                ),
                Host(python=cells, module=CELLS, env=ours, cwd=home),
            )
        return self._hosts

    @property
    def _jail(self) -> Path:
        return self._scratch.make() / "jail"

    def _params(self, task: Task) -> dict[str, Any]:
        own = task.context.get(SCENARIO_CLASS)
        path = None if own else self._file(task)
        checks = checks_of(path) if path else None
        if path and checks:
            require_sound(checks, path)
        return {
            "scenario": own or str(path),
            "checks": str(checks) if checks else None,
            "patient": task.ability == "Time",
        }

    def _file(self, task: Task) -> Path:
        if task.dataset not in self._scenarios:  # read once: a run asks for every task's file
            named = {path.stem: path for path in self._files(task.dataset)}
            self._scenarios[task.dataset] = named
        files = self._scenarios[task.dataset]
        if task.id not in files:
            raise UnknownName("GAIA2 scenario", task.id, files)
        return files[task.id]

    def _files(self, dataset: str) -> Sequence[Path]:
        known = self._setup.datasets()
        if dataset not in known:
            hint = "`contramem setup gaia2 --data official|PATH` brings more."
            raise UnknownName("GAIA2 dataset", dataset, known, hint)
        return known[dataset]

    def _judge_for(self, task: Task, *, scripted: bool) -> Judge | None:
        if scripted or SCENARIO_CLASS in task.context:
            return None
        if self._judge is None:
            raise UsageError(
                f"{task.id} has no scripted checks, so its judge needs a model. Name one with"
                " --judge MODEL."
            )
        return Judge(self._judge)
