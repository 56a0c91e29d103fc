"""What a cell prints is the same in every run, whatever lies at which address."""

from __future__ import annotations

import pytest

from adapters.gaia2.repl import Session


def run(source: str) -> str:
    return Session([], lambda *_: None).execute(source)


@pytest.mark.parametrize(
    ("source", "output"),
    [
        ("print(map(str, [1, 2]), (x for x in []))", "<map object> <generator object <genexpr>>"),
        ("def f(): pass\nprint(f, [f])", "<function f> [<function f>]"),
        (
            "class A:\n    def f(self): pass\nprint(A(), A().f)",
            "<__main__.A object> <bound method A.f of <__main__.A object>>",
        ),
        ("print(object, 'a'.join)", "<class 'object'> <built-in method join of str object>"),
        ("print('the crash at 0xdeadbeef was')", "the crash at 0xdeadbeef was"),
        ("a = []\nprint(id(a), id({}), id(a))", "1 2 1"),
        ("a, b = object(), object()\nprint(hash(a), hash(b), hash(None), hash(a))", "1 2 3 1"),
        ("class A:\n    def __hash__(self): return 7\nprint(hash(A()), hash(5))", "7 5"),
    ],
)
def test_an_address_is_not_shown(source: str, output: str) -> None:
    assert run(source) == f"{output}\n"


def test_an_address_in_an_error_is_not_shown() -> None:
    assert "ValueError: <map object>\n" in run("raise ValueError(map(str, []))")


def test_a_number_is_not_handed_on_to_another_object() -> None:
    assert run("print([id(object()) for _ in range(3)])") == "[1, 2, 3]\n"


@pytest.mark.parametrize(
    "draw",
    [
        "import random\nrandom.seed()\nprint(random.random())",
        "import statistics\nprint(statistics.NormalDist().samples(2))",
        "import random\nrandom.seed(5)\nprint(random.choice(range(99)))",
    ],
)
def test_chance_is_the_same_in_every_run(draw: str) -> None:
    assert run(draw) == run(draw)
