"""Replies and cells of an AppWorld log find each other, whatever of the log is missing."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.appworld.importer import import_appworld
from adapters.appworld.matching import writers
from adapters.appworld.output_folder import LmCall
from adapters.importing.replies import ForeignReply
from runtime.records import CellRecord, MessageRecord
from runtime.trace import TraceFile, read_trace

CELLS = ("print(1)", "print(2)", "apis.supervisor.complete_task()")
REPLIES = tuple(f"Step {n}.\n```python\n{cell}\n```" for n, cell in enumerate(CELLS, start=1))
TASK = "Using these APIs, finish."
EXAMPLE = [
    {"role": "user", "content": "An example: finish."},
    {"role": "assistant", "content": "```python\napis.supervisor.complete_task(answer=1)\n```"},
]
RULE = "-" * 76


def lm_call(number: int, reply: str | None = None) -> str:
    messages = [*EXAMPLE, {"role": "user", "content": TASK}]
    for place in range(number):
        messages.append({"role": "assistant", "content": REPLIES[place]})
        messages.append({"role": "user", "content": f"Output:\n{place + 1}"})
    message = {"role": "assistant", "content": reply or REPLIES[number]}
    return json.dumps(
        {"input": {"messages": messages}, "output": {"choices": [{"message": message}]}}
    )


def torn(line: str) -> str:
    return line[:40]


def imported(lines: list[str], tmp_path: Path) -> tuple[TraceFile, int]:
    logs = tmp_path / "run/tasks/abc1234_1/logs"
    logs.mkdir(parents=True)
    (logs / "environment_io.md").write_text(
        "".join(
            f"### Environment Interaction {n}\n{RULE}\n```python\n{cell}\n```\n\n```\n{n}\n```\n"
            for n, cell in enumerate(CELLS, start=1)
        )
    )
    (logs / "lm_calls.jsonl").write_text("".join(f"{line}\n" for line in lines))
    report = import_appworld(tmp_path / "run", tmp_path / "out")
    return read_trace(report.traces[0]), len(report.problems)


def cells_with_replies(trace: TraceFile) -> list[tuple[str, str]]:
    """Each cell with what was said right before it."""
    pairs = []
    said = ""
    for record in trace.records:
        if isinstance(record, MessageRecord):
            said = record.content
        elif isinstance(record, CellRecord):
            pairs.append((record.source, said))
    return pairs


WHOLE = list(zip(CELLS, REPLIES, strict=True))


@pytest.mark.parametrize("lost", [{0}, {1}, {2}, {0, 1}, {1, 2}, {0, 1, 2}])
def test_a_torn_line_shifted_every_later_reply(lost: set[int], tmp_path: Path) -> None:
    lines = [torn(lm_call(n)) if n in lost else lm_call(n) for n in range(3)]
    trace, problems = imported(lines, tmp_path)
    assert problems == len(lost)
    repeated_later = 2 not in lost
    for (cell, said), (_, reply) in zip(cells_with_replies(trace), WHOLE, strict=True):
        assert said == reply or (said == f"```python\n{cell}\n```" and not repeated_later)
    assert trace.end is not None
    assert trace.end.steps == 3, "a call that cannot be read was still made"


@pytest.mark.parametrize("lost", [{0}, {0, 1}])
def test_after_a_torn_line_an_observation_became_the_instruction(
    lost: set[int], tmp_path: Path
) -> None:
    lines = [torn(lm_call(n)) if n in lost else lm_call(n) for n in range(3)]
    trace, _ = imported(lines, tmp_path)
    assert trace.header.task.instruction == TASK


def test_a_first_line_that_nothing_repeats_gives_no_instruction(tmp_path: Path) -> None:
    trace, _ = imported([torn(lm_call(n)) for n in range(3)], tmp_path)
    assert trace.header.task.instruction == ""


@pytest.mark.parametrize("place", [0, 1, 2, 3])
def test_a_reply_without_code_took_the_cell_of_the_next(place: int, tmp_path: Path) -> None:
    lines = [lm_call(n) for n in range(3)]
    lines.insert(place, lm_call(min(place, 2), "I will think first."))
    trace, problems = imported(lines, tmp_path)
    assert problems == 0
    assert cells_with_replies(trace) == WHOLE
    said = [item.content for item in trace.records if isinstance(item, MessageRecord)]
    assert said.count("I will think first.") == 1
    assert [text for text in said if text in REPLIES] == list(REPLIES)
    assert trace.end is not None
    assert trace.end.steps == 4


def test_a_line_that_is_gone_altogether_shifts_nothing(tmp_path: Path) -> None:
    trace, _ = imported([lm_call(0), lm_call(2)], tmp_path)
    fenced = f"```python\n{CELLS[1]}\n```"
    assert cells_with_replies(trace) == [WHOLE[0], (CELLS[1], fenced), WHOLE[2]]


def call(text: str | None) -> LmCall:
    return LmCall(reply=None if text is None else ForeignReply(text))


@pytest.mark.parametrize(
    ("replies", "cells", "pairs"),
    [
        (["```python\na\n```\n```python\nb\n```"], ["a\nb"], {0: 0}),
        (["Hm.", "```python\na\n```x```python\nb\n```"], ["a\nb\n"], {0: 1}),
        (["So: ```python\na\n"], ["a"], {0: 0}),
        (["words", "print(1)"], ["print(1)"], {0: 1}),
        (["", ""], ["tool_a()", "tool_b()"], {0: 0, 1: 1}),
        (["```python\na  # why\n```", "```python\nb\n```"], ["a", "b"], {0: 0, 1: 1}),
        (["words", "```python\na  # why\n```"], ["a"], {0: 1}),
        ([None, "```python\na\n```", "```python\na\n```"], ["a", "a", "a"], {0: 0, 1: 1, 2: 2}),
        ([None, "```python\na\n```", "```python\na\n```"], ["a", "a"], {0: 1, 1: 2}),
        (["```python\na\n```", "```python\nb\n```"], ["a"], {0: 0}),
        ([], ["a"], {}),
    ],
)
def test_what_a_harness_may_run_of_a_reply(
    replies: list[str | None], cells: list[str], pairs: dict[int, int]
) -> None:
    assert writers([call(text) for text in replies], cells) == pairs


STEPS = st.lists(
    st.sampled_from(["read", "lost", "gone", "no cell", "after words"]), min_size=1, max_size=12
)


@given(STEPS)
def test_a_reply_that_is_there_always_keeps_its_cell(steps: list[str]) -> None:
    """`lost`: a torn line. `gone`: no line at all. `no cell`: the log of cells lacks it."""
    calls: list[LmCall] = []
    cells: list[str] = []
    expected: dict[int, int] = {}
    for number, step in enumerate(steps):
        if step == "after words":
            calls.append(call("Let me think."))
        if step in {"read", "after words"}:
            expected[len(cells)] = len(calls)
        if step != "gone":
            calls.append(call(None if step == "lost" else f"```python\ndo({number})\n```"))
        if step != "no cell":
            cells.append(f"do({number})")
    found = writers(calls, cells)
    assert found | expected == found
    assert list(found.values()) == sorted(found.values())
