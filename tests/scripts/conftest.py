"""The command line in this process and in others, on the fake shop."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from scripts.cli import main
from tests.support import fake_cli
from tests.support.chat_server import Answer, ChatServer, Request, completion
from tests.support.fake_world import BAD, GOOD

ROOT = Path(__file__).parents[2]
SHOP = ("--bench", "fake", "--dataset", "all")


@dataclass(frozen=True)
class Done:
    """How a command ended."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """The one JSON object on stdout."""
        return json.loads(self.out)


Contramem = Callable[..., Done]


@pytest.fixture
def contramem(monkeypatch, capsys, tmp_path) -> Contramem:
    """Run a command in this process, in an empty folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("scripts.planning.open_benchmark", fake_cli.open_benchmark)
    monkeypatch.setattr("scripts.replaying.open_benchmark", fake_cli.open_benchmark)

    def contramem(*words: object) -> Done:
        monkeypatch.setattr(sys, "argv", ["contramem", *map(str, words)])
        capsys.readouterr()
        with pytest.raises(SystemExit) as end:
            main()
        captured = capsys.readouterr()
        return Done(int(end.value.code or 0), captured.out, captured.err)

    return contramem


def start(folder: Path, *words: object, module: str = "tests.support.fake_cli") -> subprocess.Popen:
    """Start a command in a process of its own."""
    return subprocess.Popen(
        [sys.executable, "-m", module, *map(str, words)],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def persona(folder: Path, *turns: str, tasks: tuple[str, ...] = ("t_1", "t_2", "u_1")) -> str:
    """Write a persona that says the same on each task and return its model name."""
    folder.mkdir(exist_ok=True)
    for task in tasks:
        text = "\n".join(f"## turn\n{turn}" for turn in turns)
        (folder / f"{task}.md").write_text(f"{text}\n", "utf-8")
    return f"scripted:{folder}"


@pytest.fixture
def good(tmp_path) -> str:
    return persona(tmp_path / "good", *GOOD)


@pytest.fixture
def bad(tmp_path) -> str:
    return persona(tmp_path / "bad", *BAD)


class ShopServer(ChatServer):
    """An endpoint whose model solves the shop's tasks; it hangs on those named in `held`."""

    def __init__(self) -> None:
        self.held: set[str] = set()
        super().__init__(self.play)

    def play(self, request: Request) -> Answer:
        if not request.path.endswith("/chat/completions"):
            return Answer({"object": "list", "data": []})
        begin = request.messages[1]["content"]
        if any(name in begin for name in self.held):
            return Answer(hang=True)
        turn = sum(message["role"] == "assistant" for message in request.messages)
        return completion(GOOD[turn])

    def asked_for(self, task: str) -> int:
        """Count the completions that were asked for in a task."""
        return sum(task in request.messages[1]["content"] for request in self.completions)


@pytest.fixture
def endpoint(tmp_path, monkeypatch) -> Iterator[ShopServer]:
    """A priced model `mini` behind a real server, in models.toml."""
    monkeypatch.setenv("SHOP_KEY", "shop-key-0123456789")
    with ShopServer() as server:
        (tmp_path / "models.toml").write_text(models_toml(server.base_url), "utf-8")
        yield server


def models_toml(base_url: str) -> str:
    return f"""
[models.mini]
base_url = "{base_url}"
model = "mini-1"
api_key_env = "SHOP_KEY"
retries = 0
[models.mini.prices]
input = 1000.0
cached = 1000.0
output = 1000.0
"""
