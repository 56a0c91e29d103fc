"""GAIA2's set-up: which folders hold scenarios, which are used, and what failures say."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from adapters.environments import STAMP, create, environment
from adapters.folders import HOME_VARIABLE
from adapters.gaia2 import setup as gaia2
from adapters.gaia2.tasks import read_task
from runtime.errors import BadFile, NotReady, UsageError

ASK = {
    "event_type": "USER",
    "event_id": "u0",
    "dependencies": [],
    "action": {
        "app": "AgentUserInterface",
        "function": "send_message_to_agent",
        "args": [{"name": "content", "value": "Say hi.", "value_type": "str"}],
    },
}
SCENARIO = {"metadata": {"definition": {"scenario_id": "s"}}, "apps": [], "events": [ASK]}


def starting(seconds: float) -> object:
    return {**SCENARIO, "metadata": {"definition": {"scenario_id": "s", "start_time": seconds}}}


def silent(step: str) -> None:
    pass


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(HOME_VARIABLE, str(tmp_path / "home"))
    return tmp_path


def make_environment(program: str = "") -> Path:
    """Put a program of ours in the place of the environment's interpreter."""
    made = environment("gaia2")
    made.python.parent.mkdir(parents=True)
    made.python.write_text(f"#!{sys.executable}\nimport os, sys\n{program}\n", encoding="utf-8")
    made.python.chmod(0o755)
    (made.folder / STAMP).write_text("{}", encoding="utf-8")
    return made.python


def write(path: Path, content: object = SCENARIO) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content), encoding="utf-8")
    return path


def test_the_bundled_scenarios_need_no_data(place: Path) -> None:
    python = make_environment()
    gaia2.setup(None, silent)
    made = gaia2.gaia2_paths()
    assert made.python == python
    assert {name: len(files) for name, files in made.datasets().items()} == {
        "mini_train": 10,
        "mini_test": 10,
    }
    assert all(file.is_file() for files in made.datasets().values() for file in files)


def test_nothing_set_up_names_the_command(place: Path) -> None:
    with pytest.raises(NotReady, match="Run `contramem setup gaia2`"):
        gaia2.gaia2_paths()


def test_a_folder_of_folders_holds_a_dataset_each(place: Path) -> None:
    make_environment()
    one, two = (
        write(place / "mine" / "search" / "1.json"),
        write(place / "mine" / "time" / "2.json"),
    )
    gaia2.setup(str(place / "mine"), silent)
    found = gaia2.gaia2_paths().datasets()
    assert found["search"] == (one,)
    assert found["time"] == (two,)
    assert "mini_test" in found


def test_a_folder_of_scenarios_is_a_dataset_of_its_name(place: Path) -> None:
    make_environment()
    files = (write(place / "mine" / "1.json"), write(place / "mine" / "2.json"))
    gaia2.setup(str(place / "mine"), silent)
    assert gaia2.gaia2_paths().datasets()["mine"] == files


def test_the_users_dataset_wins_over_one_of_the_same_name(place: Path) -> None:
    make_environment()
    own = write(place / "mine" / "mini_test" / "1.json")
    gaia2.setup(str(place / "mine"), silent)
    assert gaia2.gaia2_paths().datasets()["mini_test"] == (own,)


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ([], "not an object"),
        ({**SCENARIO, "apps": {}}, "no list `apps`"),
        ({"metadata": SCENARIO["metadata"], "apps": []}, "no list `events`"),
        ({**SCENARIO, "metadata": {"definition": None}}, "no `metadata.definition.scenario_id`"),
        ({**SCENARIO, "events": []}, "no first message of the user"),
        (
            {**SCENARIO, "metadata": {"definition": {"scenario_id": "s", "start_time": "noon"}}},
            "noon",
        ),
        (starting(1e18), "too large"),
        (starting(float("inf")), "out of range"),
        ({**SCENARIO, "events": ["ask", ASK]}, "AttributeError"),
    ],
)
def test_a_file_that_is_no_scenario_is_named(place: Path, content: object, problem: str) -> None:
    write(place / "mine" / "1.json")
    bad = write(place / "mine" / "2.json", content)
    with pytest.raises(BadFile, match=problem) as caught:
        gaia2.setup(str(place / "mine"), silent)
    assert str(bad) in str(caught.value)
    assert not (place / "home").exists()


