"""Text from files and servers steers no terminal, and is not read as markup."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from injectors.bank import Bank
from injectors.bank_files import create_bank
from injectors.cards import FunctionCard
from runtime.contracts import Task
from tests.scripts.conftest import SHOP, start
from tests.support.chat_server import completion, refusal
from tests.support.fake_world import FakeBenchmark

EVIL = "\x1b]0;pwn\x07\x9b2J\u202e[/b]"
HARMLESS = "\\x1b]0;pwn\\x07\\x9b2J\\u202e[/b]"
FREE_TEXT = frozenset(
    {"episode", "instruction", "reason", "content", "source", "requirement", "detail", "dataset"}
)


def shown(words: str) -> bool:
    """Whether the text stands there whole, over however many lines, and spelt out."""
    assert not set(EVIL) & set(words) - set("]0;pwn2J[/b]")
    return HARMLESS in "".join(part for part in words.split() if part.strip("│┃|"))


def poisoned(value: Any, field: str = "") -> Any:
    """Return JSON with hostile text in the fields that hold free text."""
    if isinstance(value, dict):
        return {name: poisoned(item, name) for name, item in value.items()}
    if isinstance(value, list):
        return [poisoned(item, field) for item in value]
    return f"{value}{EVIL}" if field in FREE_TEXT and isinstance(value, str) else value


@pytest.fixture
def bank(tmp_path) -> Path:
    card = FunctionCard(
        card_id="function::shop.buy",
        tool="shop.buy",
        app="shop",
        function="buy",
        what_it_does=f"Buys {EVIL}",
    )
    create_bank(tmp_path / "b", Bank.of("fake", [card], about=f"By {EVIL}"))
    return tmp_path / "b"


@pytest.fixture
def trace(contramem, good, tmp_path) -> Path:
    contramem("run", *SHOP, "--model", good, "--task", "t_1", "--out", "r")
    path = tmp_path / "r/scripted-good/episodes/t_1.jsonl"
    records = [poisoned(json.loads(line)) for line in path.read_text().splitlines()]
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


@pytest.mark.parametrize("words", [("show",), ("search", "Buys"), ("show", "--json")])
def test_of_a_bank(contramem, bank, words):
    command, *rest = words
    done = contramem("bank", command, bank, *rest)
    assert done.code == 0
    assert shown(done.out) is ("--json" not in words)


def test_of_a_trace(contramem, trace):
    done = contramem("show", trace, "--prompt")
    assert done.code == 0
    assert shown(done.out)
    assert f"[allowed{HARMLESS}]" in done.out or f"[read{HARMLESS}]" in done.out


def test_of_a_replay(contramem, trace):
    done = contramem("replay", trace)
    assert done.code == 1
    assert shown(done.out)


def test_of_a_run(contramem, trace):
    manifest = trace.parents[2] / "manifest.json"
    manifest.write_text(json.dumps(poisoned(json.loads(manifest.read_text()))))
    done = contramem("report", "r")
    assert done.code == 0
    assert shown(done.out)


def test_of_tasks(contramem, monkeypatch):
    class Hostile(FakeBenchmark):
        def tasks(self, dataset: str) -> tuple[Task, ...]:
            (first, *_) = super().tasks("all")
            return (first.model_copy(update={"instruction": EVIL, "ability": EVIL}),)

    monkeypatch.setattr("scripts.commands.tasks.open_benchmark", lambda *_: Hostile())
    monkeypatch.setattr("scripts.commands.tasks.dataset_names", lambda _: [EVIL])
    for words in (("--dataset", "all"), ()):
        done = contramem("tasks", "--bench", "fake", *words)
        assert done.code == 0
        assert shown(done.out)


def test_of_folders(contramem, monkeypatch, tmp_path):
    monkeypatch.setenv("CONTRAMEM_HOME", str(tmp_path / EVIL.replace("/", "")))
    done = contramem("doctor")
    assert "\\x1b]0;pwn\\x07\\x9b2J\\u202e[b]" in done.out
    assert not shown(done.out)  # A folder's name has no "/".


def test_of_an_import(contramem, tmp_path):
    run = tmp_path / EVIL.replace("/", "")
    run.mkdir()
    (run / "events.jsonl").write_text('{"t": 1, "app": "Emails", "fn": "list_emails"}\n{"t"\n')
    done = contramem("import", "gaia2-cli", run, "--out", "imported")
    assert "left out: " in done.err
    assert HARMLESS.replace("/", "") in done.err
    shown(done.out + done.err)


def test_of_a_server(endpoint, tmp_path):
    toml = tmp_path / "models.toml"
    parameters = "\n[models.mini.parameters]\ntemperature = 1\n"
    toml.write_text(toml.read_text() + parameters)
    answers = [
        refusal(400, f"Unsupported parameter: temperature {EVIL}", param="temperature"),
        refusal(400, f"No {EVIL}"),
    ]
    endpoint.otherwise = lambda request: (
        (answers.pop(0) if len(answers) > 1 else answers[0])
        if request.path.endswith("/chat/completions")
        else completion()
    )
    run = start(tmp_path, "run", *SHOP, "--model", "mini", "--task", "t_1")
    out, err = run.communicate(timeout=60)
    assert f"temperature {HARMLESS}" in err
    assert f"No {HARMLESS}" in err
    shown(out + err)
