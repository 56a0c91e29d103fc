"""AppWorld as a benchmark: its datasets, its tasks, and how a task is opened."""

from __future__ import annotations

import contextlib
import uuid
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Self

from adapters.appworld.data import data_version, describe_tasks, read_task
from adapters.appworld.prompt import Template
from adapters.appworld.routes import Routes
from adapters.appworld.setup import AppWorldSetup, datasets
from adapters.folders import holds_memory
from adapters.scratch import Scratch
from runtime.bridge.cell import CellProcess
from runtime.bridge.host import Child, Host
from runtime.bridge.world import SplitWorld
from runtime.catalogue import Catalogue
from runtime.contracts import Gate, Json, Kind, Limits, Prompt, Task
from runtime.errors import BadFile, UnknownName, UsageError, WorldError

__all__ = ["AppWorld"]

JAIL_CWD = "agent-cell"
"""The cell's working directory. The engine cuts this word out of error texts, so it is rare."""
OPEN_S = 60.0


class AppWorld:
    """Implements `runtime.contracts.Benchmark`. One warm process serves all episodes."""

    name = "appworld"

    def __init__(
        self,
        setup: AppWorldSetup,
        *,
        template: Template | None = None,
        outputs: Path | None = None,
        experiment: str = "contramem",
        seed: int = 100,
        token_secret: str | None = None,
        host: Host | None = None,
    ) -> None:
        """Describe a benchmark; nothing is started before it is needed.

        `outputs`: folder for AppWorld-shaped outputs, kept; without it they go to a folder that
        `close` removes, each episode to its own: the engine empties the one it opens.
        `experiment`: the name of kept ones. `seed`: of the engine. `token_secret`: signs access
        tokens; a random one per world unless given. `host`: a warm process to share; it is then
        not this benchmark's to close.
        """
        self._setup = setup
        self._template = template or Template.bundled()
        self._outputs, self._experiment = outputs, experiment
        self._scratch = Scratch(setup.scratch)
        self._routes: Routes | None = None
        self._engine_version = "not started"
        self._seed, self._token_secret = seed, token_secret
        self._owns_host = host is None
        self._host = host or Host(
            python=setup.python,
            module="adapters.appworld.zygote",
            env=setup.child_environment(),
            cwd=setup.root,
            mend="contramem setup appworld",
        )
        if outputs is not None and holds_memory(outputs / experiment):
            raise UsageError(
                f"The path {outputs / experiment} contains 'memory', which the AppWorld engine"
                " takes for a database in memory. Choose another --out or arm name."
            )

    def for_arm(self, folder: Path, arm: str) -> AppWorld:
        """Return the benchmark for one arm, its outputs in `folder`/appworld under the arm's name.

        The engine's own `appworld evaluate ARM DATASET --root folder/appworld` works on them.
        """
        return AppWorld(
            self._setup,
            template=self._template,
            outputs=folder / "appworld",
            experiment=arm,
            seed=self._seed,
            token_secret=self._token_secret,
            host=self._host,
        )

    def datasets(self) -> Sequence[str]:
        """Return the names of the data root's dataset files."""
        return datasets(self._setup.root)

    def tasks(self, dataset: str) -> Sequence[Task]:
        """Return a dataset's tasks in the file's order. Raises `UnknownName` or `BadFile`."""
        if dataset not in self.datasets():
            raise UnknownName(
                "AppWorld dataset",
                dataset,
                self.datasets(),
                hint="`contramem setup appworld --data official|mini|PATH` brings more.",
            )
        root = self._setup.root
        path = root / "data" / "datasets" / f"{dataset}.txt"
        try:
            names = [line.strip() for line in path.read_text("utf-8").splitlines() if line.strip()]
        except (OSError, UnicodeDecodeError) as error:
            raise BadFile(path, f"cannot be read ({error})") from None
        described = describe_tasks(root)
        return [read_task(root, name, dataset, described.get(name, {})) for name in names]

    def check(self, tasks: Sequence[Task]) -> None:
        """Do nothing: every task that is listed can be opened."""

    def prompt(self, task: Task) -> Prompt:
        """Return the opening messages."""
        return self._template.prompt(task)

    def kind(self, function: str, arguments: dict[str, Json]) -> Kind:  # noqa: ARG002 - protocol
        """Classify a call. Only after `catalogue` or `open` has started the warm process."""
        if self._routes is None:
            raise WorldError(
                "AppWorld's functions are known once `catalogue` or `open` was awaited."
            )
        return self._routes.catalogue.kind(function)

    async def catalogue(self) -> Catalogue:
        """Return the 457 functions of the engine's table."""
        return (await self._wiring()).catalogue

    def versions(self) -> dict[str, str]:
        """Return the engine's version (once it runs), the data's, and the prompt's hash."""
        return {
            "appworld": self._engine_version,
            "data": data_version(self._setup.root),
            "prompt": self._template.sha256[:16],
        }

    def limits(self, task: Task, limits: Limits) -> Limits:  # noqa: ARG002 - protocol
        """Return the limits as they are: all tasks have the same."""
        return limits

    async def open(
        self, task: Task, gate: Gate, limits: Limits, *, read_only: bool = False
    ) -> SplitWorld:
        """Open a task: fork a world and a locked-down cell. Raises `WorldError` or `NotReady`."""
        wiring = await self._wiring()
        params = self._params(task, limits) | {"read_only": read_only}
        world = await self._host.spawn("world", params)
        cell = CellProcess(self._host, "cell", params, grace_s=limits.stop_grace_s)
        try:
            await cell.open()
            await world.opened("The world process", OPEN_S)
        except BaseException:
            await cell.close()
            await world.end()
            raise
        return SplitWorld(cell=cell, world=world, wiring=wiring, gate=gate, limits=limits)

    async def open_plain(self, task: Task, limits: Limits) -> Child:
        """Open the engine in one process, without any boundary: for tests and benches only."""
        await self._wiring()
        plain = await self._host.spawn("plain", self._params(task, limits))
        await plain.opened("The world process", OPEN_S)
        return plain

    async def close(self) -> None:
        """End the warm process and everything it forked; remove outputs that are not kept."""
        if self._owns_host:
            await self._host.close()
        self._scratch.remove()

    async def __aenter__(self) -> Self:
        """Return the benchmark."""
        return self

    async def __aexit__(self, *exc: object) -> None:
        """Close it."""
        await self.close()

    async def _wiring(self) -> Routes:
        ready = await self._host.start()
        if self._routes is None:
            self._routes = Routes(ready["functions"])
            self._engine_version = str(ready["version"])
        return self._routes

    def _params(self, task: Task, limits: Limits) -> dict[str, Any]:
        jail = self._setup.scratch / "jail"
        (jail / JAIL_CWD).mkdir(parents=True, exist_ok=True)
        outputs = (self._outputs or self._scratch.make()).absolute()
        outputs.mkdir(parents=True, exist_ok=True)
        with contextlib.suppress(FileExistsError):
            (outputs / "data").symlink_to(self._setup.root / "data")
        return {
            "task": task.id,
            "experiment": self._experiment if self._outputs else uuid.uuid4().hex,
            "outputs": str(outputs / "experiments" / "outputs"),
            "seed": self._seed,
            "cell_s": limits.cell_s,
            "token_secret": self._token_secret,
            "jail": str(jail),
            "cwd": f"/{JAIL_CWD}",
        }
