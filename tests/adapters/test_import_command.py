"""`contramem import` on the command line."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from runtime.errors import BadFile
from runtime.trace import read_trace
from scripts.commands.import_ import app

FIXTURES = Path(__file__).parent / "import_fixtures"
SOURCES = {
    "appworld": ("appworld/some_agent", 2),
    "are": ("are/hf/gate.json", 1),
    "gaia2-cli": ("gaia2_cli", 1),
}


def run(*words: object) -> Result:
    return CliRunner().invoke(app, [str(word) for word in words])


@pytest.mark.parametrize("name", SOURCES)
def test_each_format_is_a_command(name: str, tmp_path: Path) -> None:
    source, many = SOURCES[name]
    done = run(name, FIXTURES / source, "--out", tmp_path)
    assert done.exit_code == 0, done.output
    paths = [Path(line) for line in done.stdout.splitlines()]
    assert len(paths) == many
    for path in paths:
        assert read_trace(path).header.source is not None


def test_json_lists_traces_and_problems(tmp_path: Path) -> None:
    broken = tmp_path / "run"
    broken.mkdir()
    (broken / "events.jsonl").write_text('{"t": 1, "app": "Emails", "fn": "list_emails"}\n{"t"\n')
    done = run("gaia2-cli", broken, "--out", tmp_path / "out", "--json")
    assert done.exit_code == 1
    told = json.loads(done.stdout)
    assert told["traces"] == [str(tmp_path / "out/run.jsonl")]
    assert "events.jsonl, line 2: expected one app call" in told["problems"][0]


def test_a_wrong_path_is_a_usage_error(tmp_path: Path) -> None:
    done = run("are", tmp_path / "missing.json", "--out", tmp_path)
    assert isinstance(done.exception, BadFile)
    assert done.exception.exit_code == 2
