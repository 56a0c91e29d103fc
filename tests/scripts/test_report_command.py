"""`contramem report`: several runs in one table, or as JSON with stable keys."""

from tests.scripts.conftest import SHOP


def test_several_runs_stand_in_one_table_and_in_one_object(contramem, good, bad):
    for name, model in (("one", good), ("two", bad)):
        assert contramem("run", *SHOP, "--model", model, "--out", name, "--quiet").code == 0
    told = contramem("report", "one", "two", "--format", "json").json
    assert [run["run"] for run in told["runs"]] == ["one", "two"]
    rates = [run["arms"][0]["tgc"] for run in told["runs"]]
    assert rates[0] == 100.0
    assert rates[1] < 100.0
    shown = contramem("report", "one", "two")
    assert "scripted-good" in shown.out
    assert "scripted-bad" in shown.out


def test_rows_of_several_runs_can_be_told_apart(contramem, good):
    for name, words in (("runs/one", ()), ("runs/two", ("--gate", "on"))):
        contramem("run", *SHOP, "--model", good, "--out", name, *words)
    title, head, _, first, second = contramem("report", "runs/one", "runs/two").out.splitlines()
    assert title.strip() == "fake all"
    assert head.split()[:4] == ["run", "arm", "gate", "pass"]
    assert first.split()[:3] == ["one", "scripted-good", "off"]
    assert second.split()[:3] == ["two", "scripted-good", "on"]


def test_what_is_no_run_is_named(contramem, tmp_path):
    done = contramem("report", tmp_path)
    assert done.code == 2
    assert "no run folder" in done.err
