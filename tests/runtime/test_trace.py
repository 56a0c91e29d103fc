"""Traces on disk: masked, flushed line by line, renamed when complete, read back strictly."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from runtime.contracts import Kind, Limits, Usage
from runtime.errors import BadFile, TraceError
from runtime.masking import Masker
from runtime.records import CallRecord, DecisionRecord, EndRecord, Header, MessageRecord
from runtime.trace import TraceWriter, read_trace
from tests.support.fake_world import task

HEADER = Header(episode="a/t_1", task=task(), limits=Limits(), prompt_sha256="0")
END = EndRecord(status="passed", steps=1, calls=0, events=0, usage=Usage(), wall_s=1.0)
PART = "t_1.jsonl.part"


def said(text: str) -> MessageRecord:
    return MessageRecord(role="user", content=text)


def write(folder: Path, *records, finish: bool = True) -> Path:
    path = folder / "t_1.jsonl"
    with TraceWriter(path, Masker()) as writer:
        for record in records:
            writer.write(record)
        if finish:
            writer.finish()
    return path


def test_what_is_written_is_read_again(tmp_path):
    path = write(tmp_path, HEADER, said("héllo\n\u2028"), END)
    trace = read_trace(path)
    assert trace.header == HEADER
    assert trace.records == (said("héllo\n\u2028"), END)
    assert trace.end == END
    assert json.loads(path.read_text("utf-8").splitlines()[0])["schema"] == 1


def test_secrets_are_masked_on_write(tmp_path):
    path = write(tmp_path, HEADER, said('{"password": "hunter22"}'), END)
    assert "hunter22" not in path.read_text("utf-8")


def test_a_lone_surrogate_is_spelt_out(tmp_path):
    assert read_trace(write(tmp_path, HEADER, said("a\ud800b"), END)).records[0] == said(
        "a\\ud800b"
    )


def test_numbers_that_json_does_not_have_are_spelt_out(tmp_path):
    decision = DecisionRecord(action="allow", reason="gate off")
    odd = {"amount": float("nan"), "limits": [float("inf"), {"low": float("-inf")}, 1.5]}
    call = CallRecord(
        n=1, cell=1, function="shop.buy", arguments=odd, kind=Kind.WRITE, decision=decision
    )
    path = write(tmp_path, HEADER, call, END)
    for line in path.read_text("utf-8").splitlines():
        json.loads(line, parse_constant=pytest.fail)
    (read, _) = read_trace(path).records
    assert read.arguments == {"amount": "nan", "limits": ["inf", {"low": "-inf"}, 1.5]}


def test_a_trace_has_its_name_only_once_it_is_complete(tmp_path):
    path = write(tmp_path, HEADER, said("hello"), finish=False)
    assert not path.exists()
    trace = read_trace(tmp_path / PART, complete=False)
    assert trace.records == (said("hello"),)
    assert trace.end is None


def test_each_record_is_on_disk_when_write_returns(tmp_path):
    path = tmp_path / "t_1.jsonl"
    with TraceWriter(path, Masker()) as writer:
        writer.write(HEADER)
        writer.write(said("hello"))
        assert len(read_trace(tmp_path / PART, complete=False).records) == 1


@pytest.mark.parametrize("cut", [1, 2, 3, 40])
def test_a_torn_last_line_is_dropped_from_a_prefix(tmp_path, cut):
    """Also where the cut goes through a character of several bytes."""
    path = write(tmp_path, HEADER, said("one"), said("héé"), finish=False).with_name(PART)
    whole = path.read_bytes()
    path.write_bytes(whole[: whole.index("é".encode()) + cut] if cut < 40 else whole[:-cut])
    assert read_trace(path, complete=False).records == (said("one"),)
    with pytest.raises(BadFile, match="line 3"):
        read_trace(path)


def test_a_trace_without_its_end_is_said_to_be_cut_off(tmp_path):
    path = write(tmp_path, HEADER, said("one"))
    with pytest.raises(BadFile, match=r"t_1.jsonl, line 2: .*cut off"):
        read_trace(path)


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("{", "line 2: not a trace record: Invalid JSON"),
        ('{"type": "letter"}', "line 2: not a trace record: .*'letter'"),
        ('{"type": "message", "role": "user"}', "line 2: not a trace record: message.content"),
        ('{"type": "message", "role": "user", "content": "", "x": 1}', "line 2: .*message.x"),
    ],
)
def test_a_damaged_line_is_named(tmp_path, line, problem):
    path = write(tmp_path, HEADER, said("one"), END)
    lines = path.read_text("utf-8").splitlines()
    path.write_text("\n".join([lines[0], line, lines[2]]) + "\n", "utf-8")
    for complete in (True, False):
        with pytest.raises(BadFile, match=problem):
            read_trace(path, complete=complete)


def test_a_trace_of_another_schema_is_named_as_such(tmp_path):
    path = write(tmp_path, HEADER, END)
    path.write_text(path.read_text("utf-8").replace('"schema":1', '"schema":2'), "utf-8")
    with pytest.raises(BadFile, match="line 1: this version reads traces of schema 1, not 2"):
        read_trace(path)


@pytest.mark.parametrize("content", [b"", b'{"type":"message","role":"user","content":""}\n'])
def test_a_file_without_a_header_is_no_trace(tmp_path, content):
    (tmp_path / "x.jsonl").write_bytes(content)
    with pytest.raises(BadFile, match="first line of a trace is its header"):
        read_trace(tmp_path / "x.jsonl", complete=False)


def test_a_missing_trace_and_a_folder_are_named(tmp_path):
    with pytest.raises(BadFile, match="no such trace"):
        read_trace(tmp_path / "x.jsonl")
    with pytest.raises(BadFile, match="directory"):
        read_trace(tmp_path)


def test_a_folder_that_cannot_be_made_is_a_trace_error(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(TraceError, match=r"Cannot write the trace .*Free space or choose another"):
        TraceWriter(tmp_path / "file" / "t.jsonl", Masker())


FILLS_ITS_DISK = """
import resource, signal, sys
from pathlib import Path
from runtime.errors import TraceError
from runtime.masking import Masker
from runtime.records import MessageRecord
from runtime.trace import TraceWriter, read_trace
from tests.runtime.test_trace import HEADER

signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
path = Path(sys.argv[1])
try:
    with TraceWriter(path, Masker()) as writer:
        writer.write(HEADER)
        while True:
            writer.write(MessageRecord(role="user", content="x" * 500))
except TraceError as error:
    print(error)
print(len(read_trace(path.with_name(path.name + ".part"), complete=False).records), path.exists())
"""


def test_a_full_disk_is_a_trace_error_and_leaves_a_readable_prefix(tmp_path):
    root = Path(__file__).parents[2]
    done = subprocess.run(
        [sys.executable, "-c", FILLS_ITS_DISK, str(tmp_path / "t_1.jsonl")],
        env={**os.environ, "PYTHONPATH": str(root)},
        capture_output=True,
        text=True,
        check=True,
    )
    error, last = done.stdout.splitlines()
    assert error.startswith("Cannot write the trace")
    assert "File too large" in error
    assert last == "6 False"
