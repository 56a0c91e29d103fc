"""What a user can get wrong: one clear sentence with the next step, the right code, no trace of
a stack, and nothing run."""

import json
import shutil

import pytest

from injectors.bank import Bank
from injectors.bank_files import create_bank
from runtime.errors import NotReady
from tests.scripts.conftest import SHOP, models_toml, persona
from tests.support.chat_server import Answer, refusal
from tests.support.fake_world import GOOD, FakeBenchmark


@pytest.fixture
def refused(contramem):
    """Run a command that is to be refused and return its sentence."""

    def refused(*words, code=2) -> str:
        done = contramem(*words)
        assert done.code == code, done
        assert done.out == ""
        assert "Traceback" not in done.err
        return " ".join(done.err.replace("│", " ").split())

    return refused


def test_an_unknown_benchmark_dataset_task_model_and_persona(refused, good, endpoint):
    def run(**changes):
        words = {"bench": "fake", "dataset": "all", "model": good, **changes}
        return refused("run", *[part for k, v in words.items() for part in (f"--{k}", v)])

    assert "There is no benchmark named 'apworld'. Nearest: appworld" in run(bench="apworld")
    assert "There is no dataset named 'al'. Nearest: all." in run(dataset="al")
    assert "There is no task named 't_3'. Nearest: t_2, t_1." in run(task="t_3")
    assert "There is no model named 'minni'. Nearest: mini" in run(model="minni")
    assert "models.toml" in run(model="minni")
    assert "There is no persona named 'carefull'" in run(model="scripted:carefull")
    assert "no script for the task" in run(model=good.replace("good", "."))
    assert "There is no missing.jsonl" in run(model="recorded:missing.jsonl")
    assert "There is no profile named 'ful'. Nearest: full" in run(profile="ful")
    assert "latch" in run(latch="cal")


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("--steps", 0), "--steps: Input should be greater than or equal to 1."),
        (("--wall", 0), "--wall: Input should be greater than 0."),
        (("--wall", "inf"), "--wall: Input should be a finite number."),
        (("--cell", "nan"), "--cell: Input should be a finite number."),
        (("--context", 0), "--context: Input should be greater than or equal to 1."),
        (("--cost", -1), "--cost: Input should be greater than 0."),
        (("--observation-chars", 5), "--observation-chars: "),
        (("--concurrency", 0), "Input should be greater than or equal to 1"),
        (("--limit", -1), "Input should be greater than or equal to 1"),
        (("--budget", -1), "Input should be greater than or equal to 0"),
        (("--shard", "3/2"), "--shard takes I/N"),
        (("--gate", "maybe"), "'--gate'"),
        (("--prompt", "missing.md"), "missing.md"),
    ],
)
def test_values_out_of_range(refused, good, words, sentence):
    bench = ("--bench", "appworld", "--dataset", "mini") if "--prompt" in words else SHOP
    assert sentence in refused("run", *bench, "--model", good, *words)


def test_no_key_names_the_variable(refused, endpoint, monkeypatch):
    monkeypatch.delenv("SHOP_KEY")
    assert "SHOP_KEY" in refused("run", *SHOP, "--model", "mini", code=3)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    assert "OPENAI_API_KEY" in refused("run", *SHOP, "--model", "openai:gpt", code=3)


def test_a_dead_endpoint_is_found_out_before_anything_runs(refused, tmp_path, endpoint):
    (tmp_path / "models.toml").write_text(models_toml("http://127.0.0.1:9/v1"))
    said = refused("run", *SHOP, "--model", "mini", "--out", "r", code=3)
    assert "no complete answer from http://127.0.0.1:9/v1" in said
    assert not (tmp_path / "r").exists()


def test_a_refused_key_is_found_out_before_anything_runs(refused, tmp_path, endpoint):
    endpoint.otherwise = lambda request: refusal(401, "Incorrect API key shop-key-0123456789")
    said = refused("run", *SHOP, "--model", "mini", "--out", "r", code=3)
    assert "Check the key in the environment variable SHOP_KEY" in said
    assert "shop-key-0123456789" not in said
    assert not (tmp_path / "r").exists()


