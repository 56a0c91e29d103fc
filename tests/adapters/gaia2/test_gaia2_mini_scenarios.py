"""All twenty scenarios before ARE's judge: the oracle passes, nothing else does."""

import json
import os
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from adapters.gaia2.importer_are import import_are
from adapters.gaia2.mini.source.scenario import Mini, Step
from adapters.gaia2.mini.source.write import MINIS, all_files
from runtime.contracts import Kind
from runtime.records import CallRecord
from runtime.trace import read_trace

ROOT = Path(__file__).parents[3]
MINI = ROOT / "adapters/gaia2/mini"
TRIALS = Path(__file__).with_name("are_trials.py")


def ordered(steps: list[Step]) -> list[Step]:
    """Sort by the time at which each step is due; equal times keep their order."""
    due: dict[str, float] = {}
    left = list(steps)
    while left:
        for step in left:
            if all(name in due for name in step.after):
                due[step.id] = max((due[name] for name in step.after), default=0.0) + step.delay
                left.remove(step)
                break
        else:
            raise AssertionError(f"no way to {left[0].id}")
    return sorted(steps, key=lambda step: due[step.id])


def as_trial(mini: Mini, steps: list[Step]) -> dict:
    def line(step: Step) -> dict:
        row: dict = {"id": step.id, "after": list(step.after), "delay": step.delay}
        if step.kind == "AGENT":
            row |= {"app": step.app, "function": step.short, "args": dict(step.args)}
        return row

    return {
        "scenario": str(MINI / f"scenarios/{mini.id}.json"),
        "checks": str(MINI / f"checks/{mini.id}.json"),
        "steps": [line(step) for step in ordered(steps)],
    }


def oracle(mini: Mini) -> list[Step]:
    return list(mini.steps)


def no_op(mini: Mini) -> list[Step]:
    return []


def mistaken(mini: Mini) -> list[Step]:
    mistake = mini.mistake
    gone = set(mistake.drop)
    steps = [
        replace(
            step,
            args={**step.args, **mistake.args.get(step.id, {})},
            delay=mistake.delay.get(step.id, step.delay),
            after=tuple(name for name in step.after if name not in gone),
        )
        for step in mini.steps
        if step.id not in gone
    ]
    steps += mistake.add
    if any(step.short == "send_message_to_user" for step in mistake.add):
        return steps
    report = [step for step in steps if step.short == "send_message_to_user"][-1]
    late = replace(report, after=(*report.after, *(step.id for step in mistake.add)))
    return [late if step is report else step for step in steps]


def with_extra(mini: Mini) -> list[Step]:
    *before, report = mini.steps
    return [*before, mini.extra, replace(report, after=(*report.after, mini.extra.id))]


WAYS = {"oracle": oracle, "no-op": no_op, "mistake": mistaken, "extra write": with_extra}


@pytest.fixture(scope="module")
def exports(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("exports")


@pytest.fixture(scope="module")
def verdicts(gaia2_python: Path, exports: Path, tmp_path_factory: pytest.TempPathFactory) -> dict:
    keys = [(mini.id, way) for mini in MINIS for way in WAYS]
    trials = [as_trial(mini, WAYS[way](mini)) for mini in MINIS for way in WAYS]
    for (scenario, way), trial in zip(keys, trials, strict=True):
        trial["export"] = str(exports / f"{scenario}.json") if way == "oracle" else None
    files = tmp_path_factory.mktemp("are")
    done = subprocess.run(
        [gaia2_python, TRIALS],
        input=json.dumps(trials),
        capture_output=True,
        text=True,
        timeout=240,
        env={
            "PATH": os.defpath,
            "PYTHONPATH": str(ROOT),
            "PYTHONHASHSEED": "0",
            "DEMO_FS_PATH": str(files / "no_files"),
            "TMPDIR": str(files),
        },
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return dict(zip(keys, json.loads(done.stdout), strict=True))


@pytest.mark.slow
@pytest.mark.parametrize("mini", MINIS, ids=lambda mini: mini.id)
class TestBeforeTheJudge:
    def test_the_oracle_passes(self, mini: Mini, verdicts: dict) -> None:
        assert verdicts[mini.id, "oracle"]["passed"], verdicts[mini.id, "oracle"]

    @pytest.mark.parametrize("way", ["no-op", "mistake", "extra write"])
    def test_any_other_way_fails_by_the_judge(self, mini: Mini, way: str, verdicts: dict) -> None:
        verdict = verdicts[mini.id, way]
        assert not verdict["passed"], verdict
        assert verdict["exception"] is None


@pytest.mark.slow
def test_one_scenario_takes_seven_minutes(verdicts: dict) -> None:
    assert 7.0 < verdicts["mini_time_seven_minutes", "oracle"]["minutes"] < 7.5


@pytest.mark.slow
def test_ares_own_export_of_a_run_is_imported(verdicts: dict, exports: Path) -> None:
    for mini in MINIS:
        report = import_are(exports / f"{mini.id}.json", exports / "traces")
        assert report.problems == ()
        trace = read_trace(report.traces[0])
        assert trace.end is not None
        assert trace.end.status == "passed"
        asked = [step.function for step in mini.steps if step.kind == "AGENT"]
        calls = [record for record in trace.records if isinstance(record, CallRecord)]
        done = [call.function for call in calls if call.kind is not Kind.READ]
        assert sorted(done) == sorted(asked)


def test_the_committed_files_are_what_the_sources_make() -> None:
    made = all_files()
    for name, text in made.items():
        assert (MINI / name).read_text(encoding="utf-8") == text, f"{name}: run the writer again"
    found = {
        str(path.relative_to(MINI))
        for folder in ("scenarios", "checks")
        for path in (MINI / folder).iterdir()
    }
    assert found == set(made) - {"index.json"}


def test_abilities_are_split_evenly() -> None:
    places = [(mini.ability, mini.dataset) for mini in MINIS]
    assert len(places) == 20
    assert {places.count(place) for place in places} == {2}


def test_conditional_duties_come_in_twins_of_the_same_words() -> None:
    tasks = [mini.steps[0].args["content"] for mini in MINIS]
    assert sum(tasks.count(task) == 2 for task in tasks) == 4
