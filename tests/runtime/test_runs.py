"""Run folders: one configuration each, resumable, one process a part."""

import multiprocessing
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runtime.contracts import Limits, Usage
from runtime.errors import BadFile, RunMismatch, UsageError
from runtime.records import EndRecord
from runtime.runs import (
    ArmManifest,
    Manifest,
    RunFolder,
    Shard,
    file_name,
    last_record,
)

ARM = ArmManifest(name="a", model={"name": "m"}, settings={"gate": False, "memory_path": "x"})
MANIFEST = Manifest(
    benchmark="fake",
    dataset="all",
    tasks={"t_1": "t", "t_2": "t"},
    seed=0,
    limits=Limits(),
    versions={"fake": "1"},
    arms=(ARM,),
)


def test_the_same_configuration_resumes(tmp_path):
    folder = RunFolder(tmp_path / "new" / "run")
    assert folder.begin(MANIFEST) is False
    assert folder.begin(MANIFEST) is True
    assert folder.manifest() == MANIFEST


@pytest.mark.parametrize(
    ("changes", "difference"),
    [
        ({"seed": 1}, "seed: 0 there, 1 here"),
        ({"limits": Limits(steps=9)}, "limits.steps: 50 there, 9 here"),
        ({"versions": {"fake": "2"}}, 'versions.fake: "1" there, "2" here'),
        ({"tasks": {"t_1": "t"}}, r'tasks.t_2: "t" there, null here'),
        (
            {"arms": (ARM.model_copy(update={"settings": {"gate": True}}),)},
            r"arms\[a\].settings.gate: false there, true here",
        ),
    ],
)
def test_another_configuration_is_refused_with_the_difference(tmp_path, changes, difference):
    RunFolder(tmp_path).begin(MANIFEST)
    with pytest.raises(RunMismatch, match=difference):
        RunFolder(tmp_path).begin(MANIFEST.model_copy(update=changes))


def test_arms_that_one_side_lacks_are_named(tmp_path):
    other = ARM.model_copy(update={"name": "b"})
    RunFolder(tmp_path).begin(MANIFEST.model_copy(update={"arms": (ARM, other)}))
    only = MANIFEST.model_copy(update={"arms": (other,)})
    with pytest.raises(RunMismatch, match=r"arms\[a\]: .* there, null here"):
        RunFolder(tmp_path).begin(only)


def test_asking_whether_a_run_resumes_changes_nothing(tmp_path):
    folder = RunFolder(tmp_path / "new")
    assert folder.resumes(MANIFEST) is False
    assert not folder.path.exists()
    folder.begin(MANIFEST)
    assert folder.resumes(MANIFEST) is True


def test_a_bank_counts_by_its_content_wherever_it_lies(tmp_path):
    moved = ARM.model_copy(update={"settings": {"gate": False, "memory_path": "elsewhere"}})
    RunFolder(tmp_path).begin(MANIFEST)
    assert RunFolder(tmp_path).begin(MANIFEST.model_copy(update={"arms": (moved,)})) is True


def test_a_folder_with_other_files_is_left_alone(tmp_path):
    (tmp_path / "thesis.tex").write_text("mine")
    with pytest.raises(UsageError, match=r"holds other files .* choose an empty --out"):
        RunFolder(tmp_path).begin(MANIFEST)
    assert not (tmp_path / "manifest.json").exists()


def test_a_begin_that_was_killed_is_begun_again(tmp_path):
    RunFolder(tmp_path).begin(MANIFEST)
    (tmp_path / "manifest.json").rename(tmp_path / "manifest.json.partial")
    assert RunFolder(tmp_path).begin(MANIFEST) is False


def test_a_file_as_folder_and_a_full_device_cannot_be_written(tmp_path):
    (tmp_path / "file").write_text("")
    for path in (tmp_path / "file", tmp_path / "file" / "run", Path("/proc/run")):
        with pytest.raises(UsageError, match=r"Cannot write to .* Choose another --out"):
            RunFolder(path).begin(MANIFEST)


@pytest.mark.parametrize("content", ["", "{}", '{"schema_version": 2}', "\xff"])
def test_a_damaged_manifest_is_named(tmp_path, content):
    (tmp_path / "manifest.json").write_bytes(content.encode("latin-1"))
    with pytest.raises(BadFile, match=r"manifest\.json: "):
        RunFolder(tmp_path).begin(MANIFEST)


