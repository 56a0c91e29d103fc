"""Writes one imported run as a trace, keeping the counts that an episode of ours keeps."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from adapters.importing.sources import clean, safe_name, tame
from runtime.contracts import CellEnd, Check, Json, Kind, Limits, Task, Usage
from runtime.errors import BadFile
from runtime.masking import Masker
from runtime.records import (
    CallRecord,
    CellRecord,
    DecisionRecord,
    EndRecord,
    ErrorRecord,
    Header,
    MessageRecord,
    ModelCallRecord,
    NotificationRecord,
    ObservationRecord,
    OutcomeRecord,
    ResultRecord,
)
from runtime.trace import TraceWriter

__all__ = ["ImportedEpisode", "as_cell", "free_path", "imported_task"]

MOST_CALLS = 50_000
REASONS = {Kind.READ: "read", Kind.WRITE: "gate off", Kind.FINISH: "finish"}


def free_path(out: Path, name: str) -> Path:
    """Return a path in `out` for a trace of that name that overwrites nothing."""
    stem = safe_name(name)
    path = out / f"{stem}.jsonl"
    number = 1
    while path.exists():
        number += 1
        path = out / f"{stem}-{number}.jsonl"
    return path


def as_cell(function: str, arguments: dict[str, Json]) -> str:
    """Return a call of a GAIA2 app as a cell of ours would write it."""
    given = ", ".join(f"{name}={value!r}" for name, value in arguments.items())
    return f"print(apps.{function}({given}))"


def imported_task(
    *,
    benchmark: str,
    id: str,  # noqa: A002 - the field's name
    scenario_id: str,
    instruction: str,
    dataset: str = "imported",
    ability: str | None = None,
) -> Task:
    """Return the task of an imported run."""
    return Task(
        benchmark=benchmark,
        id=clean(id),
        scenario_id=clean(scenario_id),
        dataset=dataset,
        instruction=clean(instruction),
        ability=ability,
    )


SECRET = re.compile(
    r"""(?<![\w-])(?P<field>[\w-]{1,40})\\{0,3}["']?\s{0,3}[:=]\s{0,3}\\{0,3}["']"""
    r"""(?P<value>[^"'\\\n]{4,200})"""
)
"""A field with a quoted value, in printed JSON, in Python and in JSON within JSON.

All repeats are bounded: the texts are foreign and may be long."""


