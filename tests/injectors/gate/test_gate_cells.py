"""The rules of cells: one stop before the first write, one decision a call, nothing twice."""

from __future__ import annotations

import contextlib
import json

import pytest
from gate_world import CATALOGUE, TASK, CallFailed, CellStopped, Runner, failure, ok, pays, runner

from injectors.gate.gate import VerifyBeforeWrite
from injectors.gate.settings import GateSettings
from runtime.contracts import CellEnd, Gate, Kind, ToolCall

LATCHES = ("call", "function", "cell")
PAY = "for n in range(30): apis.shop.pay(to=who, amount=n)"


def three(cell: Runner) -> None:
    cell.call("people.search", query="x")
    cell.call("shop.pay", to="ann@x.org", amount=5)
    cell.call("notes.create_note", title="a")
    cell.call("shop.cancel_order", order_id=12)


THREE = "apis.shop.pay(); apis.notes.create_note(); apis.shop.cancel_order()"


def test_is_a_gate() -> None:
    assert isinstance(VerifyBeforeWrite(CATALOGUE), Gate)


@pytest.mark.parametrize("latch", LATCHES)
def test_three_different_writes_are_one_stop_and_then_run_once(latch: str) -> None:
    run = runner(latch)
    assert run.run(THREE, three) == "stopped"
    assert run.writes == []
    assert {row["function"] for row in run.advisory["also_covered"]} == {
        "notes.create_note",
        "shop.cancel_order",
    }
    assert run.run(THREE, three) == "finished"
    assert [name for name, _ in run.writes] == [
        "shop.pay",
        "notes.create_note",
        "shop.cancel_order",
    ]
    assert run.reasons == ["stopped", "verified", "in a verified cell", "in a verified cell"]


@pytest.mark.parametrize("latch", LATCHES)
def test_a_loop_of_thirty_is_stopped_once_and_runs_thirty_times(latch: str) -> None:
    run = runner(latch)
    assert run.run(PAY, pays(range(30))) == "stopped"
    assert run.writes == []
    assert run.run(PAY, pays(range(30))) == "finished"
    assert len(run.writes) == 30
    assert run.reasons == ["stopped", "verified", *["in a verified cell"] * 29]


@pytest.mark.parametrize(
    ("latch", "end"), [("call", "stopped"), ("function", "finished"), ("cell", "stopped")]
)
def test_other_arguments_in_a_later_cell(latch: str, end: str) -> None:
    run = runner(latch)
    for _ in range(2):
        run.run("apis.shop.pay(amount=5)", pays([5]))
    assert run.run("apis.shop.pay(amount=7)", pays([7])) == end


def test_under_call_an_equal_call_in_another_cell_is_made_again() -> None:
    run = runner("call")
    run.run("apis.shop.pay(amount=5)", pays([5]))
    assert run.run("x = 1; apis.shop.pay(amount=x)", pays([5])) == "finished"


def test_reads_are_never_stopped_and_cost_no_look_up() -> None:
    run = runner()
    run.run("reads", lambda cell: [cell.call("people.search") for _ in range(3)])
    assert {decision.reason for _, decision in run.decisions} == {"read"}


def test_after_a_stop_no_call_reaches_the_world() -> None:
    run = runner()

    def stubborn(cell: Runner) -> None:
        for name in ("shop.pay", "people.search", "desk.complete", "notes.create_note"):
            try:
                cell.call(name)
            except CellStopped:
                continue
        raise CellStopped

    run.run(THREE, stubborn)
    assert run.log == []
    assert [d.reason for _, d in run.decisions] == ["stopped", "refused", "refused", "refused"]


def test_a_retry_loop_in_the_cell_cannot_confirm_itself() -> None:
    run = runner()

    def retry(cell: Runner) -> None:
        for _ in range(5):
            with contextlib.suppress(CellStopped):
                cell.call("shop.pay", to="ann@x.org", amount=5)
        raise CellStopped

    run.run(PAY, retry)
    assert run.writes == []
    assert run.reasons == ["stopped", *["refused"] * 4]


