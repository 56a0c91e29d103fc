"""Which writes a source names."""

from __future__ import annotations

import pytest
from gate_world import CATALOGUE
from hypothesis import given
from hypothesis import strategies as st

from injectors.gate.scan import CellScan


def named(*cells: str) -> set[str]:
    """The writes that the last cell names, after the earlier ones ran."""
    scan = CellScan(CATALOGUE)
    for source in cells[:-1]:
        scan.remember(source, complete=True)
    return set(scan.named(cells[-1]).writes)


@pytest.mark.parametrize(
    "source",
    [
        "apis.shop.pay(to='a')",
        "shop = apis.shop\nshop.pay()",
        "f = apis.shop.pay; f()",
        "getattr(apis.shop, 'pay')()",
        "name = 'shop.pay'",
        "exec('apis.shop.pay(to=1)')",
        "x = f'apis.shop.pay(to={y})'",
        "list(map(lambda o: apis.shop.pay(**o), orders))",
        "try:\n    pass\nfinally:\n    apis.shop.pay()",
        "async def f():\n    await apis.shop.pay()",
        "class C:\n    def go(self):\n        apis.shop.pay()",
        "p = partial(apis.shop.pay, to=1)",
        "%time apis.shop.pay(",
        "s = '\\d'; apis.shop.pay()",
    ],
)
def test_named_in_one_cell(source: str) -> None:
    assert named(source) == {"shop.pay"}


@pytest.mark.parametrize(
    "first",
    [
        "def go(a):\n    apis.shop.pay(amount=a)",
        "go = apis.shop.pay",
        "go = lambda a: apis.shop.pay(amount=a)",
        "go: object = apis.shop.pay",
        "class go:\n    def __init__(self): apis.shop.pay()",
        "if True:\n    def go(): apis.shop.pay()",
        "try:\n    go = apis.shop.pay\nexcept Exception: pass",
        "go = {}\ngo['x'] = apis.shop.pay",
        "go = []\ngo.append(apis.shop.pay)",
        "for go in [apis.shop.pay]: pass",
        "print(go := apis.shop.pay)",
        "def make():\n    global go\n    go = apis.shop.pay\nmake()",
        "x, go = 1, apis.shop.pay",
    ],
)
def test_named_through_an_earlier_cell(first: str) -> None:
    assert named(first, "x = 1", "print(go)") == {"shop.pay"}
    assert named(first, "x = 1", "print(other)") == set()


def test_named_through_a_chain_of_earlier_cells() -> None:
    cells = ("def a(): apis.shop.pay()", "def b(): a()", "c = [b]", "c[0]()")
    assert named(*cells) == {"shop.pay"}


def test_a_name_bound_anew_loses_its_meaning_only_if_its_cell_ran_to_its_end() -> None:
    scan = CellScan(CATALOGUE)
    scan.remember("go = apis.shop.pay", complete=True)
    scan.remember("go = print", complete=False)
    assert scan.named("go()").writes == {"shop.pay"}
    scan.remember("go = print", complete=True)
    assert scan.named("go()").writes == set()


def test_reads_and_finish_are_not_named() -> None:
    assert named("apis.shop.show_orders(); apis.desk.complete()") == set()


def test_an_everyday_word_is_no_function_unless_its_app_is_in_view() -> None:
    assert named("state = 'open'") == set()
    assert named("getattr(apis.files, 'open')") == {"files.open"}
    assert named("text = 'please pay and open the shop door'") == set()


def test_calls_in_loops_are_told_apart() -> None:
    scan = CellScan(CATALOGUE)
    scan.remember("def one(x): apis.notes.delete_note(note_id=x)", complete=True)
    source = (
        "apis.shop.pay()\nfor x in xs: one(x)\n[apis.shop.cancel_order(order_id=o) for o in os]"
    )
    found = scan.named(source)
    assert found.writes == {"shop.pay", "notes.delete_note", "shop.cancel_order"}
    assert found.looped == {"notes.delete_note", "shop.cancel_order"}


@given(st.text() | st.text("()[]{}:=.'\"\n pay apis.shop", max_size=60))
def test_any_text_is_scanned(source: str) -> None:
    scan = CellScan(CATALOGUE)
    scan.named(source)
    scan.remember(source, complete=False)


def test_a_deep_source_is_scanned() -> None:
    assert named("(" * 5_000 + "apis.shop.pay()" + ")" * 5_000) == {"shop.pay"}