def test_a_folder_without_manifest_is_no_run(tmp_path):
    with pytest.raises(UsageError, match="is no run folder"):
        RunFolder(tmp_path).manifest()


BEGINS = """
import sys
from pathlib import Path
from runtime.runs import RunFolder
from tests.runtime.test_runs import MANIFEST
sys.stdin.readline()
print(RunFolder(Path(sys.argv[1])).begin(MANIFEST))
"""


def test_shards_may_begin_at_the_same_moment(tmp_path):
    """One of them makes the folder, and none takes the other's files for a stranger's."""
    started = [
        subprocess.Popen(
            [sys.executable, "-c", BEGINS, str(tmp_path / "run")],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=Path(__file__).parents[2],
        )
        for _ in range(3)
    ]
    for each in started:
        each.stdin.write("go\n")
        each.stdin.flush()
    assert sorted(each.communicate()[0].strip() for each in started) == ["False", "True", "True"]


def _hold(path, shard, held, release):
    with RunFolder(path).locked(Shard.parse(shard)):
        held.set()
        release.wait()


@pytest.fixture
def held_by_another(tmp_path):
    context = multiprocessing.get_context("spawn")
    held, release = context.Event(), context.Event()
    process = context.Process(target=_hold, args=(tmp_path, "1/2", held, release))
    process.start()
    held.wait()
    yield RunFolder(tmp_path)
    release.set()
    process.join()


def test_a_part_that_another_process_works_on_is_refused(held_by_another):
    for shard in ("1/2", "1/1", "3/8"):  # equal, or overlapping
        with (
            pytest.raises(UsageError, match=r"Another process is working on .*--shard"),
            held_by_another.locked(Shard.parse(shard)),
        ):
            pytest.fail("both would write the same traces")
    with held_by_another.locked(Shard.parse("2/2")):
        pass


def test_a_part_is_free_again_when_its_process_is_gone(tmp_path):
    for shard in ("1/2", "1/1"):
        with RunFolder(tmp_path).locked(Shard.parse(shard)):
            pass


@given(st.integers(1, 9), st.integers(0, 50))
def test_each_task_is_of_exactly_one_shard(count, position):
    shards = [Shard(index=index, count=count) for index in range(1, count + 1)]
    assert sum(shard.holds(position) for shard in shards) == 1


@pytest.mark.parametrize("text", ["0/2", "3/2", "2", "a/b", "1/0", "-1/2", "1/2/3", ""])
def test_a_shard_that_is_none_is_refused(text):
    with pytest.raises(UsageError, match=r"--shard takes I/N"):
        Shard.parse(text)


@given(st.text())
def test_a_foreign_id_cannot_leave_its_folder(text):
    name = file_name(text)
    assert name
    assert "/" not in name
    assert not name.startswith(".")
    assert len(name) <= 120


def test_a_file_that_only_looks_complete_is_named(tmp_path):
    path = RunFolder(tmp_path).trace_path("a", "t_1")
    path.parent.mkdir(parents=True)
    path.write_text('{"type": "report"}\n')
    with pytest.raises(BadFile, match=r"t_1\.jsonl, line 1: has no header .*Delete the file"):
        RunFolder(tmp_path).end_of("a", "t_1")
    assert RunFolder(tmp_path).end_of("a", "t_2") is None


def test_the_end_of_a_large_trace_is_read_without_the_rest(tmp_path):
    end = EndRecord(status="failed", steps=1, calls=0, events=0, usage=Usage(), wall_s=1)
    path = tmp_path / "t.jsonl"
    path.write_text("x" * 300_000 + "\n" + end.model_dump_json() + "\n")
    assert last_record(path) == end


def test_models_of_one_name_with_other_parameters_are_another_configuration(tmp_path):
    def manifest(*temperatures: int) -> Manifest:
        recorded = [{"name": "x", "temperature": each} for each in temperatures]
        arm = ARM.model_copy(update={"model": {"name": "recorded", "recorded": recorded}})
        return MANIFEST.model_copy(update={"arms": (arm,)})

    folder = RunFolder(tmp_path / "r")
    folder.begin(manifest(0, 1))
    for other in (manifest(5, 1), manifest(1)):
        with pytest.raises(RunMismatch, match="recorded"):
            folder.begin(other)
