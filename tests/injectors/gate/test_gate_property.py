"""Random cells under every latch: a cell that is sent again unchanged writes nothing twice."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from random import Random

from gate_world import CallFailed, CellStopped, Runner, failure, ok, runner
from hypothesis import given, settings
from hypothesis import strategies as st

from injectors.gate.risks import RISKS, Risk
from injectors.gate.situation import Situation
from runtime.contracts import CallResult, Json

PARAMETERS = {
    "shop.pay": "amount",
    "notes.create_note": "title",
    "shop.cancel_order": "order_id",
    "desk.complete": "answer",
    "people.search": "query",
}
HIDDEN = "shop.cancel_order"
"""The source does not name it, so that cells are stopped in the middle."""
WRITES = ("shop.pay", "notes.create_note", HIDDEN)


@dataclass(frozen=True)
class Step:
    function: str
    value: int
    tolerant: bool
    """The cell catches its failure."""


STEPS = st.builds(
    Step,
    st.sampled_from([*PARAMETERS]),
    st.integers(0, 6),
    st.booleans(),
)
CELLS = st.lists(st.lists(STEPS, max_size=8), min_size=1, max_size=4)


def alarming(situation: Situation) -> str | None:
    """A high-confidence risk that depends on arguments: it stops loops in the middle."""
    return "alarm" if "6" in situation.key.arguments or "3" in situation.key.arguments else None


@dataclass
class FlakyWorld:
    """Fails some calls, a number of times each."""

    failures: dict[tuple[str, int], int]
    succeeded: Counter[tuple[str, int]]

    def __call__(self, function: str, arguments: dict[str, Json]) -> CallResult:
        value = int(str(arguments[PARAMETERS[function]]))
        key = (function, value)
        if self.failures.get(key, 0) > 0:
            self.failures[key] -= 1
            return failure()
        self.succeeded[key] += 1
        return ok({"done": value})


def play(steps: list[Step]) -> Callable[[Runner], object]:
    def program(cell: Runner) -> None:
        for step in steps:
            try:
                cell.call(step.function, **{PARAMETERS[step.function]: str(step.value)})
            except CallFailed:
                if not step.tolerant:
                    raise

    return program


def source_of(number: int, steps: list[Step]) -> str:
    names = ["hidden" if step.function == HIDDEN else f"apis.{step.function}" for step in steps]
    return "\n".join([f"# cell {number}", *(f"{name}()" for name in names)])


@settings(max_examples=120, deadline=None)
@given(
    cells=CELLS,
    latch=st.sampled_from(["call", "function", "cell"]),
    failing=st.dictionaries(
        st.tuples(st.sampled_from(WRITES), st.integers(0, 6)), st.integers(1, 2)
    ),
    order=st.none() | st.randoms(use_true_random=False),
)
def test_no_write_executes_twice_because_of_a_stop(
    cells: list[list[Step]], latch: str, failing: dict[tuple[str, int], int], order: Random | None
) -> None:
    """`order`: the cell reads something else each time and so makes its calls in another order."""
    for number, steps in enumerate(cells):
        run = runner(latch, risks=[Risk("alarm", "high", alarming)])
        world = FlakyWorld(dict(failing), Counter())
        run.answers = world
        source = source_of(number, steps)
        on_record, end = False, ""
        for _ in range(60):
            end = run.run(source, play(order.sample(steps, len(steps)) if order else steps))
            on_record |= end == "stopped" and "executed_writes" in run.advisory
            if end == "finished" or (end == "raised" and not on_record):
                break  # code that fails by itself is the agent's to mend: the ledger tells it
        assert end in {"finished", "raised"}
        check_each_once(run, world, steps, finished=end == "finished")


def check_each_once(run: Runner, world: FlakyWorld, steps: list[Step], *, finished: bool) -> None:
    acting = [step for step in steps if step.function != "people.search"]
    wanted = Counter((step.function, step.value) for step in acting)
    needed = Counter((step.function, step.value) for step in acting if not step.tolerant)
    done = Counter({key: n for key, n in world.succeeded.items() if key[0] != "people.search"})
    assert done <= wanted
    assert not finished or needed <= done
    passing = {"verified", "in a verified cell", "finish"}
    assert len(run.writes) == sum(reason in passing for reason in run.reasons)


@settings(max_examples=60, deadline=None)
@given(cells=CELLS, latch=st.sampled_from(["call", "function", "cell"]))
def test_executed_writes_are_the_decisions_that_let_one_pass(
    cells: list[list[Step]], latch: str
) -> None:
    run = runner(latch, risks=[*RISKS, Risk("alarm", "high", alarming)])

    def swallows(steps: list[Step]) -> Callable[[Runner], object]:
        def program(cell: Runner) -> None:
            for step in steps:
                try:
                    cell.call(step.function, **{PARAMETERS[step.function]: str(step.value)})
                except (CallFailed, CellStopped):
                    continue

        return program

    for number, steps in enumerate([*cells, *cells]):
        run.run(source_of(number % len(cells), steps), swallows(steps))
    allowed = [
        (call.function, call.arguments)
        for call, d in run.decisions
        if d.action == "allow" and d.reason != "read"
    ]
    assert run.writes == allowed
    assert {d.reason for _, d in run.decisions} <= {
        *("read", "finish", "verified", "in a verified cell", "stopped", "refused", "resumed")
    }
