"""Joining the run folders of shards."""

import shutil
from pathlib import Path

import pytest

from runtime.errors import BadFile, RunMismatch, UsageError
from runtime.merge import merge_runs
from runtime.runs import RunFolder, Shard
from runtime.spending import Spending
from tests.runtime.test_batch import Bench


@pytest.fixture
async def shards(tmp_path) -> list[RunFolder]:
    folders = [tmp_path / "one", tmp_path / "two"]
    for index, folder in enumerate(folders, start=1):
        bench = Bench(folder)
        await bench.run(shard=Shard(index=index, count=2))
        outputs = folder / "a" / "fake" / "outputs"
        outputs.mkdir(parents=True)
        (outputs / f"state-{index}").write_text("state")
        (folder / "a" / "fake" / "data").symlink_to("/nowhere/data")
        (folder / "a" / "episodes" / "x.jsonl.part").write_text("of a killed run")
    return [RunFolder(folder) for folder in folders]


async def test_shards_join_into_a_run_that_is_whole(shards, tmp_path):
    joined = tmp_path / "joined"
    assert merge_runs(shards, RunFolder(joined)) == 6
    bench = Bench(joined)
    result = await bench.run()
    assert (result.already_done, bench.told.order) == (6, [])
    assert [row.passed for row in bench.rows()] == [3, 0]
    assert sorted(path.name for path in (joined / "a/fake/outputs").iterdir()) == [
        *("state-1", "state-2"),
    ]
    assert (joined / "a/fake/data").is_symlink()
    assert list(joined.rglob("*.part")) == []


async def test_an_interrupted_merge_is_done_again(shards, tmp_path):
    target = RunFolder(tmp_path / "joined")
    merge_runs(shards[:1], target)
    (target.path / "a/episodes/t_1.jsonl").unlink()
    assert merge_runs(shards, target) == 3
    assert merge_runs(shards, target) == 0


async def test_runs_of_two_configurations_are_not_joined(shards, tmp_path):
    other = Bench(tmp_path / "other")
    await other.run(seed=1)
    with pytest.raises(RunMismatch, match=r"(?s)seed: 1 there, 0 here.*Only folders of one run"):
        merge_runs([*shards, RunFolder(tmp_path / "other")], RunFolder(tmp_path / "joined"))


async def test_two_traces_of_one_episode_are_not_chosen_between(shards, tmp_path):
    shutil.copytree(shards[0].path, tmp_path / "again", symlinks=True)
    trace = tmp_path / "again" / "a/episodes/t_1.jsonl"
    trace.write_text(trace.read_text().replace("lamp", "sofa"))
    target = RunFolder(tmp_path / "joined")
    merge_runs(shards, target)
    with pytest.raises(UsageError, match=r"are different traces of one episode"):
        merge_runs([RunFolder(tmp_path / "again")], target)


async def test_a_folder_that_is_no_run_is_named(shards, tmp_path):
    (tmp_path / "empty").mkdir()
    with pytest.raises(UsageError, match="is no run folder"):
        merge_runs([RunFolder(tmp_path / "empty")], RunFolder(tmp_path / "joined"))
    with pytest.raises(UsageError, match="is no run folder"):
        merge_runs([*shards, RunFolder(tmp_path / "empty")], RunFolder(tmp_path / "joined"))


def outputs(folder: RunFolder, task: str) -> Path:
    return folder.path / "a/fake/outputs/tasks" / task / "dbs" / "state.jsonl"


async def test_outputs_of_a_killed_episode_are_not_mixed_with_the_complete_one(shards, tmp_path):
    killed, whole = RunFolder(tmp_path / "killed"), shards[0]
    shutil.copytree(whole.path, killed.path, symlinks=True)
    (killed.path / "a/episodes/t_1.jsonl").unlink()
    for folder, text in ((killed, "half"), (whole, "whole")):
        outputs(folder, "t_1").parent.mkdir(parents=True)
        outputs(folder, "t_1").write_text(text)
    (outputs(killed, "t_1").parent / "more.jsonl").write_text("of the attempt that was killed")
    target = RunFolder(tmp_path / "joined")
    merge_runs([killed], target)
    assert not outputs(target, "t_1").parent.parent.exists()
    outputs(target, "t_1").parent.mkdir(parents=True)
    (outputs(target, "t_1").parent / "older.jsonl").write_text("of an older attempt")
    assert merge_runs([killed, whole], target) == 1
    assert outputs(target, "t_1").read_text() == "whole"
    assert [path.name for path in outputs(target, "t_1").parent.iterdir()] == ["state.jsonl"]


async def test_a_damaged_trace_is_named_where_it_lies_and_not_copied(shards, tmp_path):
    damaged = shards[0].path / "a/episodes/t_1.jsonl"
    damaged.write_text("")
    target = RunFolder(tmp_path / "joined")
    with pytest.raises(BadFile, match=str(damaged)):
        merge_runs(shards, target)
    assert list(target.path.rglob("*.jsonl")) == []


async def test_what_shards_have_spent_on_replaced_attempts_adds_up_once(shards, tmp_path):
    for usd, shard in enumerate(shards, start=1):
        Spending(shard.path).note("a/t_1", usd)
    target = RunFolder(tmp_path / "joined")
    for _ in range(2):
        merge_runs(shards, target)
        assert Spending(target.path).total_usd({"a/t_1"}) == 3
