"""`contramem setup` and `contramem doctor` as a user sees them."""

from __future__ import annotations

import dataclasses
import json
import re
import sys
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner, Result

from adapters.appworld import setup as appworld
from adapters.appworld.data import PERSON
from adapters.environments import STAMP, environment
from adapters.folders import HOME_VARIABLE
from adapters.roots import Root, remember
from runtime.bridge import lockdown
from runtime.errors import UsageError
from scripts.benchmarks import BENCHMARKS, persona_folders
from scripts.commands.doctor import doctor
from scripts.commands.setup import setup_app
from scripts.commands.tasks import tasks

app = typer.Typer()
app.add_typer(setup_app, name="setup")
app.command("doctor")(doctor)
app.command("tasks")(tasks)


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(HOME_VARIABLE, str(tmp_path / "home"))
    monkeypatch.delenv("APPWORLD_ROOT", raising=False)
    return tmp_path


def call(*arguments: str) -> Result:
    return CliRunner().invoke(app, arguments)


def findings(*arguments: str) -> dict[str, dict[str, str]]:
    result = call("doctor", "--json", *arguments)
    report = json.loads(result.stdout)
    assert result.exit_code == (0 if report["ready"] else 3)
    return {item["name"]: item for item in report["findings"]}


def make_environment(world: str) -> None:
    made = environment(world)
    made.python.parent.mkdir(parents=True)
    made.python.symlink_to(sys.executable)
    (made.folder / STAMP).write_text("{}", encoding="utf-8")


def make_root(root: Path) -> Path:
    for name in ("api_docs", "base_dbs", "datasets", "tasks"):
        (root / "data" / name).mkdir(parents=True)
    (root / "data" / "version.txt").write_text("0.1.0", encoding="utf-8")
    (root / "data" / "datasets" / "mini_test.txt").write_text("a_1\n", encoding="utf-8")
    return root


def test_an_untouched_machine_is_told_the_first_command_and_stays_untouched(place: Path) -> None:
    found = findings()
    assert found["benchmarks"]["state"] == "missing"
    assert found["benchmarks"]["mend"] == "contramem setup appworld"
    for world in ("appworld", "gaia2"):
        assert found[world]["state"] == "note"
        assert found[world]["mend"] == f"contramem setup {world}"
    assert list(place.iterdir()) == []


def test_one_benchmark_is_enough(place: Path) -> None:
    make_environment("appworld")
    make_root(appworld.mini_root())
    found = findings()
    assert {item["state"] for item in found.values()} <= {"ok", "note"}
    assert "mini_test" in found["appworld data"]["detail"]


def test_the_other_benchmark_is_enough(place: Path) -> None:
    make_environment("gaia2")
    found = findings()
    assert "missing" not in {item["state"] for item in found.values()}


def test_a_half_set_up_benchmark_is_missing_something(place: Path) -> None:
    make_environment("gaia2")
    make_environment("appworld")
    found = findings()
    assert found["appworld data"]["state"] == "missing"
    assert found["appworld data"]["mend"] == "contramem setup appworld"


def test_a_deleted_interpreter_is_missing(place: Path) -> None:
    make_environment("appworld")
    make_root(appworld.mini_root())
    environment("appworld").python.unlink()
    found = findings()
    assert found["appworld"]["state"] == "missing"
    assert found["appworld"]["mend"] == "contramem setup appworld"


def test_a_remembered_root_that_is_gone_is_named(place: Path) -> None:
    make_environment("appworld")
    make_root(appworld.mini_root())
    own = make_root(place / "root")
    assert call("setup", "appworld", "--data", str(own)).exit_code == 0
    own.rename(place / "elsewhere")
    assert f"{own} is gone" in call("doctor", "--json").stdout


def test_a_benchmark_with_a_note_is_ready(place: Path) -> None:
    make_environment("gaia2")
    remember("gaia2", place / "gone")
    result = call("doctor", "--json")
    assert "gone is gone" in result.stdout
    assert "none is ready" not in result.stdout
    assert result.exit_code == 0


