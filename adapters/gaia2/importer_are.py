"""Reads runs that ARE exported into our traces.

With the `hf` file alone each event of the agent becomes a cell of one call. With the `lite` file
too, or alone, the trace follows the agent's history, and each action in it is matched with its
event, which knows its arguments, its result and its time.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

from adapters.gaia2.are_export import Event, Run, Said, open_run
from adapters.gaia2.known_tools import kind_in_a_file
from adapters.importing.episode import ImportedEpisode, as_cell, free_path, imported_task
from adapters.importing.report import ImportReport
from adapters.importing.sources import as_row, text_of
from runtime.contracts import Check, Json, Kind

__all__ = ["import_are"]

ACTION = re.compile(r"Action:\s*(?=\{)")
FURTHEST = 40
"""Events among which an action's own is looked for."""
FAILED = re.compile(r"^\[OUTPUT OF STEP \d+\] ERROR:")


def import_are(path: Path, out: Path) -> ImportReport:
    """Import the run that `path` (its hf or its lite file) belongs to into the folder `out`.

    The other file is looked for under the same name, in `lite/` beside `hf/` or the reverse.
    Raises `BadFile` if `path` is no ARE export; what else is wrong is in the report.
    """
    run = open_run(path)
    task = imported_task(
        benchmark="gaia2",
        id=run.scenario_id,
        scenario_id=run.scenario_id,
        instruction=run.instruction,
        ability=run.ability,
    )
    with ImportedEpisode(
        free_path(out, run.scenario_id),
        task,
        source=f"are:{path.name}",
        root=path.parent,
        model=run.model,
        begun=run.begun,
    ) as episode:
        for problem in run.problems:
            episode.problem(problem)
        if run.history:
            _Joined(episode, run).tell(run.history)
        else:
            _tell_events(episode, run.events)
        if run.verdict is not None:
            passed, why = run.verdict
            check = Check(requirement="The scenario is validated.", passed=passed, detail=why)
            episode.outcome(passed=passed, checks=(check,))
        trace = episode.finish()
    return ImportReport(traces=(trace,), problems=tuple(episode.problems))


class _Joined:
    """Tells a run by its history, with the events' arguments, results and times."""

    def __init__(self, episode: ImportedEpisode, run: Run) -> None:
        self._episode, self._events, self._usages = episode, run.events, run.usages()
        self._place = 0
        self._running: Event | None = None
        self._open: int | None = None

    def tell(self, history: list[Said]) -> None:
        """Write the whole run."""
        for said in history:
            if said.role == "assistant":
                self._assistant(said.text, said.at)
            elif said.role.startswith("tool"):
                self._observe(said.text, said.at)
            else:
                self._episode.says(
                    "system" if said.role == "system" else "user", said.text, said.at
                )
        self._close("", history[-1].at)
        while self._place < len(self._events):
            self._pass(self._events[self._place])

    def _assistant(self, content: str, at: float) -> None:
        self._close("", at)
        usage = self._usages.pop(0) if self._usages else None
        self._episode.model_call(at, usage=usage)
        self._episode.says("assistant", content, at)
        if (action := _action(content)) is None:
            return
        function, arguments = action
        event = self._match(function, arguments)
        when = event.at if event else at
        self._episode.cell(as_cell(function, arguments), at)
        self._running = event
        self._open = self._episode.call(
            function,
            event.arguments if event else arguments,
            _kind(event) if event else Kind(kind_in_a_file(function, arguments)),
            when,
            simulated_time=event.at if event else None,
        )

    def _match(self, function: str, arguments: dict[str, Json]) -> Event | None:
        """Return the action's event, after telling what came before it.

        None if there is none: ARE logs no event for a call with wrong arguments. Some tools log
        calls that they make themselves, so the event need not be the next one.
        """
        ahead = range(self._place, min(self._place + FURTHEST, len(self._events)))
        for place in ahead:
            event = self._events[place]
            same = all(event.arguments.get(name) == value for name, value in arguments.items())
            if event.kind == "AGENT" and event.function == function and same:
                while self._place < place:
                    self._pass(self._events[self._place])
                self._place = place + 1
                return event
        return None

    def _observe(self, content: str, at: float) -> None:
        self._close(content, at)
        self._episode.says("user", content, at)

    def _close(self, content: str, at: float) -> None:
        """End the running cell, if there is one."""
        if self._open is None:
            return
        event, failed = self._running, bool(FAILED.match(content))
        if event is not None:
            failed = event.exception is not None
        value = content if event is None or failed else event.result
        self._episode.result(self._open, value, event.at if event else at, ok=not failed)
        self._episode.observation(content or text_of(value), at, raised=failed)
        self._open = self._running = None

    def _pass(self, event: Event) -> None:
        """Tell an event that no action asked for. A read among them is a tool's own look-up."""
        self._place += 1
        if event.kind == "AGENT" and _kind(event) is not Kind.READ:
            _tell_call(self._episode, event)
        elif event.kind == "ENV":
            self._episode.notification(_words(event), event.at)


def _tell_events(episode: ImportedEpisode, events: list[Event]) -> None:
    for event in events:
        if event.kind == "AGENT":
            _tell_call(episode, event)
        elif event.function.endswith(".send_message_to_agent"):
            episode.says("user", text_of(event.arguments.get("content")), event.at)
        else:
            episode.notification(_words(event), event.at)


def _tell_call(episode: ImportedEpisode, event: Event) -> None:
    episode.cell(as_cell(event.function, event.arguments), event.at)
    number = episode.call(
        event.function, event.arguments, _kind(event), event.at, simulated_time=event.at
    )
    failed = event.exception is not None
    episode.result(number, event.exception if failed else event.result, event.at, ok=not failed)
    text = event.exception if failed else text_of(event.result)
    episode.observation(text or "", event.at, raised=failed)


def _action(content: str) -> tuple[str, dict[str, Json]] | None:
    found = ACTION.search(content)
    if found is None:
        return None
    try:
        action, _ = json.JSONDecoder().raw_decode(content, found.end())
    except (ValueError, RecursionError):
        return None
    name = text_of(as_row(action).get("action"))
    given = as_row(action).get("action_input")
    arguments = as_row(given)
    if given and not arguments:
        arguments = {"input": given}
    return (name.replace("__", ".", 1), arguments) if name else None


def _kind(event: Event) -> Kind:
    return Kind(kind_in_a_file(event.function, event.arguments, event.operation))


def _words(event: Event) -> str:
    return f"{event.function} {json.dumps(event.arguments, ensure_ascii=False)}"
