"""`contramem run`: what it prints, how it ends, and that the same command goes on."""

import json
import signal
import time
from itertools import pairwise

import pytest

from injectors.bank import Bank
from injectors.bank_files import create_bank
from runtime.trace import read_trace
from tests.scripts.conftest import SHOP, persona, start
from tests.support.chat_server import completion, refusal
from tests.support.fake_world import GOOD, LOOK


def test_the_json_object_is_the_one_that_scripts_rely_on(contramem, good, bad):
    done = contramem("run", *SHOP, "--model", good, "--model", bad, "--out", "r", "--json")
    assert done.code == 0
    assert done.json["run"] == "r"
    first, second = done.json["arms"]
    assert set(first) == {
        *("arm", "model", "memory", "profile", "gate", "latch", "dataset", "seed", "episodes"),
        *("passed", "failed", "errored", "not_run", "tgc", "sgc", "events", "calls", "tokens"),
        *("cost", "wall_s"),
    }
    assert (first["arm"], first["passed"], first["tgc"], first["sgc"]) == (
        *("scripted-good", 3, 100.0, 100.0),
    )
    assert (second["arm"], second["failed"], second["tgc"]) == ("scripted-bad", 3, 0.0)
    assert (first["cost"], first["gate"], first["memory"]) == (None, False, None)
    assert "[6/6]" in done.err


def test_the_table_is_the_result_and_progress_goes_to_stderr(contramem, good):
    done = contramem("run", *SHOP, "--model", good)
    assert done.code == 0
    assert "scripted-good" in done.out
    assert "contramem show runs/fake-all-" in done.out
    assert "3 episodes to run" in done.err
    again = contramem("run", *SHOP, "--model", good)
    assert "0 episodes to run, 3 complete already" in again.err
    assert again.out == done.out


def test_quiet_says_nothing_but_the_result(contramem, good):
    done = contramem("run", *SHOP, "--model", good, "--latch", "call", "--quiet", "--json")
    assert done.err == ""
    assert done.json["arms"][0]["passed"] == 3


def test_a_dry_run_shows_the_plan_and_runs_nothing(contramem, tmp_path, endpoint):
    words = ("run", *SHOP, "--model", "mini", "--limit", 2, "--cost", 0.5, "--out", "r")
    plan = contramem(*words, "--dry-run", "--json").json
    assert (plan["tasks"], plan["episodes"], plan["complete"]) == (2, 2, 0)
    assert plan["cost_bound_usd"] == 1.0
    assert plan["limits"]["steps"] == 50
    shown = contramem(*words, "--dry-run").out
    assert "cost_bound_usd  1.0" in shown
    assert "arms  mini: profile none, memory none, gate off" in shown
    assert (plan["seed"], plan["concurrency"]) == (0, 2)
    assert plan["arms"][0] == {
        "arm": "mini",
        "model": "mini",
        "memory": None,
        "profile": "none",
        "gate": False,
        "latch": "call",
    }
    assert not (tmp_path / "r").exists()
    assert endpoint.requests == []
    contramem(*words)
    assert contramem(*words, "--dry-run", "--json").json["complete"] == 2


def plan_of(contramem, *words):
    arms = contramem("run", *SHOP, *words, "--dry-run", "--json").json["arms"]
    return {arm["arm"]: (arm["profile"], arm["gate"], arm["memory"] is not None) for arm in arms}


def test_arms_of_one_command_differ_in_memory_only(contramem, good, tmp_path):
    create_bank(tmp_path / "b", Bank.of("fake"))
    words = ("--model", good, "--memory", "none", "--memory", "b")
    assert plan_of(contramem, *words, "--profile", "full") == {
        "scripted-good_with_none": ("full", True, False),
        "scripted-good_with_b": ("full", True, True),
    }


def test_several_profiles_give_an_arm_each_under_every_bank(contramem, good, tmp_path):
    create_bank(tmp_path / "b", Bank.of("fake"))
    words = ("--model", good, "--profile", "none", "--profile", "full", "--memory")
    assert plan_of(contramem, *words, "none") == {
        "scripted-good_with_none": ("none", False, False),
        "scripted-good_with_full": ("full", True, False),
    }
    assert plan_of(contramem, *words, "none", "--memory", "b") == {
        "scripted-good_with_none_none": ("none", False, False),
        "scripted-good_with_none_b": ("none", False, True),
        "scripted-good_with_full_none": ("full", True, False),
        "scripted-good_with_full_b": ("full", True, True),
    }


