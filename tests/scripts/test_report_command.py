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


def test_what_is_no_run_is_named(contramem, tmp_path):
    done = contramem("report", tmp_path)
    assert done.code == 2
    assert "no run folder" in done.err
