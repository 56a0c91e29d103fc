"""ARE's hf and lite exports, alone and joined."""

import json
import shutil
from pathlib import Path

import pytest

from adapters.gaia2.importer_are import import_are
from runtime.contracts import Kind
from runtime.errors import BadFile
from runtime.records import (
    CallRecord,
    CellRecord,
    ErrorRecord,
    MessageRecord,
    ModelCallRecord,
    NotificationRecord,
    ObservationRecord,
    OutcomeRecord,
    ResultRecord,
)
from runtime.trace import TraceFile, read_trace

ARE = Path(__file__).parent / "import_fixtures/are"
START = 1728975600.0


@pytest.fixture
def exports(tmp_path: Path) -> Path:
    return Path(shutil.copytree(ARE, tmp_path / "are"))


def only(path: Path, out: Path) -> TraceFile:
    report = import_are(path, out)
    assert report.problems == ()
    (trace,) = report.traces
    return read_trace(trace)


def of(trace: TraceFile, kind: type) -> list:
    return [record for record in trace.records if isinstance(record, kind)]


CALLS = [
    "Contacts.search_contacts",
    "Calendar.get_calendar_events_from_to",
    "Emails.send_email",
    "Emails.send_email",
    "AgentUserInterface.send_message_to_user",
]


@pytest.fixture
def joined(tmp_path: Path) -> TraceFile:
    return only(ARE / "lite/gate.json", tmp_path)


@pytest.fixture
def from_hf(exports: Path, tmp_path: Path) -> TraceFile:
    shutil.rmtree(exports / "lite")
    return only(exports / "hf/gate.json", tmp_path / "out")


@pytest.fixture
def from_lite(exports: Path, tmp_path: Path) -> TraceFile:
    shutil.rmtree(exports / "hf")
    return only(exports / "lite/gate.json", tmp_path / "out")


@pytest.mark.parametrize("source", ["joined", "from_hf", "from_lite"])
def test_the_header_says_what_was_run(source: str, request: pytest.FixtureRequest) -> None:
    header = request.getfixturevalue(source).header
    assert header.task.id == "scenario_gate"
    assert header.task.instruction == "Email Eve the gate code."
    assert header.model == {"name": "some-model"}
    assert header.source == "are:gate.json"


def test_hf_alone_gives_calls_with_arguments_results_and_times(from_hf: TraceFile) -> None:
    assert from_hf.header.task.ability == "Execution"
    calls = of(from_hf, CallRecord)
    assert [call.function for call in calls] == CALLS
    assert [call.kind for call in calls][-2:] == [Kind.WRITE, Kind.FINISH]
    assert calls[1].arguments["limit"] == 10
    assert calls[3].arguments == {
        "recipients": ["eve.stone@example.com"],
        "subject": "Gate",
        "content": "4471",
        "cc": None,
    }
    assert calls[0].simulated_time == START + 4
    assert calls[0].t == 4.0
    results = of(from_hf, ResultRecord)
    assert results[1].value == {"events": [], "range": [0, 0], "total": 0}
    assert results[0].value == (
        "[Contact(first_name='Eve', last_name='Stone', email='eve.stone@example.com')]"
    )
    assert [result.ok for result in results] == [True, True, False, True, True]


def test_hf_alone_tells_users_and_environment_apart(from_hf: TraceFile) -> None:
    assert [message.content for message in of(from_hf, MessageRecord)] == [
        "Email Eve the gate code."
    ]
    (news,) = of(from_hf, NotificationRecord)
    assert news.text.startswith("Emails.send_email_to_user_only")


def test_lite_alone_follows_the_history(from_lite: TraceFile) -> None:
    calls = of(from_lite, CallRecord)
    assert len(calls) == 6
    assert calls[2].function == "Emails.send_mail"
    assert [item.end.status for item in of(from_lite, ObservationRecord)] == [
        "finished",
        "finished",
        "raised",
        "raised",
        "finished",
        "finished",
    ]


def test_joined_has_thoughts_results_and_the_call_that_are_refused(joined: TraceFile) -> None:
    calls = of(joined, CallRecord)
    assert [call.function for call in calls] == [*CALLS[:2], "Emails.send_mail", *CALLS[2:]]
    assert [call.simulated_time for call in calls] == [
        START + 4,
        START + 8,
        None,
        START + 12,
        START + 16,
        START + 20,
    ]
    assert calls[1].arguments["offset"] == 0, "defaults come from the event"
    thoughts = [item.content for item in of(joined, MessageRecord) if item.role == "assistant"]
    assert thoughts[0].startswith("Thought: Who is Eve?")
    assert of(joined, CellRecord)[0].source == "print(apps.Contacts.search_contacts(query='Eve'))"
    assert [result.ok for result in of(joined, ResultRecord)] == [
        True,
        True,
        False,
        False,
        True,
        True,
    ]


READ_KINDS = [Kind.READ, Kind.READ, Kind.WRITE, Kind.WRITE, Kind.WRITE, Kind.FINISH]
"""Of the calls in the history; the third names a function that does not exist."""


def test_without_events_every_read_was_a_write(from_lite: TraceFile) -> None:
    assert [call.kind for call in of(from_lite, CallRecord)] == READ_KINDS


def test_a_read_that_was_refused_was_a_write(exports: Path, tmp_path: Path) -> None:
    path = exports / "hf/gate.json"
    content = json.loads(path.read_text())
    events = content["completed_events"]
    reads = [event for event in events if event["action"]["function"] == "search_contacts"]
    assert reads
    content["completed_events"] = [event for event in events if event not in reads]
    path.write_text(json.dumps(content))
    calls = of(only(path, tmp_path / "out"), CallRecord)
    assert calls[0].simulated_time is None
    assert [call.kind for call in calls] == READ_KINDS


