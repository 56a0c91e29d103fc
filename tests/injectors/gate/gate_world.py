"""A small shop in memory and a runner that plays cells against a gate, for the gate's tests.

A cell is source text plus the calls it makes: the gate sees the text, the world sees the calls.
What runs is real: `run` honours decisions as the bridge does, so the world's own log is evidence.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from injectors.gate.gate import VerifyBeforeWrite
from injectors.gate.settings import GateSettings
from runtime.catalogue import Catalogue, Function, Parameter
from runtime.contracts import CallResult, CellEnd, Decision, Json, Kind, Task, ToolCall


def function(name: str, kind: Kind, parameters: str = "") -> Function:
    """`parameters`: names, with ":type" where it is no string and "=default" where there is one."""
    return Function(
        name=name, kind=kind, reason="fake", parameters=tuple(map(_parameter, parameters.split()))
    )


def _parameter(spec: str) -> Parameter:
    head, has_default, default = spec.partition("=")
    name, _, type_ = head.partition(":")
    value: Json = json.loads(default) if default else ""
    return Parameter(
        name=name,
        type=type_ or "string",
        required=not has_default,
        has_default=bool(has_default),
        default=value if has_default else None,
    )


CATALOGUE = Catalogue(
    [
        function("shop.pay", Kind.WRITE, "to amount:number note="),
        function("shop.cancel_order", Kind.WRITE, "order_id:integer"),
        function("shop.next_song", Kind.WRITE),
        function("notes.create_note", Kind.WRITE, "title content="),
        function("notes.delete_note", Kind.WRITE, "note_id:integer"),
        function("mail.send_email", Kind.WRITE, "recipients:array subject= body="),
        function("calendar.add_event", Kind.WRITE, "title start_datetime end_datetime"),
        function("calendar.edit_event", Kind.WRITE, "event_id start_datetime= end_datetime="),
        function("calendar.delete_event", Kind.WRITE, "event_id"),
        function(
            "cabs.order_ride", Kind.WRITE, "start_location end_location service_type ride_time="
        ),
        function(
            "cabs.get_quotation", Kind.READ, "start_location end_location service_type ride_time="
        ),
        function("store.add_to_cart", Kind.WRITE, "item_id quantity:integer=1"),
        function("shop.show_orders", Kind.READ, "page_index:integer=0 page_limit:integer=5"),
        function("people.search", Kind.READ, "query="),
        function("desk.complete", Kind.FINISH, "answer=null"),
        function("files.open", Kind.WRITE, "path"),
    ]
)
TASK = Task(
    benchmark="fake",
    id="t_1",
    scenario_id="t",
    dataset="mini",
    instruction="Pay ann@x.org 5 and bo@x.org 7, cancel order 12.",
)


class CellStopped(BaseException):
    """What the bridge raises in a cell that was stopped."""


class CallFailed(Exception):
    """What a failing call raises in a cell."""


@dataclass
class Runner:
    """Plays cells; `log` is what the world itself saw."""

    gate: VerifyBeforeWrite
    answers: Callable[[str, dict[str, Json]], CallResult] = lambda function, arguments: ok({})
    now: float | None = None
    log: list[tuple[str, dict[str, Json]]] = field(default_factory=list)
    decisions: list[tuple[ToolCall, Decision]] = field(default_factory=list)
    notes: str = ""
    printed: list[Json] = field(default_factory=list)
    cells: int = 0

    def call(self, name: str, **arguments: Json) -> Json:
        """Make one call, as code in a cell does."""
        call = ToolCall(
            n=len(self.decisions) + 1,
            cell=self.cells,
            function=name,
            arguments=arguments,
            kind=CATALOGUE.kind(name),
            simulated_time=self.now,
        )
        decision = self.gate.decide(call)
        self.decisions.append((call, decision))
        if decision.action in {"stop", "refuse"}:
            raise CellStopped(decision.message)
        result = decision.result
        if decision.action == "allow":
            self.log.append((name, arguments))
            result = self.answers(name, arguments)
            self.gate.done(call, result)
        assert result is not None
        if not result.ok:
            raise CallFailed(str(result.value))
        return result.value

    def run(self, source: str, program: Callable[[Runner], object]) -> str:
        """Run one cell and return how it ended; `notes` is what its observation adds."""
        self.cells += 1
        self.gate.begin_cell(source)
        status = "finished"
        try:
            program(self)
        except CellStopped:
            status = "stopped"
        except CallFailed:
            status = "raised"
        self.shown = self.gate.end_cell(CellEnd(status=status))
        self.notes = self.shown.text
        return status

    @property
    def reasons(self) -> list[str]:
        """The decisions on writes and FINISH, in order."""
        return [d.reason for call, d in self.decisions if call.kind is not Kind.READ]

    @property
    def writes(self) -> list[tuple[str, dict[str, Json]]]:
        """What the world executed, reads left out."""
        return [(name, a) for name, a in self.log if CATALOGUE.kind(name) is not Kind.READ]

    @property
    def advisory(self) -> dict[str, Json]:
        """The advisory of the latest stop."""
        found = [d.advisory for _, d in self.decisions if d.action == "stop"][-1]
        assert found is not None
        return found

    @property
    def risks(self) -> list[str]:
        """The ids of the latest advisory's risks."""
        rows = self.advisory["detected_risks"]
        assert isinstance(rows, list)
        return [str(row["id"]) for row in rows if isinstance(row, dict)]


def ok(value: Json) -> CallResult:
    """A successful answer."""
    return CallResult(ok=True, value=value, status=200, reply={"body": value})


def failure(text: str = "no") -> CallResult:
    """A refused call."""
    return CallResult(ok=False, value=text, status=422, reply={"body": text})


def runner(latch: str = "function", *, task: Task | None = TASK, **options: object) -> Runner:
    """A runner with a fresh gate."""
    settings = GateSettings(
        latch=latch,
        risk_stop=bool(options.pop("risk_stop", True)),
        advisory_tokens=int(str(options.pop("cap", 700))),
    )
    return Runner(VerifyBeforeWrite(CATALOGUE, task, settings=settings, **options))


def pays(amounts: Iterable[int], to: str = "ann@x.org") -> Callable[[Runner], object]:
    """A program that pays each amount in turn."""
    items: Sequence[int] = tuple(amounts)

    def program(cell: Runner) -> None:
        for amount in items:
            cell.call("shop.pay", to=to, amount=amount)

    return program