def test_a_file_that_is_no_json_is_named(place: Path) -> None:
    bad = write(place / "mine" / "1.json")
    bad.write_text("{", encoding="utf-8")
    with pytest.raises(BadFile, match=r"1\.json(.|\n)*not readable as JSON"):
        gaia2.setup(str(place / "mine"), silent)


def test_a_file_too_deep_to_read_is_named(place: Path) -> None:
    bad = write(place / "mine" / "1.json")
    bad.write_text("[" * 100_000 + "]" * 100_000, encoding="utf-8")
    with pytest.raises(BadFile, match=r"1\.json(.|\n)*not readable as JSON"):
        gaia2.setup(str(place / "mine"), silent)


@pytest.mark.parametrize("content", [[], {"search": 1}, {"search": [1]}])
def test_an_index_that_is_none_is_named(place: Path, content: object) -> None:
    write(place / "mine" / "index.json", content)
    with pytest.raises(BadFile, match=r"index\.json: no index of datasets"):
        gaia2.setup(str(place / "mine"), silent)


def test_checks_beside_the_scenarios_folder_are_no_dataset(place: Path) -> None:
    make_environment()
    scenario = write(place / "mine" / "search" / "1.json")
    write(place / "mine" / "checks" / "1.json", {})
    gaia2.setup(str(place / "mine"), silent)
    assert gaia2.datasets(place / "mine") == {"search": (scenario,)}


@pytest.mark.parametrize("folder", ["mine/checks", "mine/search/checks"])
def test_a_mistake_in_a_file_of_checks_is_named(place: Path, folder: str) -> None:
    write(place / "mine" / "search" / "1.json")
    bad = write(place / folder / "1.json", {"o_tell": []})
    with pytest.raises(BadFile, match="'o_tell' is no event of the oracle") as caught:
        gaia2.setup(str(place / "mine"), silent)
    assert str(bad) in str(caught.value)


def test_what_setup_takes_can_be_listed(place: Path) -> None:
    """ARE has `tags` and `start_time` optional."""
    write(place / "mine" / "1.json")
    gaia2.check_root(place / "mine")
    (task,) = [read_task(file, "mine") for file in gaia2.datasets(place / "mine")["mine"]]
    assert task.instruction == "Say hi."
    assert task.ability is None


def test_a_folder_without_scenarios_is_refused(place: Path) -> None:
    with pytest.raises(UsageError, match="holds no scenarios"):
        gaia2.setup(str(place / "nowhere"), silent)


def test_a_failed_download_is_explained(place: Path) -> None:
    make_environment("sys.exit('ConnectionError: no route')")
    with pytest.raises(NotReady, match=r"no route(.|\n)*--data mini(.|\n)*--data PATH"):
        gaia2.setup("official", silent)
    assert not gaia2.official_root().exists()


CARD = """---
configs:
- config_name: search
  data_files: [{split: validation, path: search.jsonl}]
- config_name: time
  data_files: [{split: validation, path: time.jsonl}]
---
"""


@pytest.mark.slow
def test_the_real_environment_downloads_a_dataset_of_the_official_shape(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From a local copy: the hub itself needs open internet."""
    monkeypatch.setenv("UV_CACHE_DIR", str(Path("~/.cache/uv").expanduser()))
    monkeypatch.setenv("HOME", str(place / "user"))
    hub = place / "hub"
    hub.mkdir()
    (hub / "README.md").write_text(CARD, encoding="utf-8")
    row = {"scenario_id": "s", "data": json.dumps(SCENARIO)}
    for name, copies in (("search", 2), ("time", 1)):
        lines = f"{json.dumps(row)}\n" * copies
        (hub / f"{name}.jsonl").write_text(lines, encoding="utf-8")
    create(environment("gaia2"), progress=silent)
    monkeypatch.setattr(gaia2, "DATASET", str(hub))
    gaia2.setup("official", silent)
    names = {
        name: [file.name for file in files]
        for name, files in gaia2.datasets(gaia2.official_root()).items()
    }
    assert names == {"search": ["s-2.json", "s.json"], "time": ["s.json"]}
    assert gaia2.check_root(gaia2.official_root())
