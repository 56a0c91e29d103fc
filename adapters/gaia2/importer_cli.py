"""Reads runs of gaia2-cli, the container stack around GAIA2, into our traces.

A reply with tool calls becomes a cell; the app calls logged until the next request are its calls;
what the tools gave back, as the next request shows it, is its observation. Without a trace.jsonl
each app call becomes a cell of its own.
"""

from __future__ import annotations

import json
from pathlib import Path

from adapters.gaia2.cli_export import CliRun, Event, ModelCall, is_run, read_run
from adapters.gaia2.known_tools import APP_NAMES, kind_in_a_file
from adapters.importing.episode import ImportedEpisode, as_cell, free_path, imported_task
from adapters.importing.replies import ForeignReply, ToolUse
from adapters.importing.report import ImportReport
from adapters.importing.requests import Said, news
from adapters.importing.sources import text_of
from runtime.contracts import Check, Kind
from runtime.errors import BadFile

__all__ = ["import_gaia2_cli"]


def import_gaia2_cli(folder: Path, out: Path) -> ImportReport:
    """Import one run's folder, or every run below a folder, into the folder `out`.

    Raises `BadFile` if there is no run; what else is wrong is in the report.
    """
    runs = [folder] if is_run(folder) else sorted(filter(is_run, _below(folder)))
    if not runs:
        raise BadFile(
            folder, "expected a folder with trace.jsonl or events.jsonl, or folders of it"
        )
    traces: list[Path] = []
    problems: list[BadFile] = []
    for place in runs:
        run = read_run(place)
        if not run.calls and not run.events:
            problems += run.problems or [
                BadFile(place, "its files hold no model call and no event")
            ]
            continue
        with _open(run, out) as episode:
            _Story(episode).tell(run)
            traces.append(episode.finish())
        problems += episode.problems
    if not traces:
        raise problems[0]
    return ImportReport(traces=tuple(traces), problems=tuple(problems))


def _below(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_dir()] if folder.is_dir() else []


def _open(run: CliRun, out: Path) -> ImportedEpisode:
    scenario = run.folder.resolve().name
    asked = run.calls[0].asked if run.calls else ()
    starts = [call.at - call.latency_s for call in run.calls[:1]]
    models = (call.reply.model for call in run.calls if call.reply and call.reply.model)
    return ImportedEpisode(
        free_path(out, scenario),
        imported_task(
            benchmark="gaia2",
            id=scenario,
            scenario_id=scenario,
            instruction=next((said.text for said in asked if said.role == "user"), ""),
        ),
        source=f"gaia2-cli:{scenario}",
        root=run.folder,
        model=next(models, ""),
        begun=min([*starts, *(event.at for event in run.events[:1])], default=0.0),
    )


class _Story:
    """Puts the two logs of a run into one order."""

    def __init__(self, episode: ImportedEpisode) -> None:
        self._episode = episode
        self._source: str | None = None
        """Of the cell that is running."""
        self._told: tuple[Said, ...] = ()
        self._heard = True
        """Whether the last reply said something that could be read."""
        self._attempts = 1

    def tell(self, run: CliRun) -> None:
        """Write the whole run."""
        for problem in run.problems:
            self._episode.problem(problem)
        events = list(run.events)
        for call in run.calls:
            while events and events[0].at < call.at - call.latency_s:
                self._event(events.pop(0))
            self._model_call(call)
        for event in events:
            self._event(event)
        last = max([call.at for call in run.calls] + [event.at for event in run.events])
        self._end_cell("", last)
        if run.verdict is not None:
            passed, why = run.verdict
            check = Check(requirement="The judge accepts every turn.", passed=passed, detail=why)
            self._episode.outcome(passed=passed, checks=(check,))

    def _model_call(self, call: ModelCall) -> None:
        if call.failed:
            self._attempts += 1
            return
        fresh = news(self._told, call.asked)
        self._told = call.asked
        begun = call.at - call.latency_s
        self._end_cell("\n".join(said.text for said in fresh if said.role == "tool"), begun)
        for said in fresh:
            if said.role == "assistant":
                if not self._heard:
                    self._episode.says("assistant", said.text, begun)
            else:
                self._episode.says("system" if said.role == "system" else "user", said.text, begun)
        self._heard = call.reply is not None and call.reply.says_something
        self._reply(call, call.reply or ForeignReply(text=""))

    def _reply(self, call: ModelCall, reply: ForeignReply) -> None:
        self._episode.model_call(
            call.at,
            usage=reply.usage,
            latency_s=call.latency_s,
            finish_reason=reply.finish_reason,
            served_model=reply.model,
            attempts=self._attempts,
        )
        self._attempts = 1
        source = "\n".join(map(_command, reply.tools))
        self._episode.says("assistant", f"{reply.text}\n{source}".strip(), call.at)
        if source:
            self._episode.cell(source, call.at)
            self._source = source

    def _event(self, event: Event) -> None:
        if event.from_environment or event.function == "send_message_to_agent":
            words = (
                f"{event.app}.{event.function} {json.dumps(event.arguments, ensure_ascii=False)}"
            )
            self._episode.notification(words, event.at)
            return
        function = f"{self._app(event.app)}.{event.function}"
        alone = self._source is None
        if alone:
            self._episode.cell(as_cell(function, event.arguments), event.at)
        kind = kind_in_a_file(function, event.arguments, "WRITE" if event.writes else "READ")
        number = self._episode.call(
            function,
            event.arguments,
            Kind(kind),
            event.at,
            simulated_time=event.simulated_time,
        )
        self._episode.result(number, event.result, event.at)
        if alone:
            self._episode.observation(text_of(event.result), event.at)

    def _app(self, name: str) -> str:
        """Return the app's name. Messages and Chats share a class: the command tells them apart."""
        known = APP_NAMES.get(name, name)
        if known == "Messages" and "chats" in (self._source or "").lower():
            return "Chats"
        return known

    def _end_cell(self, output: str, at: float) -> None:
        if self._source is not None:
            self._episode.observation(output, at)
            self._source = None


def _command(tool: ToolUse) -> str:
    """Return what a tool call runs: its command if it has one, else its arguments."""
    arguments = tool.arguments
    if isinstance(arguments, dict):
        for name in ("command", "cmd", "code"):
            if isinstance(command := arguments.get(name), str):
                return command
    return f"{tool.name} {text_of(arguments)}".strip()
