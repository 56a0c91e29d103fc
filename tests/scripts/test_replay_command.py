"""`contramem replay`, `show` and `tasks` on the fake shop."""

import json
import shutil
from pathlib import Path

import pytest

from runtime.trace import read_trace
from tests.scripts.conftest import ROOT, SHOP, models_toml
from tests.support.chat_server import completion, refusal
from tests.support.fake_world import GOOD


@pytest.fixture
def recorded(contramem, good):
    contramem("run", *SHOP, "--model", good, "--out", "r")
    return "r"


@pytest.fixture
def gated(contramem, good, tmp_path):
    """A run behind the gate, by a persona that confirms."""
    (tmp_path / "good" / "always.md").write_text("## turn when: VERIFY_BEFORE_WRITE\n{{last}}\n")
    contramem("run", *SHOP, "--model", good, "--out", "g", "--gate", "on")
    return "g"


KEYS = {
    *("episode", "mode", "same", "first_difference", "injected_cards", "tokens_added"),
    *("stopped_writes", "outcome"),
}


@pytest.mark.parametrize("run", ["recorded", "gated"])
def test_a_run_is_verified(contramem, request, run):
    done = contramem("replay", request.getfixturevalue(run), "--json")
    assert done.code == 0
    episodes = done.json["episodes"]
    assert [(each["mode"], each["same"], each["outcome"]) for each in episodes] == [
        ("verify", True, "passed")
    ] * 3
    assert set(episodes[0]) >= KEYS


def test_a_difference_is_shown_and_ends_with_one(contramem, recorded, tmp_path):
    trace = tmp_path / "r/scripted-good/episodes/t_1.jsonl"
    trace.write_text(trace.read_text().replace("'lamp'", "'sofa'"))
    done = contramem("replay", "r/scripted-good/t_1")
    assert done.code == 1
    assert "observation of cell 2, text: recorded" in done.out
    assert contramem("replay", "r", "--json").code == 1


def test_the_gate_is_toggled_both_ways_without_any_model(contramem, recorded, gated):
    on = contramem("replay", recorded, "--gate", "on", "--json")
    assert on.code == 0
    for each in on.json["episodes"]:
        assert each["mode"] == "toggled"
        assert [write["function"] for write in each["stopped_writes"]] == ["shop.buy"]
        assert each["outcome"] == "passed"
    off = contramem("replay", gated, "--gate", "off", "--json").json["episodes"]
    assert [(each["stopped_writes"], each["outcome"]) for each in off] == [([], "passed")] * 3


def test_one_episode_is_shown_side_by_side(contramem, recorded):
    done = contramem("replay", "r/scripted-good/t_1", "--gate", "on", "--out", "p")
    assert done.code == 0
    assert "recorded" in done.out
    assert "stopped" in done.out
    assert max(map(len, done.out.splitlines())) <= 80


def test_a_verified_episode_that_is_the_same_is_one_row(contramem, recorded):
    done = contramem("replay", "r/scripted-good/t_1")
    assert done.code == 0
    *_, row, where = done.out.splitlines()
    assert row.split()[:3] == ["scripted-good/t_1", "verify", "yes"]
    assert "New traces: " in where


def test_of_a_verified_episode_that_differs_only_what_differs_is_shown(
    contramem, recorded, tmp_path
):
    trace = tmp_path / "r/scripted-good/episodes/t_1.jsonl"
    trace.write_text(trace.read_text().replace('"reason":"gate off"', '"reason":"verified"'))
    done = contramem("replay", "r/scripted-good/t_1")
    assert done.code == 1
    assert "... 1 alike" in done.out
    assert "shop.login" not in done.out
    assert "WRITE shop.buy: verified" in done.out
    assert "WRITE shop.buy: gate off" in done.out


def test_a_recording_is_continued_live_from_a_step(contramem, bad, endpoint, tmp_path):
    contramem("run", *SHOP, "--model", bad, "--out", "b", "--task", "t_1")
    words = ("replay", "b", "--continue-with", "mini", "--from-step", 2, "--out", "c", "--json")
    (episode,) = contramem(*words).json["episodes"]
    assert (episode["fork_step"], episode["recorded_outcome"]) == (2, "failed")
    assert episode["outcome"] == "passed"
    assert endpoint.asked_for("t_1") == 2
    trace = read_trace(tmp_path / "c/scripted-bad/episodes/t_1.jsonl")
    assert trace.header.model["name"] == "mini"
    assert trace.header.model["model"] == "mini-1"