def test_an_endpoint_that_is_no_model_costs_errored_episodes(contramem, endpoint):
    endpoint.otherwise = lambda request: Answer("<html>Welcome!</html>")
    done = contramem("run", *SHOP, "--model", "mini", "--json")
    assert (done.code, done.json["arms"][0]["errored"]) == (1, 3)
    assert "does not answer like the OpenAI API" in done.err
    assert "Traceback" not in done.err


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("[models.mini\n", "models.toml, line 1: "),
        ('[models.mini]\nmodel = "x"\nbase_ulr = "http://x/v1"\n', "line 3"),
        ('[models.mini]\nbase_url = "ftp://x"\nmodel = "x"\n', "line 2"),
    ],
)
def test_a_malformed_models_file_is_named_with_its_line(refused, tmp_path, text, sentence):
    (tmp_path / "models.toml").write_text(text)
    assert sentence in refused("run", *SHOP, "--model", "mini")


def test_a_models_file_that_is_not_there(refused):
    assert "other.toml" in refused("run", *SHOP, "--model", "mini", "--models", "other.toml")


def test_a_models_file_that_is_not_there_is_named_even_if_no_model_is_from_it(refused, good):
    assert "other.toml" in refused("run", *SHOP, "--model", good, "--models", "other.toml")


def test_a_budget_cannot_hold_a_model_without_prices(refused, tmp_path, endpoint):
    text = (tmp_path / "models.toml").read_text().partition("[models.mini.prices]")[0]
    (tmp_path / "models.toml").write_text(text)
    said = refused("run", *SHOP, "--model", "mini", "--budget", 1)
    assert "mini has no price for input, cached, output in models.toml" in said
    (tmp_path / "models.toml").write_text(f"{text}[models.mini.prices]\ninput = 1\noutput = 2\n")
    assert "no price for cached" in refused("run", *SHOP, "--model", "mini", "--cost", 1)


def test_a_budget_with_a_model_that_has_no_entry_says_how_to_price_it(refused, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "key-0123456789")
    said = refused("run", *SHOP, "--model", "openai:foo", "--budget", 3)
    assert 'Write an entry [models.NAME] with model = "foo" and prices there' in said
    assert "run --model NAME" in said


def test_the_same_model_twice(refused, good):
    said = refused("run", *SHOP, "--model", good, "--model", good)
    assert "Two arms would be called 'scripted-good'" in said


def test_the_folder_of_another_run_shows_the_difference(contramem, refused, good, tmp_path):
    words = ("run", *SHOP, "--model", good, "--out", "r")
    contramem(*words)
    for dry in ((), ("--dry-run",)):
        assert "seed: 0 there, 1 here" in refused(*words, "--seed", 1, *dry)
    script = tmp_path / "good" / "t_1.md"
    script.write_text(script.read_text() + "\n")
    assert "arms[scripted-good].model.sha256" in refused(*words)


def test_another_runs_folder_is_refused_before_the_endpoint_is_asked(
    contramem, refused, good, endpoint
):
    contramem("run", *SHOP, "--model", good, "--out", "r")
    said = refused("run", *SHOP, "--model", "mini", "--out", "r", code=2)
    assert "arms[scripted-good]: " in said
    assert "arms[mini]: null there" in said
    assert endpoint.requests == []


def test_a_missing_script_shows_in_a_dry_run(refused, tmp_path):
    model = persona(tmp_path / "one", *GOOD, tasks=("t_1",))
    assert "no script for the task" in refused("run", *SHOP, "--model", model, "--dry-run")


@pytest.mark.parametrize("dry", [(), ("--dry-run",)])
@pytest.mark.parametrize("of", ["appworld", "mine"])
def test_a_bank_of_another_benchmark_is_not_delivered(refused, good, tmp_path, dry, of):
    create_bank(tmp_path / "b", Bank.of(of))
    said = refused("run", *SHOP, "--model", good, "--memory", "b", *dry)
    assert f"b is a bank for {of}, this run is on fake" in said


