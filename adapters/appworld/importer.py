"""Reads AppWorld output folders, other harnesses' included, into our traces.

The engine logs cells with their outputs, and apart from them the requests, without response or
cell. So a request is given to the first cell, from the last one on, that names its function; that
is exact where neighbouring cells use different functions. Requests have no result in the trace.
"""

from __future__ import annotations

from pathlib import Path

from adapters.appworld.guess import (
    arguments_in_path,
    best_name,
    named_functions,
    plain_name,
    shape_of,
)
from adapters.appworld.kinds import kind_of
from adapters.appworld.matching import mended, writers
from adapters.appworld.output_folder import (
    INTERACTIONS,
    Interaction,
    Request,
    TaskOutput,
    read_output,
)
from adapters.importing.episode import ImportedEpisode, free_path, imported_task
from adapters.importing.replies import ForeignReply
from adapters.importing.report import ImportReport
from adapters.importing.requests import Said, news
from runtime.contracts import Kind
from runtime.errors import BadFile

__all__ = ["import_appworld"]


def import_appworld(folder: Path, out: Path) -> ImportReport:
    """Import an experiment's output folder, or one task's, into the folder `out`.

    Raises `BadFile` if there is no task's output; what else is wrong is in the report.
    """
    places = sorted(path.parent.parent for path in _logs(folder))
    if not places:
        raise BadFile(
            folder, f"expected tasks/TASK/logs/{INTERACTIONS} in an AppWorld output folder"
        )
    traces: list[Path] = []
    problems: list[BadFile] = []
    for place in places:
        output = read_output(place)
        if not output.interactions:
            problems += output.problems
            continue
        output.lm_calls = mended(output.lm_calls, output.sources)
        with _open(output, out) as episode:
            _tell(output, episode)
            traces.append(episode.finish())
        problems += episode.problems
    if not traces:
        raise problems[0]
    return ImportReport(traces=tuple(traces), problems=tuple(problems))


def _logs(folder: Path) -> list[Path]:
    patterns = (f"logs/{INTERACTIONS}", f"tasks/*/logs/{INTERACTIONS}", f"*/logs/{INTERACTIONS}")
    return next((found for found in map(list, map(folder.glob, patterns)) if found), [])


def _open(output: TaskOutput, out: Path) -> ImportedEpisode:
    task = output.folder.resolve().name
    asked = [said for call in output.lm_calls[:1] for said in call.asked if said.role == "user"]
    models = (call.reply.model for call in output.lm_calls if call.reply and call.reply.model)
    return ImportedEpisode(
        free_path(out, task),
        imported_task(
            benchmark="appworld",
            id=task,
            scenario_id=task.rpartition("_")[0] or task,
            instruction=asked[-1].text if asked else "",
        ),
        source=f"appworld:{output.folder.resolve().parent.parent.name}/{task}",
        root=output.folder,
        model=next(models, ""),
        begun=0.0,
    )


def _tell(output: TaskOutput, episode: ImportedEpisode) -> None:
    for problem in output.problems:
        episode.problem(problem)
    for request in output.requests:
        episode.learn(request.data)
    namer = _Namer(output.interactions)
    shares = namer.shares(output.requests)
    talk = _Talk(episode, output)
    for number, (cell, requests) in enumerate(zip(output.interactions, shares, strict=True)):
        talk.before(number)
        episode.cell(cell.source, 0.0)
        done = _calls(episode, namer, number, requests) and not cell.raised
        episode.observation(cell.output, 0.0, raised=cell.raised, done=done)
        if not output.lm_calls:
            episode.says("user", f"Output:\n{cell.output}", 0.0)
    talk.after()
    if output.verdict is not None:
        passed, checks = output.verdict
        episode.outcome(passed=passed, checks=checks)


def _calls(episode: ImportedEpisode, namer: _Namer, number: int, requests: list[Request]) -> bool:
    """Write a cell's calls; say whether one of them completes the task."""
    finished = False
    for request in requests:
        name = namer.name(number, request) or plain_name(request.method, request.path)
        function = f"{request.app}.{name}"
        kind = Kind(kind_of(function, request.method.upper())[0])
        arguments = {**arguments_in_path(request.path), **request.data}
        episode.call(function, arguments, kind, 0.0)
        finished = finished or kind is Kind.FINISH
    return finished


class _Namer:
    """Names requests by the code of a cell. Names are looked up once a cell and shape of path."""

    def __init__(self, cells: list[Interaction]) -> None:
        self._cells = cells
        self._names: dict[tuple[int, str], frozenset[str]] = {}
        self._found: dict[tuple[int, str, str, str], str | None] = {}

    def name(self, number: int, request: Request) -> str | None:
        """Return the function behind a request, if the code of cell `number` leads to one."""
        shape = shape_of(request.path)
        key = (number, request.app, request.method, shape)
        if key not in self._found:
            names = self._of(number, request.app)
            self._found[key] = best_name(request.app, request.method, shape, names)
        return self._found[key]

    def fits(self, number: int, request: Request) -> bool:
        """Whether the code of cell `number` names the function behind a request."""
        return self.name(number, request) in self._of(number, request.app)

    def shares(self, requests: list[Request]) -> list[list[Request]]:
        """Give each request to a cell, keeping the order of both."""
        shares: list[list[Request]] = [[] for _ in self._cells]
        current = 0
        for request in requests:
            later = range(current, len(shares))
            current = next((at for at in later if self.fits(at, request)), current)
            shares[current].append(request)
        return shares

    def _of(self, number: int, app: str) -> frozenset[str]:
        if (number, app) not in self._names:
            self._names[number, app] = named_functions(self._cells[number].source, app)
        return self._names[number, app]


class _Talk:
    """Tells the conversation around the cells, as far as model calls were logged."""

    def __init__(self, episode: ImportedEpisode, output: TaskOutput) -> None:
        self._episode, self._calls, self._cells = episode, output.lm_calls, output.sources
        self._writers = writers(self._calls, self._cells)
        self._next = 0
        self._told: tuple[Said, ...] = ()

    def before(self, number: int) -> None:
        """Tell what led to cell `number`, from 0, and the replies before it that wrote no cell."""
        written = f"```python\n{self._cells[number]}\n```"
        if number not in self._writers:
            self._episode.says("assistant", written, 0.0)
            return
        while self._next < self._writers[number]:
            self._tell()
        self._tell(otherwise=written)

    def after(self) -> None:
        """Tell the replies behind the last cell."""
        while self._next < len(self._calls):
            self._tell()

    def _tell(self, *, otherwise: str = "") -> None:
        """Tell the next call. `otherwise` stands for a reply that has no text."""
        call = self._calls[self._next]
        self._next += 1
        for said in news(self._told, call.asked):
            if said.role != "assistant":
                self._episode.says("system" if said.role == "system" else "user", said.text, 0.0)
        self._told = call.asked or self._told
        reply = call.reply or ForeignReply(text="")
        self._episode.model_call(
            0.0,
            usage=reply.usage,
            finish_reason=reply.finish_reason,
            served_model=reply.model,
        )
        self._episode.says("assistant", reply.text or otherwise, 0.0)