def test_data_of_gaia2_that_cannot_be_read_is_not_mended_by_appworlds_variable(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken() -> tuple[Root, ...]:
        raise UsageError("index.json is damaged")

    known = dataclasses.replace(BENCHMARKS["gaia2"], roots=broken)
    monkeypatch.setitem(BENCHMARKS, "gaia2", known)
    make_environment("gaia2")
    found = findings()["gaia2 data"]
    assert (found["state"], found["detail"]) == ("missing", "index.json is damaged")
    assert found["mend"] == "contramem setup gaia2 --data PATH"


def test_a_benchmark_without_packages_or_mini_world_ends_in_no_stack_trace(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = persona_folders()
    monkeypatch.setitem(BENCHMARKS, "third", BENCHMARKS["gaia2"])
    assert "third has no requirements.txt" in findings()["third"]["detail"]
    assert persona_folders() == before


def test_a_misspelt_word_for_the_data_is_answered_with_the_nearest(place: Path) -> None:
    for world in BENCHMARKS:
        result = call("setup", world, "--data", "officiel")
        assert isinstance(result.exception, UsageError)
        assert "There is no folder or data named 'officiel'. Nearest: official." in str(
            result.exception
        )
    assert list(place.iterdir()) == []


def test_a_wrong_appworld_root_is_named(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make_environment("appworld")
    monkeypatch.setenv("APPWORLD_ROOT", str(place))
    found = findings()
    assert found["appworld data"]["state"] == "missing"
    assert "APPWORLD_ROOT" in found["appworld data"]["mend"]


def test_a_folder_with_memory_in_its_path_is_named(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(HOME_VARIABLE, str(place / "memory"))
    found = findings()
    assert found["folder"]["state"] == "missing"
    assert HOME_VARIABLE in found["folder"]["mend"]


def test_what_another_version_left_is_named_with_its_removal(place: Path) -> None:
    old = place / "home" / "envs" / "gaia2-000000000000"
    old.mkdir(parents=True)
    make_environment("gaia2")
    assert findings()["left over"]["mend"] == f"rm -r {old}"


@pytest.mark.parametrize(
    ("parts", "state"),
    [
        ({"limits": "yes", "chroot": "yes", "landlock": "ABI 4", "seccomp": "yes"}, "ok"),
        ({"limits": "yes", "landlock": "no: Linux only", "seccomp": "no: Linux only"}, "note"),
    ],
)
def test_the_lock_down_is_named_part_by_part(
    place: Path, monkeypatch: pytest.MonkeyPatch, parts: dict[str, str], state: str
) -> None:
    monkeypatch.setattr(lockdown, "probe", lambda: parts)
    found = findings()["lock-down"]
    assert found["state"] == state
    assert all(f"{name} {level}" in found["detail"] for name, level in parts.items())


def test_people_get_a_table_with_the_mending_command(place: Path) -> None:
    result = call("doctor")
    assert result.exit_code == 3
    assert "→ contramem setup appworld" in result.stdout


def test_set_up_says_where_everything_is_on_stderr(place: Path) -> None:
    make_environment("appworld")
    own = make_root(place / "root")
    result = call("setup", "appworld", "--data", str(own))
    assert result.exit_code == 0
    assert result.stdout == ""
    assert f"data path: {own} (mini_test)" in result.stderr
    assert str(environment("appworld").folder) in result.stderr


def test_set_up_passes_errors_on(place: Path) -> None:
    result = call("setup", "gaia2", "--data", str(place / "nowhere"))
    assert isinstance(result.exception, UsageError)


def test_set_up_without_a_benchmark_lists_them(place: Path) -> None:
    said = re.sub(r"\s+", " ", call("setup").output)
    assert "appworld" in said
    assert "gaia2" in said


def test_tasks_lists_the_datasets_of_every_root_not_of_the_first_alone(place: Path) -> None:
    make_environment("appworld")
    make_root(appworld.mini_root())
    own = make_root(place / "root")
    (own / "data" / "datasets" / "mini_test.txt").rename(own / "data" / "datasets" / "own.txt")
    for root in (own, appworld.mini_root()):
        person = dict.fromkeys(PERSON, "x")
        specs = {"instruction": "Pay.", "datetime": "2023-05-18", "supervisor": person}
        (root / "data" / "tasks" / "a_1").mkdir()
        text = json.dumps(specs)
        (root / "data" / "tasks" / "a_1" / "specs.json").write_text(text, encoding="utf-8")
    assert call("setup", "appworld", "--data", str(own)).exit_code == 0
    result = call("tasks", "--bench", "appworld", "--json")
    assert json.loads(result.stdout) == {"mini_test": 1, "own": 1}


@pytest.mark.parametrize("world", ["appworld", "gaia2"])
def test_a_dataset_that_is_not_there_names_the_command_that_brings_it(
    place: Path, world: str
) -> None:
    make_environment(world)
    make_root(appworld.mini_root())
    result = call("tasks", "--bench", world, "--dataset", "train")
    assert isinstance(result.exception, UsageError)
    assert f"contramem setup {world} --data official" in str(result.exception)