def test_a_bank_of_another_benchmark_is_not_replayed_with(contramem, refused, good, tmp_path):
    create_bank(tmp_path / "b", Bank.of("gaia2"))
    contramem("run", *SHOP, "--model", good, "--out", "r")
    assert "b is a bank for gaia2" in refused("replay", "r/scripted-good/t_1", "--memory", "b")


def test_a_folder_that_holds_something_else_or_cannot_be_written(refused, good, tmp_path):
    words = ("run", *SHOP, "--model", good, "--out")
    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis" / "thesis.tex").write_text("mine")
    assert "choose an empty --out" in refused(*words, "thesis")
    assert "choose an empty --out" in refused(*words, "thesis", "--dry-run")
    assert "Cannot write to /proc/r" in refused(*words, "/proc/r")
    (tmp_path / "file").write_text("mine")
    assert "Cannot write to file" in refused(*words, "file")
    assert "Cannot write to file" in refused(*words, "file", "--dry-run")


def test_a_run_folder_with_a_damaged_trace_names_it(contramem, refused, good, tmp_path):
    words = ("run", *SHOP, "--model", good, "--out", "r")
    contramem(*words)
    trace = tmp_path / "r/scripted-good/episodes/t_1.jsonl"
    header = trace.read_text().splitlines()[0]
    trace.write_text(f"{header}\n{{}}\n")
    assert "t_1.jsonl: has no end record" in refused(*words)
    trace.write_text("{}\n")
    assert "t_1.jsonl, line 1: has no header" in refused(*words)


def test_an_environment_that_vanishes_while_a_run_is_on(refused, good, monkeypatch):
    async def open_world(self, *_, **__):
        raise NotReady("/envs/appworld/bin/python is gone. Run `contramem setup` again.")

    monkeypatch.setattr(FakeBenchmark, "open", open_world)
    said = refused("run", *SHOP, "--model", good, code=3)
    assert said.endswith("Run `contramem setup` again.")


def test_a_benchmark_that_is_not_set_up_names_the_command(refused, good, monkeypatch, tmp_path):
    monkeypatch.setenv("CONTRAMEM_HOME", str(tmp_path / "empty"))
    said = refused("run", "--bench", "appworld", "--dataset", "x", "--model", good, code=3)
    assert "contramem setup appworld" in said


def test_an_episode_that_is_not_there(contramem, refused, good, tmp_path):
    contramem("run", *SHOP, "--model", good, "--out", "r")
    assert "Nearest: r/scripted-good/t_2" in refused("show", "r/scripted-good/t_22")
    assert "Give a trace file or RUN/ARM/TASK" in refused("show", "nonsense")
    assert "is no run folder" in refused("merge", "good", "--out", "d")
    (tmp_path / "x.jsonl").write_text("{}")
    assert "x.jsonl, line 1" in refused("show", "x.jsonl")
    assert "holds no complete episode" in refused("replay", "good")
    assert "It lies in the run folder r." in refused("report", "r/scripted-good")
    assert "Run folders in it: r." in refused("report", ".")
    assert "--from-step needs --continue-with" in refused("replay", "r", "--from-step", 2)


def test_a_replay_without_the_bank_of_its_run(contramem, refused, good, tmp_path):
    shutil.rmtree(tmp_path / "r", ignore_errors=True)
    contramem("run", *SHOP, "--model", good, "--out", "r")
    trace = tmp_path / "r/scripted-good/episodes/t_1.jsonl"
    header, rest = trace.read_text().split("\n", 1)
    data = json.loads(header)
    data["arm"] |= {"memory": "bank@0123", "memory_path": str(tmp_path / "gone")}
    trace.write_text(f"{json.dumps(data)}\n{rest}")
    assert str(tmp_path / "gone") in refused("replay", "r")
