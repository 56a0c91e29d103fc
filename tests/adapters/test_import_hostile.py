"""Foreign runs are hostile: any bytes in, a readable trace or a plain error out."""

import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from adapters.appworld.importer import import_appworld
from adapters.gaia2.importer_are import import_are
from adapters.gaia2.importer_cli import import_gaia2_cli
from adapters.importing.replies import Unreadable, parse_reply
from adapters.importing.requests import conversation
from adapters.importing.sources import LARGEST_FILE, LONGEST_TEXT, clean, safe_name, tame
from runtime.errors import BadFile
from runtime.records import CallRecord
from runtime.trace import read_trace

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
ACTION_KEYS = st.sampled_from(["app", "function", "operation_type", "args", "name", "value"])
EVENTS = st.fixed_dictionaries(
    {},
    optional={
        "event_type": VALUES | st.sampled_from(["AGENT", "ENV", "USER"]),
        "event_time": VALUES,
        "action": VALUES | st.dictionaries(ACTION_KEYS, VALUES),
        "metadata": VALUES | st.dictionaries(st.sampled_from(["return_value"]), VALUES),
    },
)
WITHOUT_CLEANUP = settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=150
)


def dump(value: object) -> str:
    return json.dumps(value)


@pytest.mark.slow
class TestAnyShape:
    @WITHOUT_CLEANUP
    @given(events=st.lists(EVENTS | VALUES, max_size=5), metadata=VALUES)
    def test_of_an_are_export(self, events: list, metadata: object, tmp_path: Path) -> None:
        path = tmp_path / "run.json"
        path.write_text(dump({"completed_events": events, "metadata": metadata}))
        read_trace(import_are(path, tmp_path / "out").traces[0])

    @WITHOUT_CLEANUP
    @given(history=VALUES, more=VALUES)
    def test_of_a_history(self, history: object, more: object, tmp_path: Path) -> None:
        path = tmp_path / "run.json"
        rows = [{"role": "assistant", "content": "Action: {}", "timestamp": more}, history]
        content = {"per_agent_interaction_histories": {"a": rows}, "model_id": more}
        path.write_text(dump(content))
        read_trace(import_are(path, tmp_path / "out").traces[0])

    @WITHOUT_CLEANUP
    @given(row=VALUES, event=VALUES, text=st.text())
    def test_of_a_run_folder(self, row: object, event: object, text: str, tmp_path: Path) -> None:
        call = {"timestamp": "2026-01-01T00:00:00Z", "request": row, "raw_response": text}
        (tmp_path / "trace.jsonl").write_text(f"{dump(call)}\n{dump(row)}\n")
        (tmp_path / "events.jsonl").write_text(
            dump({"t": 1, "app": event, "fn": "f", "args": row}) + "\n"
        )
        for path in import_gaia2_cli(tmp_path, tmp_path / "out").traces:
            read_trace(path)

    @WITHOUT_CLEANUP
    @given(body=st.text(), row=VALUES)
    def test_of_an_appworld_log(self, body: str, row: object, tmp_path: Path) -> None:
        logs = tmp_path / "logs"
        logs.mkdir(exist_ok=True)
        head = "### Environment Interaction 1\n----------\n```python\n"
        (logs / "environment_io.md").write_text(
            f"{head}{body}\n```\n\n```\n{body}\n```\n", "utf-8", "replace"
        )
        (logs / "api_calls.jsonl").write_text(
            dump({"method": row, "url": body, "data": row}) + "\n"
        )
        (logs / "lm_calls.jsonl").write_text(dump({"input": row, "output": row}) + "\n")
        for path in import_appworld(tmp_path, tmp_path / "out").traces:
            read_trace(path)

    @given(raw=st.text() | VALUES.map(dump) | VALUES.map(lambda value: f"data: {dump(value)}\n"))
    def test_of_a_reply(self, raw: str) -> None:
        try:
            parse_reply(raw)
        except Unreadable:
            return

    @given(value=VALUES)
    def test_of_a_request(self, value: object) -> None:
        conversation(tame(value))

    @given(key=st.sampled_from(["choices", "output", "content", "candidates"]), value=VALUES)
    def test_below_a_known_key(self, key: str, value: object) -> None:
        try:
            parse_reply(dump({key: [value, {"message": value, "content": value, "delta": value}]}))
        except Unreadable:
            return


def are_export(tmp_path: Path, **argument: object) -> Path:
    action = {"app": "Emails", "function": "send_email", "args": [argument]}
    event = {"event_type": "AGENT", "event_time": 1.0, "action": action}
    path = tmp_path / "run.json"
    path.write_text(dump({"completed_events": [event]}))
    return path


def argument_of(path: Path, out: Path) -> object:
    trace = read_trace(import_are(path, out).traces[0])
    (call,) = [record for record in trace.records if isinstance(record, CallRecord)]
    return call.arguments["body"]


class TestBounds:
    def test_a_text_is_cut_with_a_note(self, tmp_path: Path) -> None:
        path = are_export(tmp_path, name="body", value="x" * (LONGEST_TEXT + 5))
        text = argument_of(path, tmp_path / "out")
        assert isinstance(text, str)
        assert len(text) <= LONGEST_TEXT
        assert text.endswith("[69 characters cut at import]")

    def test_a_deep_value_is_cut_with_a_note(self, tmp_path: Path) -> None:
        path = are_export(tmp_path, name="body", value="[" * 400 + "]" * 400, value_type="list")
        assert "nested too deep" in dump(argument_of(path, tmp_path / "out"))

    def test_an_endless_number_is_text(self, tmp_path: Path) -> None:
        path = are_export(tmp_path, name="body", value="1" * 100, value_type="int")
        assert argument_of(path, tmp_path / "out") == "1" * 100

    def test_a_file_of_many_megabytes_is_refused(self, tmp_path: Path) -> None:
        path = tmp_path / "run.json"
        with path.open("wb") as file:
            file.truncate(LARGEST_FILE + 1)
        with pytest.raises(BadFile, match="split it"):
            import_are(path, tmp_path / "out")

    def test_lone_surrogates_and_odd_numbers_become_readable(self) -> None:
        odd = {"\ud800": ["a\udfffb", float("nan"), float("inf"), 1 << 70]}
        assert tame(odd) == {"?": ["a?b", "nan", "inf", str(1 << 70)]}

    @given(text=st.text(st.characters()))
    def test_clean_text_can_be_encoded(self, text: str) -> None:
        clean(text).encode("utf-8")


class TestNames:
    @given(name=st.text(max_size=200))
    def test_a_name_is_one_file_in_its_folder(self, name: str) -> None:
        safe = safe_name(name)
        assert Path(safe).name == safe
        assert safe not in {"", ".", ".."}
        assert len(safe) <= 100

    @given(names=st.lists(st.text(max_size=20), min_size=2, max_size=2, unique=True))
    def test_two_names_never_share_a_file(self, names: list[str]) -> None:
        assert safe_name(names[0]) != safe_name(names[1])

    @pytest.mark.parametrize(
        "name", ["../../etc/passwd", "/abs", "a\\b", "..", "", "\x00", "c:\\x"]
    )
    def test_an_id_cannot_leave_the_folder(self, name: str, tmp_path: Path) -> None:
        out = tmp_path / "below/out"
        path = tmp_path / "run.json"
        definition = {"definition": {"scenario_id": name}}
        path.write_text(dump({"completed_events": [], "metadata": definition}))
        (trace,) = import_are(path, out).traces
        assert trace.parent == out
        assert trace.is_file()
        assert {item for item in tmp_path.rglob("*") if item.is_file()} == {path, trace}
