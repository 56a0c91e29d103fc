"""AppWorld output folders, with and without a log of model calls."""

import shutil
from pathlib import Path

import pytest

from adapters.appworld.guess import best_name, named_functions, plain_name
from adapters.appworld.importer import import_appworld
from runtime.contracts import Kind
from runtime.errors import BadFile
from runtime.records import (
    CallRecord,
    ErrorRecord,
    MessageRecord,
    ModelCallRecord,
    ObservationRecord,
    OutcomeRecord,
)
from runtime.trace import TraceFile, read_trace

EXPERIMENT = Path(__file__).parent / "import_fixtures/appworld/some_agent"


@pytest.fixture
def experiment(tmp_path: Path) -> Path:
    return Path(shutil.copytree(EXPERIMENT, tmp_path / "some_agent"))


@pytest.fixture(scope="module")
def imported(tmp_path_factory: pytest.TempPathFactory) -> dict[str, TraceFile]:
    report = import_appworld(EXPERIMENT, tmp_path_factory.mktemp("out"))
    assert report.problems == ()
    traces = [read_trace(path) for path in report.traces]
    return {trace.header.task.id: trace for trace in traces}


def of(trace: TraceFile, kind: type) -> list:
    return [record for record in trace.records if isinstance(record, kind)]


def test_each_task_becomes_a_complete_trace(imported: dict[str, TraceFile]) -> None:
    assert sorted(imported) == ["abc1234_1", "abc1234_2"]
    first = imported["abc1234_1"]
    assert first.header.source == "appworld:some_agent/abc1234_1"
    assert first.header.task.scenario_id == "abc1234"
    assert first.end is not None
    assert (first.end.status, first.end.calls, first.end.steps) == ("failed", 6, 0)


def test_a_fence_and_a_heading_in_an_output_do_not_split_it(
    imported: dict[str, TraceFile],
) -> None:
    observations = of(imported["abc1234_1"], ObservationRecord)
    assert len(observations) == 4
    assert observations[1].text.endswith("```\nmake test\n```")
    assert "### Environment Interaction 3" in observations[1].text


def test_a_failed_cell_is_told_from_a_finished_one(imported: dict[str, TraceFile]) -> None:
    ends = [item.end.status for item in of(imported["abc1234_1"], ObservationRecord)]
    assert ends == ["finished", "finished", "raised", "finished"]
    assert of(imported["abc1234_1"], ObservationRecord)[-1].done


def test_requests_are_given_to_the_cells_that_name_them(imported: dict[str, TraceFile]) -> None:
    calls = [
        (call.cell, call.function, call.kind) for call in of(imported["abc1234_1"], CallRecord)
    ]
    assert calls == [
        (1, "supervisor.show_profile", Kind.READ),
        (2, "supervisor.show_account_passwords", Kind.READ),
        (2, "simple_note.login", Kind.READ),
        (2, "simple_note.show_note", Kind.READ),
        (4, "simple_note.update_note", Kind.WRITE),
        (4, "supervisor.complete_task", Kind.FINISH),
    ]


def test_values_in_a_path_are_arguments(imported: dict[str, TraceFile]) -> None:
    call = of(imported["abc1234_1"], CallRecord)[4]
    assert call.arguments["note_id"] == "7"
    assert call.arguments["content"] == "make all"


def test_secrets_are_masked_alike(imported: dict[str, TraceFile]) -> None:
    text = imported["abc1234_1"].path.read_text()
    assert "hunter22" not in text
    assert "token-of-ada" not in text
    tokens = {call.arguments.get("access_token") for call in of(imported["abc1234_1"], CallRecord)}
    assert len(tokens - {None}) == 1


def test_a_password_that_was_only_printed_is_masked(experiment: Path, tmp_path: Path) -> None:
    log = experiment / "tasks/abc1234_2/logs/environment_io.md"
    printed = '[{"account_name": "gmail", "password": "open-sesame"}]'
    log.write_text(log.read_text().replace('{"email": "ada@example.com"}', printed))
    report = import_appworld(experiment / "tasks/abc1234_2", tmp_path / "out")
    text = report.traces[0].read_text()
    assert "open-sesame" not in text
    assert "account_name" in text


def test_a_password_in_code_is_masked_before_the_request_that_names_it(
    experiment: Path, tmp_path: Path
) -> None:
    log = experiment / "tasks/abc1234_1/logs/environment_io.md"
    log.write_text(log.read_text().replace('passwords[0]["password"]', "str('hunter22')"))
    report = import_appworld(experiment / "tasks/abc1234_1", tmp_path / "out")
    assert "hunter22" not in report.traces[0].read_text()


def test_the_report_gives_the_verdict(imported: dict[str, TraceFile]) -> None:
    (outcome,) = of(imported["abc1234_1"], OutcomeRecord)
    assert not outcome.passed
    assert [(check.requirement, check.passed) for check in outcome.checks] == [
        ("assert the note was changed.", True),
        ("assert nothing else was changed.", False),
    ]