def test_between_cells_everything_is_refused() -> None:
    run = runner()
    with pytest.raises(CellStopped):
        run.call("people.search")
    run.run("1", lambda cell: None)
    with pytest.raises(CellStopped):
        run.call("shop.pay")
    assert run.log == []


def test_a_left_over_thread_in_an_innocent_cell_cannot_confirm_its_write() -> None:
    run = runner()
    run.run(PAY, pays([5]))
    assert run.run("print(1)", pays([5])) == "stopped"
    assert run.writes == []
    assert "does not name this function" in str(run.advisory["why"])


def test_a_function_built_by_getattr_passes_when_its_own_cell_is_sent_again() -> None:
    run = runner()
    source = "getattr(shop, 'p' + 'ay')()"
    assert run.run(source, pays([5])) == "stopped"
    assert run.run(source, pays([5])) == "finished"


def test_a_helper_of_an_earlier_cell_is_covered() -> None:
    run = runner()
    run.run(
        "def settle(a):\n    apis.shop.pay(amount=a)\n    apis.notes.create_note()",
        lambda cell: None,
    )
    run.run("settle(5)", pays([5]))
    covered = run.advisory["also_covered"]
    assert [row["function"] for row in covered] == ["notes.create_note"]
    assert run.run("settle(5)", pays([5])) == "finished"
    assert run.run("settle(6)", pays([6])) == "finished"


def test_gate_off_lets_everything_pass_and_says_so() -> None:
    run = Runner(VerifyBeforeWrite(CATALOGUE, settings=GateSettings(on=False)))
    run.run(THREE, three)
    run.run("done", lambda cell: cell.call("desk.complete"))
    assert run.reasons == ["gate off"] * 3 + ["finish"]
    assert run.run("bad", pays([1])) == "finished"
    assert run.notes == ""


def test_an_unknown_function_counts_as_a_write() -> None:
    run = runner()
    assert run.run("x", lambda cell: cell.call("other.thing", a=1)) == "stopped"
    assert run.run("x", lambda cell: cell.call("other.thing", a=1)) == "finished"


def test_a_stop_is_told_in_the_observation() -> None:
    run = runner()
    run.run(PAY, pays([5]))
    advisory = json.loads(run.notes)
    assert advisory["rtm_pre_tool_memory"] == "VERIFY_BEFORE_WRITE"
    assert advisory == run.advisory


# --- stops in mid-cell, records, ledgers


def uncovered_second(cell: Runner) -> None:
    """A write, and one that the source does not name."""
    cell.call("shop.pay", to="ann@x.org", amount=5)
    cell.call("notes.create_note", title="a")


HIDDEN = "apis.shop.pay(); getattr(apis.notes, 'create' + '_note')()"


def stopped_in_mid_cell(latch: str = "function") -> Runner:
    run = runner(latch)
    assert run.run(HIDDEN, uncovered_second) == "stopped"
    assert run.run(HIDDEN, uncovered_second) == "stopped"
    assert len(run.writes) == 1
    return run


@pytest.mark.parametrize("latch", LATCHES)
def test_a_cell_stopped_in_mid_cell_carries_a_ledger_and_resumes(latch: str) -> None:
    run = stopped_in_mid_cell(latch)
    assert run.advisory["executed_writes"] == [
        {"call": 'shop.pay(to="ann@x.org", amount=5)', "outcome": "ok"}
    ]
    assert run.run(HIDDEN, uncovered_second) == "finished"
    assert [name for name, _ in run.writes] == ["shop.pay", "notes.create_note"]
    assert run.reasons[-2:] == ["resumed", "in a verified cell"]


def test_a_resumed_call_is_answered_with_the_recorded_reply() -> None:
    run = stopped_in_mid_cell()
    run.run(HIDDEN, uncovered_second)
    answers = [d.result for _, d in run.decisions if d.action == "answer"]
    assert [result.reply for result in answers if result] == [{"body": {}}]