@pytest.mark.parametrize(
    ("app", "function", "tag", "arguments", "kind"),
    [
        ("Files", "open", "WRITE", {"path": "/a", "mode": "rb"}, Kind.READ),
        ("Files", "open", "WRITE", {"path": "/a"}, Kind.READ),
        ("Files", "open", "WRITE", {"path": "/a", "mode": "wb"}, Kind.WRITE),
        ("Files", "open", "WRITE", {"path": "/a", "mode": ["rb"]}, Kind.WRITE),
        ("SystemApp", "wait_for_notification", "WRITE", {"timeout": 5}, Kind.READ),
        ("Chats", "regex_search", "READ", {"query": "a"}, Kind.READ),
        ("Shopping", "get_all_discount_codes", None, {}, Kind.READ),
        ("Unheard", "get_tasks", "READ", {}, Kind.READ),
        ("Unheard", "create_task", "READ", {}, Kind.WRITE),
        ("Unheard", "get_tasks", "odd", {}, Kind.WRITE),
        ("Unheard", "get_tasks", None, {}, Kind.WRITE),
    ],
)
def test_kinds_are_those_of_our_own_runs(
    app: str, function: str, tag: str | None, arguments: dict, kind: Kind, tmp_path: Path
) -> None:
    listed = [{"name": name, "value": value} for name, value in arguments.items()]
    action = {"app": app, "function": function, "operation_type": tag, "args": listed}
    event = {"event_type": "AGENT", "event_time": 1.0, "action": action}
    path = tmp_path / "run.json"
    path.write_text(json.dumps({"completed_events": [event]}))
    assert [call.kind for call in of(only(path, tmp_path / "out"), CallRecord)] == [kind]


def test_joined_puts_environment_events_where_they_happened(joined: TraceFile) -> None:
    kinds = [item.type for item in joined.records if item.type in {"call", "notification"}]
    assert kinds == ["call", "notification", "call", "call", "call", "call", "call"]


def test_joined_leaves_out_what_a_tool_looked_up_by_itself(exports: Path, tmp_path: Path) -> None:
    path = exports / "hf/gate.json"
    content = json.loads(path.read_text())
    own = json.loads(json.dumps(content["completed_events"][2]))
    own["action"] |= {"app": "Files", "function": "exists", "args": []}
    content["completed_events"].insert(5, own)
    path.write_text(json.dumps(content))
    functions = [call.function for call in of(only(path, tmp_path / "out"), CallRecord)]
    assert functions == [*CALLS[:2], "Emails.send_mail", *CALLS[2:]]


def test_usage_is_taken_per_call(joined: TraceFile) -> None:
    usages = [item.usage for item in of(joined, ModelCallRecord)]
    assert [usage.input for usage in usages] == [100, 150, 200, 250, 300, 350]
    assert joined.end is not None
    assert (joined.end.usage.output, joined.end.usage.reasoning) == (75, 5)


@pytest.mark.parametrize("source", ["joined", "from_hf", "from_lite"])
def test_the_verdict_is_kept(source: str, request: pytest.FixtureRequest) -> None:
    trace = request.getfixturevalue(source)
    assert of(trace, OutcomeRecord)[0].passed
    assert trace.end.status == "passed"


def test_a_scenario_that_was_never_run_has_no_verdict(exports: Path, tmp_path: Path) -> None:
    shutil.rmtree(exports / "lite")
    path = exports / "hf/gate.json"
    content = json.loads(path.read_text())
    content["metadata"]["annotation"] = None
    path.write_text(json.dumps(content))
    assert only(path, tmp_path / "out").end.status == "errored"


def test_a_broken_event_is_named_and_the_rest_is_kept(exports: Path, tmp_path: Path) -> None:
    path = exports / "hf/gate.json"
    content = json.loads(path.read_text())
    content["completed_events"][2]["event_time"] = "soon"
    path.write_text(json.dumps(content))
    report = import_are(path, tmp_path / "out")
    assert "completed_events[2]: expected event_time" in str(report.problems[0])
    trace = read_trace(report.traces[0])
    assert len(of(trace, CallRecord)) == 6
    assert of(trace, ErrorRecord)[0].error == "BadFile"


def test_a_broken_partner_is_reported(exports: Path, tmp_path: Path) -> None:
    (exports / "lite/gate.json").write_text('{"per_agent')
    report = import_are(exports / "hf/gate.json", tmp_path / "out")
    assert "gate.json, line 1: expected an ARE export" in str(report.problems[0])
    assert [call.function for call in of(read_trace(report.traces[0]), CallRecord)] == CALLS


@pytest.mark.parametrize("text", ["", "[]", "{", '{"a": 1}', "\x00", "[" * 100_000])
def test_anything_else_is_refused_with_file_and_line(text: str, tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    path.write_text(text)
    with pytest.raises(BadFile, match=r"run\.json.*expected an ARE export"):
        import_are(path, tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("partner", ["hf", "lite"])
def test_a_password_in_an_observation_is_masked(
    exports: Path, tmp_path: Path, partner: str
) -> None:
    history = exports / "lite/gate.json"
    history.write_text(history.read_text().replace("[Contact(...)]", "{'password': 'hunter22'}"))
    if partner == "lite":
        shutil.rmtree(exports / "hf")
    trace = only(history, tmp_path / "out")
    assert "password" in trace.path.read_text()
    assert "hunter22" not in trace.path.read_text()