class ImportedEpisode:
    """The writer of one trace. Use as a context manager and end with `finish`.

    A run of ours teaches its masker by the results of calls; here a secret may stand in printed
    text only, so texts are searched for secrets too.

    Times are seconds since `begun` (the run's own clock); earlier ones count as 0.
    """

    def __init__(
        self, path: Path, task: Task, *, source: str, root: Path, model: str, begun: float
    ) -> None:
        """`source`: what the header says; `root`: the folder that is left out of error texts."""
        self.path, self._root = path, root
        self._masker = Masker()
        self._writer = TraceWriter(path, self._masker)
        self._begun, self._last = begun, 0.0
        self._cells = self._calls = self._steps = self._calls_of_cell = 0
        self._usage = Usage()
        self._passed: bool | None = None
        self.problems: list[BadFile] = []
        self._writer.write(
            Header(
                episode=path.stem,
                task=task,
                model={"name": clean(model) or "unknown"},
                arm={"name": "imported"},
                limits=Limits(),
                prompt_sha256="",
                source=source,
            )
        )

    def __enter__(self) -> ImportedEpisode:
        """Return the episode."""
        return self

    def __exit__(self, *exc: object) -> None:
        """Close the file; what is not finished stays a `.part`."""
        self._writer.close()

    def learn(self, value: Json) -> None:
        """Learn the secrets in a value that comes later, so that they are masked from now on."""
        self._masker.mask(tame(value))

    def says(self, role: Literal["system", "user", "assistant"], text: str, at: float) -> None:
        """Add a message."""
        if text:
            content = self._text(text)
            self._writer.write(MessageRecord(t=self._t(at), role=role, content=content))

    def model_call(
        self,
        at: float,
        *,
        usage: Usage | None = None,
        latency_s: float = 0.0,
        finish_reason: str = "",
        served_model: str = "",
        attempts: int = 1,
    ) -> None:
        """Add a completion; the assistant message follows. Its price is unknown."""
        self._steps += 1
        self._usage += usage or Usage()
        self._writer.write(
            ModelCallRecord(
                t=self._t(at),
                step=self._steps,
                usage=usage,
                cost_usd=None,
                latency_s=latency_s,
                finish_reason=clean(finish_reason),
                served_model=clean(served_model),
                attempts=attempts,
            )
        )

    def cell(self, source: str, at: float) -> None:
        """Begin a cell."""
        self._cells += 1
        self._calls_of_cell = 0
        self._writer.write(CellRecord(t=self._t(at), cell=self._cells, source=self._text(source)))

    def call(
        self,
        function: str,
        arguments: dict[str, Json],
        kind: Kind,
        at: float,
        *,
        simulated_time: float | None = None,
    ) -> int:
        """Add a call of the running cell; return its number. Calls beyond a bound are dropped."""
        self._calls += 1
        self._calls_of_cell += 1
        if self._calls <= MOST_CALLS:
            tamed = tame(arguments)
            self._writer.write(
                CallRecord(
                    t=self._t(at),
                    n=self._calls,
                    cell=self._cells,
                    function=clean(function),
                    arguments=tamed if isinstance(tamed, dict) else {},
                    kind=kind,
                    simulated_time=simulated_time,
                    decision=DecisionRecord(action="allow", reason=REASONS[kind]),
                )
            )
        return self._calls

    def result(self, number: int, value: Json, at: float, *, ok: bool = True) -> None:
        """Add what call `number` gave back, where the source has it."""
        if number <= MOST_CALLS:
            self._writer.write(ResultRecord(t=self._t(at), n=number, ok=ok, value=tame(value)))

    def observation(
        self, text: str, at: float, *, raised: bool = False, done: bool = False
    ) -> None:
        """End the running cell."""
        self._writer.write(
            ObservationRecord(
                t=self._t(at),
                cell=self._cells,
                text=self._text(text),
                end=CellEnd(status="raised" if raised else "finished"),
                calls=self._calls_of_cell,
                wall_s=0.0,
                done=done,
            )
        )

    def notification(self, text: str, at: float) -> None:
        """Add what the world told the agent."""
        self._writer.write(NotificationRecord(t=self._t(at), text=self._text(text)))

    def outcome(self, *, passed: bool, checks: Sequence[Check] = ()) -> None:
        """Add the verdict."""
        self._passed = passed
        tidy = tuple(
            Check(
                requirement=clean(check.requirement),
                passed=check.passed,
                detail=clean(check.detail),
            )
            for check in checks
        )
        self._writer.write(OutcomeRecord(t=self._last, passed=passed, checks=tidy))

    def problem(self, problem: BadFile) -> None:
        """Note what could not be read: in the trace and for the report."""
        self.problems.append(problem)
        self._error("BadFile", str(problem).removeprefix(f"{self._root}/"))

    def finish(self) -> Path:
        """End the trace. A run without a verdict counts as errored: no rate may count it."""
        if self._passed is None:
            self._error("NoVerdict", "The source does not say whether this run passed.")
        if self._calls > MOST_CALLS:
            self._error("TooLong", f"{self._calls - MOST_CALLS} calls were dropped at import.")
        status: Literal["passed", "failed", "errored"] = "passed" if self._passed else "failed"
        self._writer.write(
            EndRecord(
                t=self._last,
                status="errored" if self._passed is None else status,
                steps=self._steps,
                calls=self._calls,
                events=self._calls + self._cells,
                usage=self._usage,
                wall_s=self._last,
            )
        )
        self._writer.finish()
        return self.path

    def _text(self, text: str) -> str:
        """Return the text cleaned, after learning the secrets that it spells out."""
        text = clean(text)
        self._masker.mask([{found["field"]: found["value"]} for found in SECRET.finditer(text)])
        return text

    def _error(self, error: str, message: str) -> None:
        self._writer.write(ErrorRecord(t=self._last, error=error, message=clean(message)))

    def _t(self, at: float) -> float:
        elapsed = at - self._begun
        self._last = max(self._last, round(elapsed, 4)) if 0 <= elapsed < 1e9 else self._last
        return self._last