def test_a_continuation_that_cannot_be_answered(contramem, bad, endpoint, tmp_path):
    contramem("run", *SHOP, "--model", bad, "--out", "b", "--task", "t_1")
    words = ("replay", "b", "--continue-with", "mini", "--from-step", 2)
    endpoint.will(refusal(400, "broken"))
    done = contramem(*words, "--json")
    assert (done.code, done.json["episodes"][0]["outcome"]) == (1, "errored")
    (tmp_path / "models.toml").write_text(models_toml("http://127.0.0.1:9/v1"))
    done = contramem(*words)
    assert (done.code, done.out) == (3, "")
    assert "no complete answer from http://127.0.0.1:9/v1" in done.err


def test_a_reply_that_is_missing_from_a_recording_is_an_error(contramem, recorded, tmp_path):
    trace = tmp_path / "r/scripted-good/episodes/t_1.jsonl"
    lines = trace.read_text().splitlines(keepends=True)
    last = max(at for at, line in enumerate(lines) if '"type":"model_call"' in line)
    trace.write_text("".join([*lines[:last], *lines[-2:]]))
    for words in ((), ("--gate", "on")):
        done = contramem("replay", "r/scripted-good/t_1", *words, "--json")
        assert (done.code, done.json["episodes"][0]["outcome"]) == (1, "errored")


def test_a_recording_plays_as_a_model_of_a_run(contramem, recorded):
    done = contramem("run", *SHOP, "--model", "recorded:r", "--out", "again", "--json")
    assert done.json["arms"][0]["passed"] == 3


def test_an_episode_is_shown_with_its_calls_and_outcome(contramem, recorded, tmp_path):
    shown = contramem("show", "r/scripted-good/t_1")
    assert shown.code == 0
    assert "Buy a lamp for t_1." in shown.out
    assert 'shop.buy(item="lamp")' in shown.out
    assert "WRITE  shop.buy" in shown.out
    assert "pass  one lamp" in shown.out
    assert "passed: 3 steps, 3 calls" in shown.out
    assert "You shop by code." not in shown.out
    assert "You shop by code." in contramem("show", "r/scripted-good/t_1", "--prompt").out
    assert "READ" not in contramem("show", "r/scripted-good/t_1", "--no-calls").out


def test_what_a_killed_run_left_is_shown_too(contramem, recorded, tmp_path):
    trace = tmp_path / "r/scripted-good/episodes/t_1.jsonl"
    part = trace.with_name("t_1.jsonl.part")
    part.write_bytes(trace.read_bytes()[:-300])
    trace.unlink()
    for name in ("r/scripted-good/t_1", part):
        shown = contramem("show", name)
        assert shown.code == 0
        assert "The episode was cut off here." in shown.out


def test_text_that_looks_like_markup_is_shown_as_it_is(contramem, tmp_path, endpoint):
    endpoint.will(completion("[bold]no[/red] markup\n" + GOOD[0]))
    contramem("run", *SHOP, "--model", "mini", "--task", "t_1", "--out", "r")
    assert "[bold]no[/red] markup" in contramem("show", "r/mini/t_1").out


def test_a_replay_into_the_recorded_run_is_refused_before_anything_runs(
    contramem, recorded, tmp_path
):
    trace = tmp_path / "r/scripted-good/episodes/t_1.jsonl"
    before = trace.read_bytes()
    done = contramem("replay", recorded, "--gate", "on", "--out", "r")
    assert done.code == 2
    assert "exists, and a replay replaces nothing: choose another --out" in done.err
    assert trace.read_bytes() == before


def test_replays_of_several_runs_with_one_arm_keep_apart(contramem, recorded, tmp_path):
    shutil.copytree(tmp_path / "r", tmp_path / "runs" / "one")
    shutil.copytree(tmp_path / "r", tmp_path / "runs" / "two")
    done = contramem("replay", "runs", "--json", "--out", "p")
    assert done.code == 0
    traces = {each["trace"] for each in done.json["episodes"]}
    assert len(traces) == len(done.json["episodes"]) == 6
    assert {Path(trace).parts[1] for trace in traces} == {"one", "two"}


@pytest.mark.parametrize("options", [(), ("--gate", "off")])
def test_a_bank_edited_since_the_run_is_not_mixed_in_silently(contramem, good, tmp_path, options):
    bank = tmp_path / "bank"
    shutil.copytree(ROOT / "adapters/appworld/starter_bank", bank)
    manifest = json.loads((bank / "manifest.json").read_text())
    (bank / "manifest.json").write_text(json.dumps(manifest | {"benchmark": "fake"}))
    contramem("run", *SHOP, "--model", good, "--memory", "bank", "--out", "r", "--limit", 1)
    (card, *_) = (bank / "functions").rglob("*.json")
    edited = contramem("bank", "deactivate", "bank", json.loads(card.read_text())["card_id"])
    assert edited.code == 0
    done = contramem("replay", "r", *options)
    assert done.code == 2
    assert "is not the bank of this episode" in done.err
    assert contramem("replay", "r", *options, "--memory", "bank").code == 0