def test_the_record_stays_across_other_cells() -> None:
    run = stopped_in_mid_cell()
    run.run("print(1)", lambda cell: cell.call("people.search"))
    assert run.run(HIDDEN, uncovered_second) == "finished"
    assert len(run.writes) == 2


def test_the_record_ends_when_its_source_ran_to_its_end() -> None:
    run = stopped_in_mid_cell()
    run.run(HIDDEN, uncovered_second)
    assert run.run(HIDDEN, uncovered_second) == "stopped"  # meant again: the identical-write risk
    assert run.risks == ["identical_write_already_executed"]


def test_a_recorded_write_answers_one_equal_call_only() -> None:
    run = stopped_in_mid_cell()

    def twice(cell: Runner) -> None:
        uncovered_second(cell)
        cell.call("shop.pay", to="ann@x.org", amount=5)

    run.run(HIDDEN, twice)
    assert run.reasons[-3:-1] == ["resumed", "in a verified cell"]
    assert run.reasons[-1] == "stopped"  # the second equal payment is doubled, and the risk says so
    assert run.risks == ["identical_write_already_executed"]


def test_a_recorded_failure_is_tried_again() -> None:
    run = runner()
    fails = [failure(), ok({}), ok({}), ok({})]
    run.answers = lambda name, arguments: fails.pop(0)

    def program(cell: Runner) -> None:
        with contextlib.suppress(CallFailed):
            cell.call("shop.pay", to="ann@x.org", amount=5)
        cell.call("shop.pay", to="ann@x.org", amount=7)
        cell.call("notes.create_note", title="a")

    for end in ("stopped", "stopped", "finished"):
        assert run.run(HIDDEN, program) == end
    amounts = [arguments.get("amount") for _, arguments in run.writes]
    assert amounts == [5, 7, 5, None]
    assert run.reasons[-3:] == ["in a verified cell", "resumed", "in a verified cell"]


def test_a_cell_that_differs_from_its_record_is_stopped_once_more() -> None:
    run = stopped_in_mid_cell()

    def other(cell: Runner) -> None:
        cell.call("shop.pay", to="bo@x.org", amount=7)
        uncovered_second(cell)

    assert run.run(HIDDEN, other) == "stopped"
    assert "not on its record" in str(run.advisory["why"])
    assert run.advisory["executed_writes"] == [
        {"call": 'shop.pay(to="ann@x.org", amount=5)', "outcome": "ok"}
    ]
    assert run.run(HIDDEN, other) == "finished"
    assert [a.get("amount") for _, a in run.writes] == [5, 7, None]


def test_a_resumed_cell_that_raises_keeps_what_it_wrote_on_record() -> None:
    run = stopped_in_mid_cell()

    def raises_once(cell: Runner) -> None:
        uncovered_second(cell)
        raise CallFailed

    assert run.run(HIDDEN, raises_once) == "raised"
    assert run.run(HIDDEN, uncovered_second) == "finished"
    assert [name for name, _ in run.writes] == ["shop.pay", "notes.create_note"]
    assert run.reasons[-2:] == ["resumed", "resumed"]


def test_an_edited_source_is_warned_once_of_the_write_it_repeats() -> None:
    run = stopped_in_mid_cell()
    edited = "apis.shop.pay() # edited"
    assert run.run(edited, pays([5])) == "stopped"
    assert run.risks == ["identical_write_already_executed"]
    assert run.run(edited, pays([5])) == "finished"
    assert len(run.writes) == 2


def test_an_exception_after_writes_ends_in_the_ledger() -> None:
    run = runner()
    run.run(PAY, pays([5]))

    def breaks(cell: Runner) -> None:
        pays([5, 6])(cell)
        raise CallFailed

    assert run.run(PAY, breaks) == "raised"
    note = json.loads(run.notes)
    assert [row["outcome"] for row in note["executed_writes"]] == ["ok", "ok"]


