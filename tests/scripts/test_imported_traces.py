"""What the commands say of traces that come from another harness."""

import json

import pytest

from tests.scripts.conftest import SHOP


@pytest.fixture
def imported(contramem, good, tmp_path):
    """A folder with one trace that says it was imported."""
    contramem("run", *SHOP, "--model", good, "--out", "r", "--task", "t_1")
    header, rest = (tmp_path / "r/scripted-good/episodes/t_1.jsonl").read_text().split("\n", 1)
    folder = tmp_path / "imported"
    folder.mkdir()
    text = json.dumps(json.loads(header) | {"source": "are lite"})
    (folder / "t_1.jsonl").write_text(f"{text}\n{rest}")
    return folder


@pytest.mark.parametrize("name", ["imported", "imported/t_1.jsonl"])
def test_an_imported_trace_is_not_replayed_and_it_is_said_why(contramem, imported, name):
    done = contramem("replay", name)
    assert done.code == 2
    assert "imported/t_1.jsonl was imported (are lite): it cannot be replayed" in done.err
    assert "contramem show imported/t_1.jsonl" in done.err


def test_a_folder_of_imported_traces_has_no_report_and_it_is_said_what_it_is(contramem, imported):
    done = contramem("report", "imported")
    assert done.code == 2
    assert "It holds traces without a run: read one with `contramem show FILE`." in done.err
    assert contramem("show", "imported/t_1.jsonl").code == 0
