"""Recorded models: strict playback of traces."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from runtime.contracts import Limits, Message, ModelSource, Task, Usage
from runtime.errors import BadFile, RecordingMiss, UnknownName, UsageError
from runtime.masking import Masker
from runtime.models.recorded import recorded_turns
from runtime.models.resolve import Models
from runtime.records import EndRecord, ErrorRecord, Header, MessageRecord, ModelCallRecord
from runtime.trace import TraceWriter, read_trace

TASK = Task(benchmark="b", id="t_1", scenario_id="t", dataset="d", instruction="do")
SYSTEM, GO = Message(role="system", content="s"), Message(role="user", content="go")
USAGE = Usage(input=30, cached=20, output=4)


def record(path: Path, *replies: str, task: Task = TASK, seed: int = 0) -> Path:
    """Write the trace of an episode that got these replies."""
    header = Header(
        episode=path.stem,
        task=task,
        seed=seed,
        model={"name": "large"},
        limits=Limits(),
        prompt_sha256="0",
    )
    with TraceWriter(path, Masker()) as trace:
        trace.write(header)
        for message in (SYSTEM, GO):
            trace.write(MessageRecord(role=message.role, content=message.content))
        for step, reply in enumerate(replies, start=1):
            trace.write(
                ModelCallRecord(
                    step=step,
                    usage=USAGE,
                    cost_usd=0.25,
                    latency_s=1.5,
                    finish_reason="length",
                    served_model="large-2026",
                    adaptations=("temperature left out",),
                    attempts=2,
                )
            )
            trace.write(MessageRecord(role="assistant", content=reply))
            trace.write(MessageRecord(role="user", content="observation"))
        trace.write(
            EndRecord(status="failed", steps=1, calls=0, events=0, usage=Usage(), wall_s=1.0)
        )
        trace.finish()
    return path


def resolve(path: Path):
    return Models().resolve(f"recorded:{path}")


def said(*replies: str) -> list[Message]:
    """Return the conversation after these replies."""
    turns = ((Message(role="assistant", content=reply), GO) for reply in replies)
    return [SYSTEM, GO, *(message for turn in turns for message in turn)]


async def test_replies_come_back_in_order_as_they_were_recorded(tmp_path):
    source: ModelSource = resolve(record(tmp_path / "e.jsonl", "one", "two"))
    model = source.for_episode(TASK, 0)
    first = await model.complete(said())
    assert (model.played, model.remaining) == (1, 1)
    second = await model.complete(said("one"))
    assert (first.text, second.text, model.played) == ("one", "two", 2)
    assert first.masked
    assert (first.usage, first.cost_usd, first.latency_s) == (USAGE, 0.25, 1.5)
    assert (first.finish_reason, first.served_model, first.attempts) == ("length", "large-2026", 2)
    assert first.adaptations == ("temperature left out",)


async def test_other_words_in_the_conversation_are_no_miss(tmp_path):
    model = resolve(record(tmp_path / "e.jsonl", "one")).for_episode(TASK, 0)
    changed = [SYSTEM, Message(role="user", content="go, with memory")]
    assert (await model.complete(changed)).text == "one"


async def test_one_more_completion_than_recorded_is_a_miss(tmp_path):
    path = record(tmp_path / "e.jsonl", "one")
    model = resolve(path).for_episode(TASK, 0)
    await model.complete(said())
    with pytest.raises(RecordingMiss, match=r"e\.jsonl: all 1 recorded replies are played"):
        await model.complete(said("one"))


@pytest.mark.parametrize(
    "conversation",
    [[], [GO], [SYSTEM, GO, GO], [GO, SYSTEM], said("one")],
    ids=["empty", "shorter", "longer", "swapped", "a turn ahead"],
)
async def test_a_conversation_of_another_shape_is_a_miss(tmp_path, conversation):
    model = resolve(record(tmp_path / "e.jsonl", "one", "two")).for_episode(TASK, 0)
    with pytest.raises(RecordingMiss, match="reply 1 was given to 2 messages ending in user"):
        await model.complete(conversation)
    assert model.played == 0


def test_a_call_that_got_no_reply_is_no_turn(tmp_path):
    path = record(tmp_path / "e.jsonl", "one")
    trace = read_trace(path)
    call = next(each for each in trace.records if isinstance(each, ModelCallRecord))
    failed = ErrorRecord(error="ModelError", message="dead")
    cut = trace.model_copy(update={"records": (*trace.records[:-1], call, failed)})
    assert [turn.reply.text for turn in recorded_turns(cut)] == ["one"]
    assert [turn.roles for turn in recorded_turns(cut)] == [("system", "user")]


def test_an_assistant_message_without_a_call_is_no_turn(tmp_path):
    trace = read_trace(record(tmp_path / "e.jsonl", "one", "two"))
    example = MessageRecord(role="assistant", content="a worked example")
    records = (example, *trace.records[:4], example, *trace.records[4:])
    turns = recorded_turns(trace.model_copy(update={"records": records}))
    assert [turn.reply.text for turn in turns] == ["one", "two"]
    assert turns[0].roles == ("assistant", "system", "user")
    assert len(turns[1].roles) == 6


async def test_a_run_folder_is_searched_for_the_task_and_the_seed(tmp_path):
    other = TASK.model_copy(update={"id": "t_2"})
    record(tmp_path / "arm" / "a.jsonl", "seed 0")
    record(tmp_path / "arm" / "b.jsonl", "seed 1", seed=1)
    record(tmp_path / "arm" / "c.jsonl", "seed 1, later", seed=1)
    record(tmp_path / "arm" / "d.jsonl", "other task", task=other)
    (tmp_path / "arm" / "outputs").mkdir()
    (tmp_path / "arm" / "outputs" / "api_calls.jsonl").write_text('{"url": "/x"}\n')
    (tmp_path / "arm" / "empty.jsonl").write_text("")
    source = resolve(tmp_path)

    async def first(task: Task, seed: int) -> str:
        return (await source.for_episode(task, seed).complete(said())).text

    assert await first(TASK, 0) == "seed 0"
    assert await first(TASK, 1) == "seed 1"
    assert await first(TASK, 9) == "seed 0"
    assert await first(other, 1) == "other task"
    assert source.describe() == {"name": source.name, "recorded": [{"name": "large"}]}


def test_a_task_that_was_not_recorded_is_answered_with_the_nearest(tmp_path):
    source = resolve(record(tmp_path / "e.jsonl", "one"))
    with pytest.raises(UnknownName, match="Nearest: t_1"):
        source.for_episode(TASK.model_copy(update={"id": "t_9"}), 0)
    with pytest.raises(UnknownName):
        source.for_episode(TASK.model_copy(update={"benchmark": "other"}), 0)


def test_a_trace_without_replies_is_said_to_have_none(tmp_path):
    source = resolve(record(tmp_path / "e.jsonl"))
    with pytest.raises(UsageError, match="holds no model reply"):
        source.for_episode(TASK, 0)


def test_a_path_that_is_not_there_is_named(tmp_path):
    with pytest.raises(UsageError, match="nowhere"):
        resolve(tmp_path / "nowhere")


def test_a_folder_without_traces_is_named(tmp_path):
    with pytest.raises(UsageError, match="holds no trace"):
        resolve(tmp_path)


@pytest.mark.parametrize(
    "content", ["", "hello\n", '{"url": "/x"}\n', "[]\n", "[" * 100_000, b"\xff\xfe\n"]
)
def test_a_file_that_is_no_trace_is_named(tmp_path, content):
    path = tmp_path / "e.jsonl"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(BadFile, match=r"e\.jsonl, line 1: is no trace"):
        resolve(path)


def test_a_pipe_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "e.jsonl")
    for path in (tmp_path, tmp_path / "e.jsonl"):
        with pytest.raises(UsageError, match="holds no trace"):
            resolve(path)


def test_a_damaged_header_in_a_run_is_not_passed_over(tmp_path):
    record(tmp_path / "a.jsonl", "one")
    (tmp_path / "b.jsonl").write_text('{"type": "episode", "schema": 2}\n')
    with pytest.raises(BadFile, match=r"b\.jsonl, line 1"):
        resolve(tmp_path)


def test_a_trace_that_was_cut_off_is_refused(tmp_path):
    path = record(tmp_path / "e.jsonl", "one")
    path.write_text("".join(path.read_text().splitlines(keepends=True)[:-1]))
    with pytest.raises(BadFile, match="cut off"):
        resolve(path).for_episode(TASK, 0)
