"""AppWorld's set-up: which data counts as a root, which root is used, and what failures say."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from adapters.appworld import setup as appworld
from adapters.environments import STAMP, environment
from adapters.folders import HOME_VARIABLE
from runtime.errors import NotReady, UnknownName, UsageError


def silent(step: str) -> None:
    pass


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(HOME_VARIABLE, str(tmp_path / "home"))
    monkeypatch.delenv("APPWORLD_ROOT", raising=False)
    return tmp_path


def make_root(root: Path, *datasets: str) -> Path:
    for name in ("api_docs", "base_dbs", "datasets", "tasks"):
        (root / "data" / name).mkdir(parents=True)
    (root / "data" / "version.txt").write_text("0.1.0", encoding="utf-8")
    for dataset in datasets:
        (root / "data" / "datasets" / f"{dataset}.txt").write_text("a_1\n", encoding="utf-8")
    return root


def make_environment(program: str) -> Path:
    """Put a program of ours in the place of the environment's interpreter."""
    made = environment("appworld")
    made.python.parent.mkdir(parents=True)
    made.python.write_text(f"#!{sys.executable}\nimport os, sys\n{program}\n", encoding="utf-8")
    made.python.chmod(0o755)
    (made.folder / STAMP).write_text("{}", encoding="utf-8")
    return made.python


def test_a_root_lacking_parts_is_refused_and_says_which(place: Path) -> None:
    root = make_root(place / "root")
    (root / "data" / "version.txt").unlink()
    (root / "data" / "tasks").rmdir()
    with pytest.raises(UsageError, match=r"data/version\.txt, data/tasks not found"):
        appworld.setup(str(root), silent)
    assert not (place / "home").exists()


def test_a_root_with_memory_in_its_path_is_refused(place: Path) -> None:
    root = make_root(place / "memory-lane" / "root")
    with pytest.raises(UsageError, match=r'contains "memory"(.|\n)*Move or copy'):
        appworld.setup(str(root), silent)


def test_nothing_set_up_names_the_command(place: Path) -> None:
    with pytest.raises(NotReady, match="Run `contramem setup appworld`"):
        appworld.appworld_paths()


def test_an_environment_without_data_names_the_command(place: Path) -> None:
    make_environment("")
    with pytest.raises(NotReady, match=r"no data(.|\n)*Run `contramem setup appworld`"):
        appworld.appworld_paths()


def test_a_root_of_the_users_is_remembered(place: Path) -> None:
    python = make_environment("")
    root = make_root(place / "root", "dev")
    appworld.setup(str(root), silent)
    found = appworld.appworld_paths("dev")
    assert (found.python, found.root) == (python, root)


def test_the_first_root_with_the_dataset_is_used(place: Path) -> None:
    make_environment("")
    make_root(appworld.mini_root(), "mini_test", "dev")
    make_root(appworld.official_root(), "dev", "train")
    own = make_root(place / "root", "train", "own")
    appworld.setup(str(own), silent)
    assert appworld.appworld_paths("mini_test").root == appworld.mini_root()
    assert appworld.appworld_paths("dev").root == appworld.official_root()
    assert appworld.appworld_paths("train").root == own
    assert appworld.appworld_paths().root == own
    with pytest.raises(UnknownName, match="Nearest: mini_test"):
        appworld.appworld_paths("mini_tset")


def test_appworld_root_is_the_users_root_while_it_is_set(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_environment("")
    remembered, named = make_root(place / "a", "dev"), make_root(place / "b", "dev")
    appworld.setup(str(remembered), silent)
    monkeypatch.setenv("APPWORLD_ROOT", str(named))
    assert appworld.appworld_paths("dev").root == named
    monkeypatch.setenv("APPWORLD_ROOT", str(place))
    with pytest.raises(UsageError, match="no AppWorld root"):
        appworld.appworld_paths("dev")


def test_set_up_takes_appworld_root(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make_environment("")
    root = make_root(place / "root", "dev")
    monkeypatch.setenv("APPWORLD_ROOT", str(root))
    appworld.setup(None, silent)
    monkeypatch.delenv("APPWORLD_ROOT")
    assert appworld.appworld_paths("dev").root == root


def test_a_remembered_root_that_is_gone_is_passed_over(place: Path) -> None:
    make_environment("")
    make_root(appworld.mini_root(), "mini_test")
    own = make_root(place / "root", "dev")
    appworld.setup(str(own), silent)
    own.rename(place / "elsewhere")
    assert appworld.appworld_paths().root == appworld.mini_root()


def test_a_refused_download_is_explained_although_its_exit_code_is_0(place: Path) -> None:
    make_environment("print('Failed to download file. Status code: 403')")
    with pytest.raises(NotReady, match=r"Status code: 403(.|\n)*--data mini(.|\n)*--data PATH"):
        appworld.setup("official", silent)
    assert not appworld.official_root().exists()


FETCH = """
data = os.path.join(sys.argv[-1], "data")
assert os.environ["APPWORLD_ROOT"] == sys.argv[-1]
for name in ("api_docs", "base_dbs", "datasets", "tasks"):
    os.makedirs(os.path.join(data, name))
open(os.path.join(data, "version.txt"), "w").close()
open(os.path.join(data, "datasets", "train.txt"), "w").close()
"""


def test_a_download_appears_whole_in_our_folder(place: Path) -> None:
    make_environment(FETCH)
    appworld.setup("official", silent)
    assert appworld.appworld_paths("train").root == appworld.official_root()
    make_again = (appworld.official_root() / "data" / "mark").touch
    make_again()
    appworld.setup("official", silent)  # there already: kept, not fetched
    assert (appworld.official_root() / "data" / "mark").exists()


def test_a_failed_build_of_the_mini_world_shows_the_builders_words(place: Path) -> None:
    make_environment("sys.exit('no room for songs')")
    with pytest.raises(NotReady, match="no room for songs"):
        appworld.setup("mini", silent)
    assert not appworld.mini_root().exists()


def test_the_engines_processes_inherit_nothing(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_environment("")
    make_root(appworld.mini_root(), "mini_test")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    variables = appworld.appworld_paths().child_environment()
    assert set(variables.values()).isdisjoint({"sk-test", os.environ["HOME"]})
    assert variables["APPWORLD_ROOT"] == str(appworld.mini_root())
    ours = Path(os.environ[HOME_VARIABLE])
    for name in ("APPWORLD_CACHE", "HOME", "IPYTHONDIR"):
        assert Path(variables[name]).is_relative_to(ours)


@pytest.mark.slow
def test_the_real_set_up_makes_a_world_and_stays_in_its_folder(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From an empty home, with the packages from the index or uv's cache."""
    monkeypatch.setenv("UV_CACHE_DIR", str(Path("~/.cache/uv").expanduser()))
    monkeypatch.setenv("HOME", str(place / "user"))
    (place / "user").mkdir()
    steps: list[str] = []
    appworld.setup(None, steps.append)
    assert [step.split()[0] for step in steps] == ["installing", "unpacking", "building"]
    made = appworld.appworld_paths("mini_test")
    assert environment("appworld").version("appworld") == "0.1.3.post1"
    assert made.cache.is_dir()
    assert list((place / "user").iterdir()) == []
    steps.clear()
    appworld.setup(None, steps.append)
    assert steps == []
