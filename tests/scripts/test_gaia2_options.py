"""`--judge` and `--think-time` on scenarios that have no scripted checks, and a real endpoint."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from adapters.environments import require
from adapters.gaia2.setup import Gaia2Setup
from adapters.roots import Root
from runtime.contracts import Usage
from runtime.trace import TraceFile, read_trace
from tests.adapters.gaia2.worlds.gaia2_scenarios import write_scenarios
from tests.scripts.conftest import models_toml, persona
from tests.support.chat_server import ChatServer, completion, refusal

SMALL = ("--bench", "gaia2", "--dataset", "small")
SEARCH = (*SMALL, "--task", "small_search")
TRUE, FALSE = "Same words. [[Success]] [[True]]", "Other words. [[Failure]] [[False]]"


def turn(cell: str) -> str:
    return f"```python\n{cell}\n```"


def tell(content: str) -> str:
    return turn(f"apps.AgentUserInterface.send_message_to_user(content={content!r})")


@pytest.fixture
def answering(tmp_path: Path) -> str:
    """A persona whose answer is right but not in the oracle's words."""
    return persona(tmp_path / "answers", tell("INV-44, I think."), tasks=("small_search",))


@pytest.fixture
def small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = write_scenarios(tmp_path / "root", scripted=False)
    setup = Gaia2Setup(require("gaia2").python, tmp_path / "scratch", (Root("path", root),))
    monkeypatch.setattr("scripts.benchmarks.gaia2_paths", lambda: setup)


@pytest.fixture
def judge(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ChatServer]:
    """The model `mini`, behind a real server."""
    monkeypatch.setenv("SHOP_KEY", "judge-key-0123456789")
    with ChatServer(lambda request: completion(TRUE)) as server:
        (tmp_path / "models.toml").write_text(models_toml(server.base_url), "utf-8")
        yield server


def trace_of(folder: Path, arm: str = "scripted-answers", task: str = "small_search") -> TraceFile:
    return read_trace(folder / arm / "episodes" / f"{task}.jsonl")


@pytest.mark.slow
@pytest.mark.parametrize(("verdict", "status"), [(TRUE, "passed"), (FALSE, "failed")])
def test_the_judges_model_decides_and_its_tokens_are_kept_apart(
    contramem, small, judge, answering, tmp_path, verdict, status
):
    judge.otherwise = lambda request: completion(verdict)
    words = ("run", *SEARCH, "--model", answering, "--judge", "mini", "--out", "r", "--json")
    done = contramem(*words)
    assert done.code == 0, done.err
    assert done.json["arms"][0][status] == 1
    trace = trace_of(tmp_path / "r")
    outcome = next(item for item in trace.records if item.type == "outcome")
    asked = len(judge.completions)
    assert asked > 0
    assert outcome.judge_usage == Usage(input=10 * asked, output=5 * asked)
    assert outcome.judge_cost_usd == pytest.approx(0.015 * asked)
    assert trace.end.usage == Usage()
    assert trace.header.judge == "mini"
    again = contramem("replay", "r", "--judge", "mini", "--json")
    assert (again.code, again.json["episodes"][0]["outcome"]) == (0, status)


@pytest.mark.slow
def test_a_judge_that_breaks_is_an_error_never_a_verdict(contramem, small, judge, answering):
    judge.will(*[refusal(400, "the judge is broken")] * 20)  # the list of models is answered
    done = contramem("run", *SEARCH, "--model", answering, "--judge", "mini", "--json")
    (arm,) = done.json["arms"]
    assert (done.code, arm["errored"], arm["failed"]) == (1, 1, 0)
    assert "the judge is broken" in done.err


@pytest.mark.slow
def test_a_dead_judge_is_found_before_the_first_episode(
    contramem, small, answering, tmp_path, monkeypatch
):
    monkeypatch.setenv("SHOP_KEY", "judge-key-0123456789")
    with ChatServer() as gone:
        (tmp_path / "models.toml").write_text(models_toml(gone.base_url), "utf-8")
    done = contramem("run", *SEARCH, "--model", answering, "--judge", "mini", "--out", "r")
    assert done.code == 3
    assert "mini" in done.err
    assert not list(tmp_path.glob("r/*/episodes/*"))


@pytest.mark.parametrize("dry", [(), ("--dry-run",)])
def test_scenarios_without_checks_ask_for_a_judge_before_anything_runs(
    contramem, small, answering, tmp_path, dry
):
    done = contramem("run", *SEARCH, "--model", answering, "--out", "r", *dry)
    assert done.code == 2
    assert "small_search has no scripted checks" in done.err
    assert "--judge MODEL" in done.err
    assert not (tmp_path / "r").exists()


@pytest.mark.slow
def test_thinking_costs_simulated_time_as_told_and_a_replay_charges_the_same(
    contramem, small, judge, tmp_path
):
    model = persona(tmp_path / "slow", turn("print(1)"), tell("Sent"), tasks=("small_time",))
    words = ("run", *SMALL, "--task", "small_time", "--model", model, "--judge", "mini")
    done = contramem(*words, "--think-time", "fixed:130", "--out", "r", "--json")
    assert done.code == 0, done.err
    trace = trace_of(tmp_path / "r", "scripted-slow", "small_time")
    assert trace.header.versions["think_time"] == "fixed:130"
    first = next(item for item in trace.records if item.type == "observation")
    assert first.text.endswith("[clock] 2024-11-05 09:02:10")
    assert contramem("replay", "r", "--judge", "mini").code == 0


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (("--bench", "appworld", "--dataset", "mini_test", "--think-time", "zero"), "--think-time"),
        (("--bench", "appworld", "--dataset", "mini_test", "--judge", "mini"), "--judge"),
        ((*SMALL, "--think-time", "slow"), "zero, measured or fixed:SECONDS"),
        ((*SMALL, "--judge", "nobody"), "nobody"),
    ],
)
def test_what_does_not_fit_is_refused(contramem, small, judge, words, complaint):
    done = contramem("run", *words, "--model", "scripted:careful")
    assert done.code == 2, done.err
    assert complaint in done.err