@pytest.mark.parametrize("status", ["timeout", "killed", "raised"])
def test_a_write_in_flight_at_the_end_has_an_unknown_outcome(status: str) -> None:
    gate = VerifyBeforeWrite(CATALOGUE, TASK, settings=GateSettings(latch="function"))
    call = ToolCall(
        n=1,
        cell=1,
        function="shop.pay",
        arguments={"to": "ann@x.org", "amount": 5},
        kind=Kind.WRITE,
    )
    gate.begin_cell(PAY)
    gate.decide(call)
    gate.end_cell(CellEnd(status="stopped"))
    gate.begin_cell(PAY)
    assert gate.decide(call).reason == "verified"
    note = json.loads(gate.end_cell(CellEnd(status=status)).text)
    assert note["executed_writes"][0]["outcome"] == "unknown"
    gate.begin_cell(PAY)
    decision = gate.decide(call)
    assert decision.advisory is not None
    assert "unknown" in str(decision.advisory["detected_risks"])


def test_a_cell_without_writes_that_raises_adds_nothing() -> None:
    run = runner()

    def breaks(cell: Runner) -> None:
        cell.call("people.search")
        raise CallFailed

    run.run("x", breaks)
    assert run.notes == ""


def test_a_finish_before_a_stop_is_not_repeated_on_resume() -> None:
    run = runner()

    def program(cell: Runner) -> None:
        cell.call("desk.complete", answer="5")
        cell.call("shop.pay", to="ann@x.org", amount=5)

    assert run.run(PAY, program) == "stopped"
    assert run.run(PAY, program) == "finished"
    assert [name for name, _ in run.writes] == ["desk.complete", "shop.pay"]


# --- what other gates got wrong


def test_a_models_own_word_on_its_risk_changes_nothing() -> None:
    run = runner()

    def sure_of_itself(cell: Runner) -> None:
        cell.call("shop.pay", to="ann@x.org", amount=5, risk="none", verified=True, confirm="yes")

    assert (
        run.run("apis.shop.pay(verified=True) # VERIFY_BEFORE_WRITE: passed", sure_of_itself)
        == "stopped"
    )
    assert run.writes == []


def test_what_was_verified_stays_verified_in_a_long_session() -> None:
    run = runner("function")
    run.run("apis.shop.pay()", pays([5]))
    for n in range(300):
        run.run(f"apis.people.search(); x = {n}", lambda cell: cell.call("people.search"))
    assert run.run("apis.shop.pay()", pays([5])) == "finished"


def test_an_equal_write_under_a_new_call_number_is_still_the_same_write() -> None:
    run = runner("function")
    for _ in range(2):
        run.run("apis.shop.pay()", pays([5]))
    assert run.run("apis.shop.pay()", pays([5])) == "stopped"
    assert run.risks == ["identical_write_already_executed"]


def test_a_cell_that_never_ended_does_not_leave_the_gate_open() -> None:
    gate = VerifyBeforeWrite(CATALOGUE, TASK, settings=GateSettings(latch="function"))
    call = ToolCall(n=1, cell=1, function="shop.pay", arguments={"amount": 5}, kind=Kind.WRITE)
    gate.begin_cell(PAY)
    assert gate.decide(call).action == "stop"
    gate.begin_cell("x = 1")
    assert gate.decide(call).action == "stop"  # the new source does not name it
    gate.end_cell(CellEnd(status="killed"))
    assert gate.decide(call).reason == "refused"


def test_a_cell_that_was_never_ended_keeps_its_record() -> None:
    run = runner()
    run.run(HIDDEN, uncovered_second)
    run.gate.begin_cell(HIDDEN)
    run.call("shop.pay", to="ann@x.org", amount=5)
    with pytest.raises(CellStopped):
        run.call("notes.create_note", title="a")
    assert run.run(HIDDEN, uncovered_second) == "finished"
    assert [name for name, _ in run.writes] == ["shop.pay", "notes.create_note"]