def test_models_and_banks_of_one_name_are_told_apart_by_more_of_it(contramem, good, tmp_path):
    for folder in ("x", "y"):
        (tmp_path / folder).mkdir()
        create_bank(tmp_path / folder / "b", Bank.of("fake"))
        persona(tmp_path / folder / "good", *GOOD)
    banks = ("--memory", "x/b", "--memory", "y/b")
    assert list(plan_of(contramem, "--model", good, *banks)) == [
        "scripted-good_with_x-b",
        "scripted-good_with_y-b",
    ]
    models = ("--model", "scripted:x/good", "--model", "scripted:y/good")
    assert list(plan_of(contramem, *models)) == ["scripted-x-good", "scripted-y-good"]


def test_a_setting_that_changes_nothing_is_said_on_stderr(contramem, good):
    done = contramem("run", *SHOP, "--model", good, "--latch", "call", "--jit", "--dry-run")
    assert "--latch changes nothing: no arm has the gate on (--gate on)." in done.err
    assert "--jit changes nothing: no arm has a bank (--memory BANK)." in done.err
    gated = contramem("run", *SHOP, "--model", good, "--latch", "call", "--gate", "on", "--dry-run")
    assert "changes nothing" not in gated.err


def test_only_the_chosen_tasks_are_run(contramem, good):
    one = contramem("run", *SHOP, "--model", good, "--task", "u_1", "--json").json
    assert one["arms"][0]["episodes"] == 1
    two = contramem("run", *SHOP, "--model", good, "--limit", 2, "--json").json
    assert two["arms"][0]["episodes"] == 2


def test_shards_of_one_folder_and_of_two_that_are_merged(contramem, good):
    words = ("run", *SHOP, "--model", good, "--json")
    assert contramem(*words, "--shard", "1/2", "--out", "a").json["arms"][0]["not_run"] == 1
    assert contramem(*words, "--shard", "2/2", "--out", "a").json["arms"][0]["not_run"] == 0
    contramem(*words, "--shard", "2/2", "--out", "b")
    contramem(*words, "--shard", "1/2", "--out", "c")
    merged = contramem("merge", "b", "c", "--out", "d", "--json")
    assert merged.json == {"run": "d", "new": 3, "complete": 3, "episodes": 3}
    assert "3 of 3 complete" in contramem("merge", "b", "c", "--out", "d").out
    whole = contramem(*words, "--out", "d")
    assert whole.json["arms"][0]["passed"] == 3
    assert "0 episodes to run, 3 complete" in whole.err


def test_a_spent_budget_ends_with_its_own_exit_code(contramem, endpoint):
    words = ("run", *SHOP, "--model", "mini", "--concurrency", 1, "--out", "r", "--json")
    done = contramem(*words, "--budget", 0.02)  # one reply costs 0.015
    (arm,) = done.json["arms"]
    assert (done.code, arm["episodes"], arm["not_run"]) == (4, 1, 2)
    assert arm["cost"] == pytest.approx(0.045)
    assert contramem(*words, "--budget", 5).code == 0


def test_errored_episodes_end_with_one_and_are_repeated_when_asked(contramem, endpoint):
    endpoint.will(refusal(400, "broken"))
    words = ("run", *SHOP, "--model", "mini", "--concurrency", 1, "--out", "r", "--json")
    done = contramem(*words)
    assert (done.code, done.json["arms"][0]["errored"], done.json["arms"][0]["tgc"]) == (1, 1, 100)
    assert "broken" in done.err
    assert contramem(*words).code == 1
    done = contramem(*words, "--retry-errors")
    assert (done.code, done.json["arms"][0]["passed"]) == (0, 3)


def test_usage_and_latency_of_a_served_model_are_in_the_trace(contramem, tmp_path, endpoint):
    contramem("run", *SHOP, "--model", "mini", "--task", "t_1", "--out", "r")
    trace = read_trace(tmp_path / "r/mini/episodes/t_1.jsonl")
    calls = [record for record in trace.records if record.type == "model_call"]
    assert [call.usage.input for call in calls] == [10, 10, 10]
    assert calls[0].served_model == "served-model"
    assert calls[0].latency_s > 0
    assert trace.header.model["model"] == "mini-1"
    assert "shop-key" not in trace.path.read_text()


