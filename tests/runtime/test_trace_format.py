"""docs/trace-format.md says what the models say, and its example is a trace."""

import re
from pathlib import Path
from typing import get_args

import pytest

from runtime.masking import Masker
from runtime.records import Record
from runtime.report.transcript import transcript
from runtime.trace import TraceWriter, read_trace

PAGE = (Path(__file__).parents[2] / "docs" / "trace-format.md").read_text("utf-8")
MODELS = get_args(get_args(Record)[0])


@pytest.fixture
def example(tmp_path):
    (block,) = re.findall(r"^```jsonl\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    (tmp_path / "example.jsonl").write_text(block, "utf-8")
    return read_trace(tmp_path / "example.jsonl")


def test_the_example_is_a_complete_trace(example):
    assert example.end.limit == "context"
    assert transcript(example)


def test_the_examples_totals_agree_with_its_records(example):
    calls = [record for record in example.records if record.type == "call"]
    results = [record for record in example.records if record.type == "result"]
    tokens = [record.tokens for record in example.records if record.type == "injection"]
    assert (example.end.calls, example.end.events) == (len(calls), len(results))
    assert example.end.memory_tokens == sum(tokens)


def test_the_examples_secrets_are_masked(example, tmp_path):
    with TraceWriter(tmp_path / "again.jsonl", Masker()) as writer:
        for record in (example.header, *example.records):
            writer.write(record)
        writer.finish()
    assert read_trace(tmp_path / "again.jsonl").records == example.records


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.model_fields["type"].default)
def test_each_record_and_each_of_its_fields_is_described(model):
    kind = model.model_fields["type"].default
    (row,) = [line for line in PAGE.splitlines() if line.startswith(f"| `{kind}` |")]
    fields = {field.alias or name for name, field in model.model_fields.items()}
    described = set(re.findall(r"`(\w+)`", row))
    assert fields - {"t", "type"} <= described
