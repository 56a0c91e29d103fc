"""The account of replaced attempts."""

import pytest

from runtime.errors import BadFile, TraceError
from runtime.spending import Spending, cost_of_prefix


def test_what_is_noted_adds_up_and_nothing_is_written_for_nothing(tmp_path):
    account = Spending(tmp_path)
    assert account.total_usd({"a/t"}) == 0
    account.note("a/t", 0.0)
    assert list(tmp_path.iterdir()) == []
    account.note("a/t", 0.25)
    account.note("a/t", 0.5)
    account.note("b/t", 4.0)
    assert Spending(tmp_path).total_usd({"a/t", "a/u"}) == 0.75


@pytest.mark.parametrize("line", [b"{}", b"\xff", b'{"episode": "a/t", "usd": -1}', b'{"epis'])
def test_a_damaged_line_is_named(tmp_path, line):
    Spending(tmp_path).note("a/t", 0.25)
    with (tmp_path / "spent.jsonl").open("ab") as file:
        file.write(line + b"\n")
    with pytest.raises(BadFile, match=r"spent\.jsonl, line 2: is no line such as"):
        Spending(tmp_path).total_usd({"a/t"})


def test_a_full_disk_is_said(tmp_path):
    (tmp_path / "spent.jsonl").mkdir()
    with pytest.raises(TraceError, match="Free space"):
        Spending(tmp_path).note("a/t", 1.0)


def test_a_trace_that_is_not_there_or_has_no_header_has_cost_nothing(tmp_path):
    assert cost_of_prefix(tmp_path / "gone.part") == 0
    (tmp_path / "torn.part").write_text('{"type": "epis')
    assert cost_of_prefix(tmp_path / "torn.part") == 0


def test_accounts_of_two_folders_add_up_once(tmp_path):
    for name in "ab":
        (tmp_path / name).mkdir()
    ours, theirs = Spending(tmp_path / "a"), Spending(tmp_path / "b")
    for account, usd in ((ours, 1.0), (ours, 0.5), (theirs, 1.0)):
        account.note("a/t", usd)
    for _ in range(2):
        ours.join(theirs)
    assert ours.total_usd({"a/t"}) == 2.5
