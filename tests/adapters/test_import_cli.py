"""gaia2-cli's run folders, and the replies of the providers in them."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from adapters.gaia2.importer_cli import import_gaia2_cli
from adapters.importing.replies import ToolUse, Unreadable, parse_reply
from adapters.importing.requests import Said, conversation
from runtime.contracts import Kind, Usage
from runtime.errors import BadFile
from runtime.records import (
    CallRecord,
    CellRecord,
    MessageRecord,
    ModelCallRecord,
    NotificationRecord,
    ObservationRecord,
)
from runtime.trace import TraceFile, read_trace

RUN = Path(__file__).parent / "import_fixtures/gaia2_cli/scenario_ferry"


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return Path(shutil.copytree(RUN, tmp_path / "runs/scenario_ferry"))


def only(folder: Path, out: Path) -> TraceFile:
    report = import_gaia2_cli(folder, out)
    assert report.problems == ()
    (trace,) = report.traces
    return read_trace(trace)


def of(trace: TraceFile, kind: type) -> list:
    return [record for record in trace.records if isinstance(record, kind)]


class TestARun:
    @pytest.fixture
    def trace(self, tmp_path: Path) -> TraceFile:
        return only(RUN, tmp_path)

    def test_commands_are_cells_and_tool_outputs_observations(self, trace: TraceFile) -> None:
        assert [cell.source for cell in of(trace, CellRecord)] == [
            "chats search --query ferry",
            "chats send-message-to-group --conversation-id c-ferry --content 'Lunch is at noon.'",
            "print(apps.AgentUserInterface.send_message_to_user(content='Done.'))",
        ]
        assert [item.text for item in of(trace, ObservationRecord)][:2] == [
            '["c-ferry"]',
            "c-ferry",
        ]

    def test_events_are_the_calls_of_the_command_before_them(self, trace: TraceFile) -> None:
        calls = [(call.cell, call.function, call.kind) for call in of(trace, CallRecord)]
        assert calls == [
            (1, "Chats.search", Kind.READ),
            (2, "Chats.send_message_to_group_conversation", Kind.WRITE),
            (3, "AgentUserInterface.send_message_to_user", Kind.FINISH),
        ]
        assert of(trace, CallRecord)[0].simulated_time == 1728975606.0

    def test_a_user_event_is_a_notification(self, trace: TraceFile) -> None:
        assert "send_message_to_agent" in of(trace, NotificationRecord)[0].text

    def test_each_message_is_told_once(self, trace: TraceFile) -> None:
        assert [message.role for message in of(trace, MessageRecord)] == [
            "system",
            "user",
            "assistant",
            "user",
            "assistant",
            "user",
            "assistant",
        ]

    def test_a_refused_attempt_counts_for_the_call_that_follows(self, trace: TraceFile) -> None:
        assert [call.attempts for call in of(trace, ModelCallRecord)] == [2, 1, 1]

    def test_the_end_has_totals_and_verdict(self, trace: TraceFile) -> None:
        assert trace.end is not None
        assert trace.end.status == "passed"
        assert trace.end.usage == Usage(input=420, cached=210, output=55)
        assert trace.header.task.instruction == "Tell the ferry crew that lunch is at noon."
        assert trace.header.model == {"name": "some-model"}


def test_prepared_replies_are_read_too(run: Path, tmp_path: Path) -> None:
    rows = [json.loads(line) for line in (run / "trace.jsonl").read_text().splitlines()[1:]]
    for row in rows:
        body = json.loads(row.pop("raw_response"))
        choice = body["choices"][0]
        row["response"] = {
            "content": choice["message"]["content"],
            "tool_calls": choice["message"].get("tool_calls", []),
            "usage": body["usage"],
            "model": body["model"],
            "finish_reason": choice["finish_reason"],
        }
        del row["http_status"], row["url"], row["latency_ms"]
    (run / "trace.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    trace = only(run, tmp_path / "out")
    assert of(trace, CellRecord)[0].source == "chats search --query ferry"
    assert trace.end is not None
    assert trace.end.usage.output == 55


def test_without_a_trace_each_event_is_a_cell(run: Path, tmp_path: Path) -> None:
    (run / "trace.jsonl").unlink()
    trace = only(run, tmp_path / "out")
    assert len(of(trace, CellRecord)) == 3
    assert of(trace, CallRecord)[0].function == "Messages.search"


def test_opening_a_file_for_reading_was_a_write(run: Path, tmp_path: Path) -> None:
    (run / "trace.jsonl").unlink()
    (run / "events.jsonl").write_text(
        "".join(
            json.dumps(
                {"t": t, "app": "SandboxLocalFileSystem", "fn": "open", "args": args, "w": 1}
            )
            + "\n"
            for t, args in enumerate([{"mode": "rb"}, {}, {"mode": "w"}], start=1)
        )
    )
    trace = only(run, tmp_path / "out")
    assert [(call.function, call.kind) for call in of(trace, CallRecord)] == [
        ("Files.open", Kind.READ),
        ("Files.open", Kind.READ),
        ("Files.open", Kind.WRITE),
    ]


def test_a_folder_of_runs_gives_a_trace_each(run: Path, tmp_path: Path) -> None:
    shutil.copytree(run, run.parent / "scenario_two")
    report = import_gaia2_cli(run.parent, tmp_path / "out")
    assert [path.name for path in report.traces] == ["scenario_ferry.jsonl", "scenario_two.jsonl"]


def test_the_judges_reason_is_kept(run: Path, tmp_path: Path) -> None:
    status = {
        "status": "done",
        "judgment": {"success": False, "failure_reason": "one mail too many"},
    }
    (run / "daemon_status.json").write_text(json.dumps(status))
    trace = only(run, tmp_path / "out")
    assert trace.end is not None
    assert trace.end.status == "failed"
    assert "one mail too many" in trace.path.read_text()


def test_a_torn_and_an_unknown_line_are_named_and_the_rest_is_kept(
    run: Path, tmp_path: Path
) -> None:
    events = run / "events.jsonl"
    events.write_text('{"fn": "search"}\n' + events.read_text() + '{"t": 1')
    report = import_gaia2_cli(run, tmp_path / "out")
    assert [str(problem).partition("events.jsonl")[2][:10] for problem in report.problems] == [
        ", line 1: ",
        ", line 6: ",
    ]
    trace = read_trace(report.traces[0])
    assert len(of(trace, CallRecord)) == 3
    assert str(run) not in trace.path.read_text(), "error records name files, not the machine"


def test_a_reply_that_cannot_be_read_is_taken_from_the_next_request(
    run: Path, tmp_path: Path
) -> None:
    rows = [json.loads(line) for line in (run / "trace.jsonl").read_text().splitlines()]
    rows[1]["raw_response"] = rows[1]["raw_response"][:60] + "...[truncated]"
    (run / "trace.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    report = import_gaia2_cli(run, tmp_path / "out")
    assert "trace.jsonl, line 2: expected a provider's JSON" in str(report.problems[0])
    said = [item.content for item in of(read_trace(report.traces[0]), MessageRecord)]
    assert "Let me look." in said


def with_last_row(run: Path, **changes: Any) -> None:
    rows = [json.loads(line) for line in (run / "trace.jsonl").read_text().splitlines()]
    rows[-1].update(changes)
    (run / "trace.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))


@pytest.mark.parametrize("status", [None, 200])
def test_a_reply_without_a_status_was_counted_as_a_failed_attempt(
    run: Path, tmp_path: Path, status: int | None
) -> None:
    with_last_row(run, http_status=status)
    calls = of(only(run, tmp_path / "out"), ModelCallRecord)
    assert [call.attempts for call in calls] == [2, 1, 1]


def test_an_attempt_without_status_and_reply_failed(run: Path, tmp_path: Path) -> None:
    with_last_row(run, http_status=None, raw_response=None)
    calls = of(only(run, tmp_path / "out"), ModelCallRecord)
    assert [call.attempts for call in calls] == [2, 1]


@pytest.mark.parametrize(
    "empty",
    [
        {"choices": [{"message": {"content": None}, "finish_reason": "stop"}]},
        {"content": [{"type": "thinking", "thinking": "Hm."}], "stop_reason": "stop"},
        {"output": [{"type": "reasoning", "summary": []}], "status": "stop"},
        {"candidates": [{"content": {}, "finishReason": "stop"}]},
    ],
    ids=["chat", "anthropic", "responses", "google"],
)
def test_a_reply_that_says_nothing_was_dropped_without_a_word(
    run: Path, tmp_path: Path, empty: dict[str, Any]
) -> None:
    with_last_row(run, raw_response=json.dumps(empty))
    report = import_gaia2_cli(run, tmp_path / "out")
    (problem,) = report.problems
    assert "trace.jsonl, line 4: expected text or a tool call" in str(problem)
    assert "finish reason: stop" in str(problem)
    assert len(of(read_trace(report.traces[0]), ModelCallRecord)) == 3


def test_secrets_are_masked_in_results_and_in_requests(run: Path, tmp_path: Path) -> None:
    events, log = run / "events.jsonl", run / "trace.jsonl"
    events.write_text(events.read_text().replace('["c-ferry"]', '{"password": "hunter22"}'))
    said = "Use the command line apps."
    log.write_text(log.read_text().replace(said, f"{said} api_key: sk-proj-0123456789abcdef"))
    text = only(run, tmp_path / "out").path.read_text()
    assert said in text
    assert "hunter22" not in text
    assert "sk-proj-0123456789abcdef" not in text


@pytest.mark.parametrize(
    "written", ["-H 'x-api-key: {}'", '{{"x-api-key": "{}"}}', "--password {}", "password: {}"]
)
def test_a_secret_in_a_command_is_masked_wherever_it_stands(
    run: Path, tmp_path: Path, written: str
) -> None:
    said = json.dumps(written.format("zzTOPsecret99"))[1:-1]
    log = run / "trace.jsonl"
    log.write_text(log.read_text().replace("Use the command line apps.", f"{said} zzTOPsecret99"))
    text = only(run, tmp_path / "out").path.read_text()
    assert "zzTOP" not in text
    assert text.count("<secret:1>") == 2


def test_a_folder_without_runs_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadFile, match=r"expected a folder with trace\.jsonl or events\.jsonl"):
        import_gaia2_cli(tmp_path, tmp_path / "out")


def sse(*events: Any) -> str:
    return "".join(f"data: {json.dumps(event)}\n\n" for event in events) + "data: [DONE]\n"


TOOL = ToolUse("bash", {"command": "emails list"})
ARGUMENTS = '{"command": "emails list"}'
CALL = {"name": "bash", "arguments": ARGUMENTS}
CHAT = {
    "model": "m-1",
    "choices": [
        {
            "message": {"content": "Look.", "tool_calls": [{"id": "1", "function": CALL}]},
            "finish_reason": "tool_calls",
        }
    ],
    "usage": {
        "prompt_tokens": 10,
        "completion_tokens": 4,
        "prompt_tokens_details": {"cached_tokens": 6},
        "completion_tokens_details": {"reasoning_tokens": 1},
    },
}
CHAT_STREAM = sse(
    {"model": "m-1", "choices": [{"index": 0, "delta": {"role": "assistant", "content": "Lo"}}]},
    {"choices": [{"index": 0, "delta": {"content": "ok."}}]},
    {
        "choices": [
            {"delta": {"tool_calls": [{"index": 0, "id": "1", "function": {"name": "bash"}}]}}
        ]
    },
    {
        "choices": [
            {"delta": {"tool_calls": [{"index": 0, "function": {"arguments": ARGUMENTS[:9]}}]}}
        ]
    },
    {
        "choices": [
            {"delta": {"tool_calls": [{"index": 0, "function": {"arguments": ARGUMENTS[9:]}}]}}
        ]
    },
    {"choices": [{"delta": {}, "finish_reason": "tool_calls"}]},
    {"choices": [], "usage": CHAT["usage"]},
)
RESPONSES = {
    "model": "m-1",
    "status": "completed",
    "output": [
        {"type": "reasoning", "summary": []},
        {
            "type": "message",
            "role": "assistant",
            "content": [{"type": "output_text", "text": "Look."}],
        },
        {"type": "function_call", "call_id": "1", **CALL},
    ],
    "usage": {
        "input_tokens": 10,
        "output_tokens": 4,
        "input_tokens_details": {"cached_tokens": 6},
        "output_tokens_details": {"reasoning_tokens": 1},
    },
}
RESPONSES_STREAM = sse(
    {"type": "response.created", "response": {"output": []}},
    {"type": "response.output_text.delta", "delta": "Look."},
    {"type": "response.completed", "response": RESPONSES},
)
OLDER_CHAT = {
    **CHAT,
    "choices": [
        {"message": {"content": "Look.", "function_call": CALL}, "finish_reason": "function_call"}
    ],
}
OLDER_CHAT_STREAM = sse(
    {"model": "m-1", "choices": [{"index": 0, "delta": {"content": "Look."}}]},
    {"choices": [{"delta": {"function_call": {"name": "bash", "arguments": ""}}}]},
    {"choices": [{"delta": {"function_call": {"arguments": ARGUMENTS[:9]}}}]},
    {"choices": [{"delta": {"function_call": {"arguments": ARGUMENTS[9:]}}}]},
    {"choices": [{"delta": {}, "finish_reason": "function_call"}]},
    {"choices": [], "usage": CHAT["usage"]},
)
STEPWISE = (
    {"type": "response.created", "response": {"output": [], "model": "m-1", "status": "queued"}},
    {"type": "response.output_item.added", "output_index": 0, "item": {"type": "reasoning"}},
    {"type": "response.output_item.done", "output_index": 0, "item": {"type": "reasoning"}},
    {
        "type": "response.output_item.added",
        "output_index": 1,
        "item": {"type": "message", "content": []},
    },
    {"type": "response.output_text.delta", "output_index": 1, "delta": "Lo"},
    {"type": "response.output_text.delta", "output_index": 1, "delta": "ok."},
    {
        "type": "response.output_item.done",
        "output_index": 1,
        "item": {"type": "message", "content": [{"type": "output_text", "text": "Look."}]},
    },
    {
        "type": "response.output_item.added",
        "output_index": 2,
        "item": {"type": "function_call", "name": "bash", "arguments": ""},
    },
    *(
        {"type": "response.function_call_arguments.delta", "output_index": 2, "delta": part}
        for part in (ARGUMENTS[:9], ARGUMENTS[9:])
    ),
    {
        "type": "response.output_item.done",
        "output_index": 2,
        "item": {"type": "function_call", **CALL},
    },
)
"""What OpenAI sends of `RESPONSES` before it says that the response is complete."""
ENDING_WITHOUT_ITEMS = {"type": "response.completed", "response": {**RESPONSES, "output": []}}
ANTHROPIC = {
    "type": "message",
    "model": "m-1",
    "content": [
        {"type": "thinking", "thinking": "hidden"},
        {"type": "text", "text": "Look."},
        {"type": "tool_use", "id": "1", "name": "bash", "input": {"command": "emails list"}},
    ],
    "stop_reason": "tool_use",
    "usage": {"input_tokens": 4, "cache_read_input_tokens": 6, "output_tokens": 4},
}
ANTHROPIC_STREAM = (
    "event: message_start\n"
    + sse(
        {
            "type": "message_start",
            "message": {"model": "m-1", "usage": {**ANTHROPIC["usage"], "output_tokens": 1}},
        },  # type: ignore[dict-item]
        {
            "type": "content_block_start",
            "index": 0,
            "content_block": {"type": "thinking", "thinking": ""},
        },
        {
            "type": "content_block_delta",
            "index": 0,
            "delta": {"type": "thinking_delta", "thinking": "x"},
        },
        {"type": "content_block_start", "index": 1, "content_block": {"type": "text", "text": ""}},
        {
            "type": "content_block_delta",
            "index": 1,
            "delta": {"type": "text_delta", "text": "Look."},
        },
        {
            "type": "content_block_start",
            "index": 2,
            "content_block": {"type": "tool_use", "name": "bash", "input": {}},
        },
        {"type": "content_block_delta", "index": 2, "delta": {"partial_json": ARGUMENTS[:5]}},
        {"type": "content_block_delta", "index": 2, "delta": {"partial_json": ARGUMENTS[5:]}},
        {
            "type": "message_delta",
            "delta": {"stop_reason": "tool_use"},
            "usage": {"output_tokens": 4},
        },
        {"type": "message_stop"},
    )
)
GOOGLE_TEXT = {"candidates": [{"content": {"parts": [{"text": "Look."}]}}], "modelVersion": "m-1"}
GOOGLE_CALL = {
    "candidates": [
        {
            "content": {"parts": [{"functionCall": {"name": "bash", "args": TOOL.arguments}}]},
            "finishReason": "STOP",
        }
    ],
    "usageMetadata": {
        "promptTokenCount": 10,
        "cachedContentTokenCount": 6,
        "candidatesTokenCount": 3,
        "thoughtsTokenCount": 1,
    },
}
GOOGLE = {
    **GOOGLE_CALL,
    "modelVersion": "m-1",
    "candidates": [
        {
            "content": {
                "parts": [
                    {"text": "hidden", "thought": True},
                    {"text": "Look."},
                    {"functionCall": {"name": "bash", "args": TOOL.arguments}},
                ]
            },
            "finishReason": "STOP",
        }
    ],
}


@pytest.mark.parametrize(
    ("raw", "finish", "reasoning"),
    [
        (json.dumps(CHAT), "tool_calls", 1),
        (CHAT_STREAM, "tool_calls", 1),
        (json.dumps(RESPONSES), "completed", 1),
        (RESPONSES_STREAM, "completed", 1),
        (sse(*STEPWISE, ENDING_WITHOUT_ITEMS), "completed", 1),
        (json.dumps(OLDER_CHAT), "function_call", 1),
        (OLDER_CHAT_STREAM, "function_call", 1),
        (json.dumps(ANTHROPIC), "tool_use", 0),
        (ANTHROPIC_STREAM, "tool_use", 0),
        (json.dumps(GOOGLE), "STOP", 1),
        (json.dumps([GOOGLE_TEXT, GOOGLE_CALL]), "STOP", 1),
        (sse(GOOGLE_TEXT, GOOGLE_CALL), "STOP", 1),
    ],
    ids=[
        "chat",
        "chat stream",
        "responses",
        "responses stream",
        "responses stream that ends without items",
        "older chat",
        "older chat stream",
        "anthropic",
        "anthropic stream",
        "google",
        "google list",
        "google stream",
    ],
)
def test_every_provider_says_the_same(raw: str, finish: str, reasoning: int) -> None:
    reply = parse_reply(raw)
    assert reply.text == "Look."
    assert reply.tools == (TOOL,)
    assert reply.model == "m-1"
    assert reply.finish_reason == finish
    assert reply.usage == Usage(input=10, cached=6, output=4, reasoning=reasoning)


@pytest.mark.parametrize("raw", [CHAT_STREAM, RESPONSES_STREAM, ANTHROPIC_STREAM])
def test_a_stream_that_was_cut_gives_what_had_come(raw: str) -> None:
    whole = raw.index("ok.") if "ok." in raw and "Look." not in raw else raw.index("Look.")
    assert parse_reply(raw[: raw.index("\n", whole)]).text == "Look."


@pytest.mark.parametrize(
    ("events", "text", "tools"),
    [
        (3, "", ()),
        (5, "Lo", ()),
        (7, "Look.", ()),
        (9, "Look.", (ToolUse("bash", ARGUMENTS[:9]),)),
        (10, "Look.", (TOOL,)),
        (11, "Look.", (TOOL,)),
    ],
)
def test_of_a_response_that_was_cut_off_after_an_item_the_rest_was_dropped(
    events: int, text: str, tools: tuple[ToolUse, ...]
) -> None:
    reply = parse_reply(sse(*STEPWISE[:events]))
    assert (reply.text, reply.tools) == (text, tools)
    assert (reply.model, reply.finish_reason) == ("m-1", "incomplete")


@pytest.mark.parametrize(
    "start", ["id: 1\n", "retry: 3000\n\n", "event: x\n", ": ping\n\n", "\ufeff", "\n", ":\n"]
)
def test_a_stream_may_begin_with_any_field(start: str) -> None:
    assert parse_reply(start + CHAT_STREAM).text == "Look."


def test_json_may_begin_with_a_byte_order_mark() -> None:
    assert parse_reply("\ufeff" + json.dumps(CHAT)).text == "Look."


@pytest.mark.parametrize(
    "raw",
    [
        "",
        "<html>",
        "null",
        "{}",
        "[]",
        '{"error": {"message": "slow down"}}',
        "data: {}",
        "[" * 9999,
    ],
)
def test_what_is_no_reply_says_what_was_expected(raw: str) -> None:
    with pytest.raises(Unreadable, match="expected"):
        parse_reply(raw)


@pytest.mark.parametrize(
    "request_body",
    [
        {
            "messages": [
                {"role": "system", "content": "Be brief."},
                {"role": "user", "content": [{"type": "text", "text": "Go."}]},
                {"role": "assistant", "content": "Yes.", "tool_calls": []},
                {"role": "tool", "tool_call_id": "1", "content": "42"},
            ]
        },
        {
            "system": [{"type": "text", "text": "Be brief."}],
            "messages": [
                {"role": "user", "content": "Go."},
                {
                    "role": "assistant",
                    "content": [
                        {"type": "text", "text": "Yes."},
                        {"type": "tool_use", "id": "1", "name": "bash", "input": {}},
                    ],
                },
                {
                    "role": "user",
                    "content": [
                        {
                            "type": "tool_result",
                            "tool_use_id": "1",
                            "content": [{"type": "text", "text": "42"}],
                        }
                    ],
                },
            ],
        },
        {
            "instructions": "Be brief.",
            "input": [
                {"role": "user", "content": [{"type": "input_text", "text": "Go."}]},
                {"type": "message", "role": "assistant", "content": [{"text": "Yes."}]},
                {"type": "function_call", "call_id": "1", **CALL},
                {"type": "function_call_output", "call_id": "1", "output": "42"},
            ],
        },
        {
            "systemInstruction": {"parts": [{"text": "Be brief."}]},
            "contents": [
                {"role": "user", "parts": [{"text": "Go."}]},
                {"role": "model", "parts": [{"text": "Yes."}, {"functionCall": {"name": "bash"}}]},
                {
                    "role": "user",
                    "parts": [{"functionResponse": {"name": "bash", "response": 42}}],
                },
            ],
        },
    ],
    ids=["chat", "anthropic", "responses", "google"],
)
def test_every_providers_request_is_the_same_conversation(request_body: dict) -> None:
    assert conversation(request_body) == (
        Said("system", "Be brief."),
        Said("user", "Go."),
        Said("assistant", "Yes."),
        Said("tool", "42"),
    )
