"""Two traces of one episode: equal but for times, or the first place where they part."""

import pytest

from runtime.compare import first_difference
from runtime.contracts import CellEnd, Kind, Limits, Usage
from runtime.records import (
    CallRecord,
    CellRecord,
    DecisionRecord,
    EndRecord,
    Header,
    MessageRecord,
    ModelCallRecord,
    ObservationRecord,
    OutcomeRecord,
    ResultRecord,
)
from runtime.trace import TraceFile
from tests.support.fake_world import task

RECORDS = (
    MessageRecord(role="user", content="Begin."),
    ModelCallRecord(
        step=1,
        usage=Usage(input=1),
        cost_usd=0.1,
        latency_s=1.0,
        finish_reason="stop",
        served_model="m",
        attempts=1,
    ),
    CellRecord(cell=1, source="x()"),
    CallRecord(
        n=1,
        cell=1,
        function="shop.buy",
        arguments={"item": "lamp"},
        kind=Kind.WRITE,
        decision=DecisionRecord(action="allow", reason="gate off"),
    ),
    ResultRecord(n=1, ok=True, status=200, value={"bought": "lamp"}),
    ObservationRecord(
        cell=1, text="a" * 200 + "b", end=CellEnd(status="finished"), calls=1, wall_s=0.5
    ),
    OutcomeRecord(passed=True),
    EndRecord(status="passed", steps=1, calls=1, events=1, usage=Usage(input=1), wall_s=2.0),
)


def trace(*records) -> TraceFile:
    header = Header(episode="e", task=task(), limits=Limits(), prompt_sha256="")
    return TraceFile(path="t.jsonl", header=header, records=records)


def changed(at: int, **fields):
    records = list(RECORDS)
    records[at] = records[at].model_copy(update=fields)
    return first_difference(trace(*RECORDS), trace(*records))


def test_an_episode_equals_itself():
    assert first_difference(trace(*RECORDS), trace(*RECORDS)) is None


@pytest.mark.parametrize(
    ("at", "fields"),
    [
        (0, {"t": 9.0}),
        (1, {"latency_s": 9.0, "cost_usd": None, "attempts": 3}),
        (5, {"wall_s": 9.0}),
        (7, {"wall_s": 9.0, "cost_usd": 3.0}),
    ],
)
def test_times_and_prices_are_no_difference(at, fields):
    assert changed(at, **fields) is None


@pytest.mark.parametrize(
    ("at", "fields", "words"),
    [
        (0, {"content": "Go."}, 'message of the user, content: recorded "Begin.", replayed "Go."'),
        (2, {"source": "y()"}, 'cell of cell 1, source: recorded "x()", replayed "y()"'),
        (3, {"arguments": {"item": "chair"}}, "call 1 (cell 1, shop.buy), arguments: "),
        (3, {"decision": DecisionRecord(action="stop", reason="stopped")}, "decision: "),
        (4, {"value": None}, "result of call 1, value: "),
        (5, {"end": CellEnd(status="raised")}, "observation of cell 1, end: "),
        (6, {"passed": False}, "outcome, passed: recorded true, replayed false"),
        (7, {"status": "failed"}, 'end, status: recorded "passed", replayed "failed"'),
        (7, {"limit": "steps"}, 'end, limit: recorded null, replayed "steps"'),
    ],
)
def test_the_first_difference_is_named(at, fields, words):
    assert words in str(changed(at, **fields))


def test_long_texts_are_cut_down_to_where_they_part():
    difference = changed(5, text="a" * 200 + "c")
    assert len(str(difference)) < 250
    assert 'b"' in difference.recorded
    assert 'c"' in difference.replayed


def test_a_record_too_many_or_too_few_is_named():
    shorter = (*RECORDS[:3], *RECORDS[5:])
    words = str(first_difference(trace(*RECORDS), trace(*shorter)))
    assert words == (
        "call 1 (cell 1, shop.buy), record: recorded call, replayed observation of cell 1"
    )
    assert str(first_difference(trace(*RECORDS[:4]), trace(*RECORDS))) == (
        "result of call 1, record: recorded nothing, replayed result of call 1"
    )
    assert "recorded end, replayed nothing" in str(
        first_difference(trace(*RECORDS), trace(*RECORDS[:-1]))
    )