def test_without_a_report_the_evaluations_give_it(imported: dict[str, TraceFile]) -> None:
    (outcome,) = of(imported["abc1234_2"], OutcomeRecord)
    assert outcome.passed
    assert outcome.checks[0].requirement == "assert the task is finished."


def test_model_calls_give_conversation_and_usage(imported: dict[str, TraceFile]) -> None:
    trace = imported["abc1234_2"]
    assert [message.role for message in of(trace, MessageRecord)] == [
        "system",
        "user",
        "assistant",
        "user",
        "assistant",
    ]
    assert "First the profile." in of(trace, MessageRecord)[2].content
    assert [call.served_model for call in of(trace, ModelCallRecord)] == ["some-model-1"] * 2
    assert trace.end is not None
    assert (trace.end.usage.input, trace.end.usage.output, trace.end.steps) == (150, 14, 2)
    assert trace.end.cost_usd is None
    assert trace.header.task.instruction.startswith("Using these APIs")


def test_a_torn_line_is_reported_and_the_rest_is_kept(experiment: Path, tmp_path: Path) -> None:
    log = experiment / "tasks/abc1234_1/logs/api_calls.jsonl"
    log.write_text(log.read_text() + '{"method": "get", "url": "/sim')
    report = import_appworld(experiment / "tasks/abc1234_1", tmp_path / "out")
    (problem,) = report.problems
    assert "api_calls.jsonl, line 7: expected one request" in str(problem)
    trace = read_trace(report.traces[0])
    assert len(of(trace, CallRecord)) == 6
    (error,) = of(trace, ErrorRecord)
    assert error.message.startswith("logs/api_calls.jsonl, line 7")


def test_a_run_without_a_verdict_is_errored_not_failed(experiment: Path, tmp_path: Path) -> None:
    (experiment / "tasks/abc1234_1/evaluation/report.md").unlink()
    report = import_appworld(experiment / "tasks/abc1234_1", tmp_path / "out")
    end = read_trace(report.traces[0]).end
    assert end is not None
    assert end.status == "errored"


def test_one_broken_task_does_not_stop_the_others(experiment: Path, tmp_path: Path) -> None:
    (experiment / "tasks/abc1234_1/logs/environment_io.md").write_text("")
    report = import_appworld(experiment, tmp_path / "out")
    assert [path.name for path in report.traces] == ["abc1234_2.jsonl"]
    assert "is empty" in str(report.problems[0])


def test_a_cut_off_log_keeps_the_cells_before(experiment: Path, tmp_path: Path) -> None:
    log = experiment / "tasks/abc1234_1/logs/environment_io.md"
    text = log.read_text()
    log.write_text(text[:-40])
    line = text.splitlines().index("### Environment Interaction 4") + 1
    report = import_appworld(experiment / "tasks/abc1234_1", tmp_path / "out")
    assert f"environment_io.md, line {line}: expected" in str(report.problems[0])
    assert len(of(read_trace(report.traces[0]), ObservationRecord)) == 3


def test_another_folder_is_refused_with_what_was_expected(tmp_path: Path) -> None:
    with pytest.raises(BadFile, match=r"expected tasks/TASK/logs/environment_io\.md"):
        import_appworld(tmp_path, tmp_path / "out")


def test_importing_twice_overwrites_nothing(tmp_path: Path) -> None:
    first = import_appworld(EXPERIMENT, tmp_path)
    again = import_appworld(EXPERIMENT, tmp_path)
    assert not set(first.traces) & set(again.traces)


@pytest.mark.parametrize(
    ("method", "path", "names", "wanted"),
    [
        ("get", "songs/12", {"show_song", "search_songs", "like_song"}, "show_song"),
        ("get", "songs", {"show_song", "search_songs", "like_song"}, "search_songs"),
        ("delete", "songs/12/like", {"like_song", "unlike_song"}, "unlike_song"),
        ("post", "songs/12/like", {"like_song", "unlike_song"}, "like_song"),
        ("post", "payment_requests", {"create_payment_request", "login"}, "create_payment_request"),
        ("get", "weather", {"show_song"}, None),
    ],
)
def test_words_of_path_and_code_name_the_function(
    method: str, path: str, names: set[str], wanted: str | None
) -> None:
    assert best_name("spotify", method, path, names) == wanted


def test_names_tied_to_another_app_are_no_candidates() -> None:
    code = "apis.venmo.show_profile(); apis[app].login(username=name)"
    assert "login" in named_functions(code, "spotify")
    assert "show_profile" not in named_functions(code, "spotify")
    assert "show_profile" in named_functions(code, "venmo")


def test_an_unknown_function_carries_no_value_in_its_name() -> None:
    assert plain_name("post", "threads/100/starred") == "post_threads_starred"
