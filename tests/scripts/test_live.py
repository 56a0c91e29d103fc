"""The view of a run that goes on, in a terminal of eighty columns."""

import io

import pytest
from rich.console import Console

from runtime.batch import Arm, Job
from runtime.contracts import AllowGate, NoInjector, Usage
from runtime.episode import EpisodeResult, Progress
from runtime.records import EndRecord
from runtime.runs import ArmManifest
from scripts.live import LiveView, LogView
from tests.support.fake_world import FakeBenchmark, FakeSource, task


def job(arm: str = "large_with_starter", name: str = "d81ca05_1") -> Job:
    manifest = ArmManifest(name=arm, model={})
    policy = lambda task: (AllowGate(), NoInjector())  # noqa: E731
    return Job(Arm(manifest, FakeSource(), FakeBenchmark(), policy), task(name))


def ended(status="passed", *, cost=0.5, error="", limit=None) -> EpisodeResult:
    end = EndRecord(
        status=status,
        limit=limit,
        steps=3,
        calls=4,
        events=4,
        usage=Usage(input=1000, output=234),
        cost_usd=cost,
        wall_s=2.0,
    )
    return EpisodeResult(
        status=status, limit=limit, outcome=None, end=end, error=error, trace="t.jsonl"
    )


class Terminal:
    """A live view and what it would draw."""

    def __init__(self) -> None:
        self.console = Console(file=io.StringIO(), width=80, force_terminal=True)
        self.view = LiveView(self.console)

    @property
    def drawn(self) -> str:
        plain = Console(file=io.StringIO(), width=80)
        plain.print(self.view._render())
        return plain.file.getvalue()


@pytest.fixture
def terminal() -> Terminal:
    return Terminal()


def test_a_row_for_each_running_episode_and_the_totals(terminal):
    first, second = job(), job(name="d81ca05_2")
    terminal.view.planned([first, second], done=3)
    terminal.view.started(first)
    terminal.view.started(second)
    usage = Usage(input=12_000, output=345)
    told = Progress(step=7, calls=12, usage=usage, cost_usd=0.0123, doing="cell")
    terminal.view.progressed(first, told)
    row = next(line for line in terminal.drawn.splitlines() if "d81ca05_1" in line)
    assert row.split()[:7] == [
        *("d81ca05_1", "large_with_starter"),
        *("7", "12", "12,345", "$0.0123", "cell"),
    ]
    assert "3/5" in terminal.drawn
    terminal.view.ended(first, ended())
    assert "d81ca05_1" not in terminal.drawn
    assert "1 passed  0 failed  0 errored   1,234 tokens   $0.5000" in terminal.drawn
    terminal.view.ended(second, ended("failed", cost=None))
    assert "1 passed  1 failed  0 errored   2,468 tokens   cost ?" in terminal.drawn
    assert "episode " not in terminal.drawn


def test_a_long_arm_stands_under_its_task_which_is_whole(terminal):
    names = ("mini_ambiguity_which_alex", "mini_ambiguity_which_ines")
    for name in names:
        terminal.view.started(job(arm="a-very-long-model-name-of-a-provider" * 2, name=name))
    lines = terminal.drawn.splitlines()
    for name in names:
        at = next(at for at, line in enumerate(lines) if name in line)
        assert "open" in lines[at]
        assert lines[at + 1].startswith("  a-very-long-model")


def test_no_cost_is_shown_before_the_first_reply(terminal):
    terminal.view.started(job())
    asking = Progress(step=1, calls=0, usage=Usage(), cost_usd=0.0, doing="model")
    terminal.view.progressed(job(), asking)
    assert "$" not in terminal.drawn
    unpriced = Progress(step=2, calls=0, usage=Usage(), cost_usd=None, doing="cell")
    terminal.view.progressed(job(), unpriced)
    assert "?" in terminal.drawn


def test_an_error_is_said_while_the_run_goes_on(terminal):
    with terminal.view:
        terminal.view.started(job())
        terminal.view.ended(job(), ended("errored", error="[red]no answer[/red]"))
    assert "[red]no" in terminal.console.file.getvalue()


def test_without_a_terminal_there_is_a_line_for_each_end():
    console = Console(file=io.StringIO(), width=80)
    log = LogView(console)
    log.planned([job()], done=2)
    log.ended(job(), ended("failed", limit="steps"))
    assert console.file.getvalue() == (
        "1 episodes to run, 2 complete already\n"
        "[1/1] large_with_starter/d81ca05_1: failed (limit: steps), 3 steps, 4 calls, 2.0 s\n"
    )