@pytest.mark.parametrize(
    ("first", "complaint"),
    [
        (completion(""), "Your reply was empty"),
        (completion(None), "Your reply was empty"),
        (completion("I wonder."), "no Python cell"),
        (completion("```python\nshop.buy(", finish_reason="length"), "cut off before its cell"),
        (completion("\ud800"), "no Python cell"),
    ],
)
def test_a_served_reply_without_a_cell_is_answered(contramem, endpoint, first, complaint):
    endpoint.will(first, *[completion(turn) for turn in GOOD])
    done = contramem("run", *SHOP, "--model", "mini", "--task", "t_1", "--out", "r", "--json")
    assert done.json["arms"][0]["passed"] == 1
    second = endpoint.completions[1]
    assert complaint in second.messages[-1]["content"]
    assert contramem("replay", "r").code == 0


def test_requests_to_an_endpoint_begin_with_the_ones_before(contramem, endpoint):
    contramem("run", *SHOP, "--model", "mini", "--task", "t_1")
    asked = [request.messages for request in endpoint.completions]
    assert [len(messages) for messages in asked] == [2, 4, 6]
    for before, after in pairwise(asked):
        assert after[: len(before)] == before


def test_a_conversation_that_no_longer_fits_ends_by_its_limit(contramem, tmp_path, endpoint):
    words = "This model's maximum context length is 4096 tokens. You requested 5000."
    endpoint.will(completion(LOOK), refusal(400, words, code="context_length_exceeded"))
    done = contramem("run", *SHOP, "--model", "mini", "--task", "t_1", "--out", "r", "--json")
    assert (done.code, done.json["arms"][0]["failed"]) == (0, 1)
    trace = read_trace(tmp_path / "r/mini/episodes/t_1.jsonl")
    assert trace.end.limit == "context"
    (error,) = [record for record in trace.records if record.type == "error"]
    assert words in error.message


RUN = ("run", *SHOP, "--model", "mini", "--concurrency", 1, "--json")


def wait_for(endpoint, process, task: str) -> None:
    while not endpoint.asked_for(task):
        assert process.poll() is None, process.communicate()
        time.sleep(0.02)


def comparable(text: str) -> dict:
    (arm,) = json.loads(text)["arms"]
    return {name: value for name, value in arm.items() if name != "wall_s"}


def test_a_run_that_was_killed_goes_on_and_ends_like_one_that_was_not(tmp_path, endpoint):
    endpoint.held = {"t_2"}
    killed = start(tmp_path, *RUN, "--out", "r")
    wait_for(endpoint, killed, "t_2")
    killed.send_signal(signal.SIGKILL)
    killed.communicate()
    first = tmp_path / "r/mini/episodes/t_1.jsonl"
    bytes_before = first.read_bytes()
    assert read_trace(tmp_path / "r/mini/episodes/t_2.jsonl.part", complete=False).records

    endpoint.held = set()
    again = start(tmp_path, *RUN, "--out", "r")
    resumed, _ = again.communicate()
    whole, _ = start(tmp_path, *RUN, "--out", "whole").communicate()
    assert comparable(resumed) == comparable(whole)
    assert comparable(resumed)["passed"] == 3
    assert first.read_bytes() == bytes_before
    assert endpoint.asked_for("t_1") == 3 + 3


def test_an_interrupted_run_says_how_to_go_on(tmp_path, endpoint):
    endpoint.held = {"t_2"}
    running = start(tmp_path, *RUN, "--out", "r")
    wait_for(endpoint, running, "t_2")
    running.send_signal(signal.SIGINT)
    out, err = running.communicate()
    assert running.returncode == 130
    assert out == ""
    assert "Interrupted. Finished episodes are kept: the same command goes on from here." in err
    assert "Traceback" not in err
    assert (tmp_path / "r/mini/episodes/t_1.jsonl").exists()


def test_a_full_disk_is_one_sentence(tmp_path, monkeypatch):
    """A limit on the size of files is a full disk to the one who writes."""
    turns = [f"{'x' * 40_000}\n{turn}" for turn in GOOD]
    model = persona(tmp_path / "wordy", *turns)
    limited = (
        "import resource, signal, runpy, sys;"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN);"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (65536, 65536));"
        "sys.argv[1:1] = [];"
        "runpy.run_module('tests.support.fake_cli', run_name='__main__', alter_sys=True)"
    )
    (tmp_path / "limited.py").write_text(limited)
    process = start(tmp_path, "run", *SHOP, "--model", model, "--out", "r", module="limited")
    out, err = process.communicate()
    assert (process.returncode, out) == (1, "")
    last = err.strip().splitlines()[-1]
    assert last.startswith("Error: Cannot write the trace r/scripted-wordy/episodes/t_")
    assert last.endswith("then run the same command again.")
    assert "Traceback" not in err
