"""Success as the benchmark defines it; errors and gaps are neither success nor failure."""

import io

import pytest
from rich.console import Console

from runtime.contracts import Limits, Usage
from runtime.masking import Masker
from runtime.records import EndRecord, Header
from runtime.report.summary import ArmSummary, summarise
from runtime.report.tables import arms_table, tasks_table
from runtime.runs import ArmManifest, Manifest, RunFolder
from runtime.trace import TraceWriter
from tests.support.fake_world import task

TASKS = [task(name) for name in ("a_1", "a_2", "b_1", "b_2")]


@pytest.fixture
def summary(tmp_path):
    def summary(costs=(), **statuses: str) -> ArmSummary:
        arm = ArmManifest(name="arm", model={"name": "m"}, settings={"gate": True})
        folder = RunFolder(tmp_path)
        for position, (name, status) in enumerate(statuses.items()):
            end = EndRecord(
                status=status,
                steps=2,
                calls=3,
                events=4,
                usage=Usage(input=10, cached=4, output=5),
                memory_tokens=7,
                cost_usd=costs[position] if costs else 0.5,
                wall_s=1.5,
            )
            with TraceWriter(folder.trace_path("arm", name), Masker()) as writer:
                writer.write(
                    Header(episode=name, task=task(name), limits=Limits(), prompt_sha256="")
                )
                writer.write(end)
                writer.finish()
        manifest = Manifest(
            benchmark="fake",
            dataset="all",
            tasks={each.id: each.scenario_id for each in TASKS},
            seed=3,
            limits=Limits(),
            versions={},
            arms=(arm,),
        )
        return summarise(folder, manifest)[0]

    return summary


@pytest.mark.parametrize(
    ("statuses", "tgc", "sgc"),
    [
        ({"a_1": "passed", "a_2": "passed", "b_1": "passed", "b_2": "failed"}, 75.0, 50.0),
        ({"a_1": "passed", "a_2": "failed", "b_1": "passed", "b_2": "failed"}, 50.0, 0.0),
        ({"a_1": "passed", "a_2": "passed"}, 100.0, 100.0),
        ({"a_1": "passed", "b_1": "failed", "b_2": "passed"}, 66.67, 0.0),
        ({"a_1": "passed", "a_2": "errored", "b_1": "passed", "b_2": "passed"}, 100.0, 100.0),
        ({"a_1": "errored"}, None, None),
        ({}, None, None),
    ],
)
def test_tgc_is_over_tasks_and_sgc_over_scenarios_that_were_evaluated_whole(
    summary, statuses, tgc, sgc
):
    row = summary(**statuses)
    assert (row.tgc, row.sgc) == (tgc, sgc)


def test_errors_and_gaps_are_counted_apart(summary):
    row = summary(a_1="passed", a_2="failed", b_1="errored")
    assert (row.passed, row.failed, row.errored, row.not_run) == (1, 1, 1, 1)
    assert row.success == {"a_1": True, "a_2": False}


def test_one_unknown_price_makes_the_sum_unknown(summary):
    assert summary(a_1="passed", a_2="passed").cost_usd == 1.0
    assert summary(costs=(0.5, None), a_1="passed", a_2="passed").cost_usd is None


def test_the_json_row_has_the_keys_that_scripts_rely_on(summary):
    assert summary(a_1="passed", a_2="failed").as_json() == {
        "arm": "arm",
        "model": "m",
        "memory": None,
        "profile": "none",
        "gate": True,
        "latch": None,
        "dataset": "all",
        "seed": 3,
        "episodes": 2,
        "passed": 1,
        "failed": 1,
        "errored": 0,
        "not_run": 2,
        "tgc": 50.0,
        "sgc": 0.0,
        "events": 8,
        "calls": 6,
        "tokens": {"input": 20, "cached": 8, "output": 10, "memory": 14},
        "cost": 1.0,
        "wall_s": 3.0,
    }


def shown(table) -> str:
    console = Console(width=80, file=io.StringIO())
    console.print(table)
    return console.file.getvalue()


def test_the_arms_table_fits_eighty_columns_and_shows_unknown_as_unknown(summary):
    row = summary(costs=(None,), a_1="passed")
    largest = row.model_copy(
        update={
            "arm": ArmManifest(name="scripted-careful_with_starter-bank", model={}),
            "usage": Usage(input=123_456_789, output=5),
            "memory_tokens": 123_456,
            "cost_usd": 1234.5678,
            "wall_s": 99_999,
            "passed": 417,
            "failed": 417,
            "not_run": 417,
        }
    )
    text = shown(arms_table([row, largest]))
    assert max(map(len, text.splitlines())) <= 80
    for part in ("?", "100.0", "TGC", "memory", "$1,234.57", "99999", "123M", "123k"):
        assert part in text


def test_many_settings_that_differ_stand_under_each_other_in_a_narrow_terminal(summary):
    def row(run, name, **settings):
        arm = ArmManifest(name=name, model={}, settings=settings)
        return summary(a_1="passed").model_copy(update={"run": run, "arm": arm})

    plain = row("runs/appworld-mini_test-12345678", "scripted-careful", profile="none")
    full = row(
        "runs/appworld-mini_test-87654321",
        "scripted-careful",
        profile="full",
        gate=True,
        memory="starter_bank@0123456789abcdef",
    )
    narrow = shown(arms_table([plain, full]))
    assert max(map(len, narrow.splitlines())) <= 80
    for part in ("12345678", "87654321", "profile full", "gate on", "bank starter_bank@"):
        assert part in narrow
    wide = Console(width=1000, file=io.StringIO())
    wide.print(arms_table([plain, full], width=1000))
    head = wide.file.getvalue().splitlines()[1]
    assert head.split()[:5] == ["run", "arm", "profile", "bank", "gate"]


def test_a_name_is_broken_only_where_the_row_would_be_too_wide(summary):
    long = ArmManifest(name="openai-some-provider-large-model-2026", model={})
    row = summary(a_1="passed").model_copy(update={"arm": long})
    assert long.name not in shown(arms_table([row, row]))
    wide = Console(width=120, file=io.StringIO())
    wide.print(arms_table([row, row], width=120))
    assert long.name in wide.file.getvalue()


def test_the_tasks_table_shows_what_was_not_evaluated_as_a_gap(summary):
    row = summary(a_1="passed", a_2="failed", b_1="errored")
    lines = shown(tasks_table([row], [each.id for each in TASKS])).splitlines()
    marks = {line.split()[0]: line.split()[1] for line in lines if "_" in line}
    assert marks == {"a_1": "pass", "a_2": "fail", "b_1": "-", "b_2": "-"}


def test_three_arms_of_bundled_personas_show_task_names_whole_in_eighty_columns(summary):
    arms = ("scripted-careful", "scripted-hasty", "scripted-wanderer_with_starter-bank")
    names = ["mini_adaptability_lamp_cancelled", "mini_adaptability_lunch_kept"]
    rows = [summary().model_copy(update={"arm": ArmManifest(name=name, model={})}) for name in arms]
    text = shown(tasks_table(rows, names))
    assert max(map(len, text.splitlines())) <= 80
    for part in (*names, "careful", "wanderer_", "starter-", "bank"):
        assert part in text
