"""The command line as a whole: its commands, its help, its exit codes."""

import subprocess
import sys
from pathlib import Path

import pytest

from scripts.cli import COMMANDS

ROOT = Path(__file__).parents[2]


def test_help_lists_each_command_with_its_line(contramem):
    done = contramem("--help")
    assert done.code == 0
    text = " ".join(done.out.replace("│", " ").split())
    for name, command in COMMANDS.items():
        assert f"{name} {command.help}" in text
    assert max(map(len, done.out.splitlines())) <= 80


@pytest.mark.parametrize("name", COMMANDS)
def test_each_command_loads_and_begins_its_help_with_the_listed_line(contramem, name):
    done = contramem(name, "--help")
    assert done.code == 0
    text = " ".join(done.out.replace("│", " ").split())
    assert f"Usage: contramem {name}" in text
    assert COMMANDS[name].help.removesuffix(".") in text


def test_no_command_is_wrong_usage_and_shows_the_help(contramem):
    done = contramem()
    assert done.code == 2
    assert "Usage: contramem" in done.out + done.err


def test_an_unknown_command_is_wrong_usage_with_the_nearest(contramem):
    done = contramem("replya")
    assert done.code == 2
    assert "replay" in done.err


@pytest.mark.parametrize("words", [["--help"], ["run", "--help"]])
def test_help_waits_for_no_benchmark_no_memory_and_no_client(words):
    program = (
        "import sys; from scripts.cli import app\n"
        f"app({words}, standalone_mode=False)\n"
        "heavy = {'numpy', 'openai', 'adapters', 'injectors', 'jinja2'} & set(sys.modules)\n"
        "assert not heavy, heavy"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
