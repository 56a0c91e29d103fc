"""Random small programs print in a cell what they print in plain Python."""

from __future__ import annotations

import contextlib
import io

from hypothesis import example, given, settings
from hypothesis import strategies as st

from adapters.gaia2.repl import NOTHING_PRINTED, Session

START = """
from dataclasses import dataclass
@dataclass
class Box:
    n: int = 1
    _p: int = 2
    def up(self, by=1):
        self.n += by
        return self
def twice(v):
    return v * 2
a, b, c = 1, 2, 3
d = {"x": 1, "y": [1, 2, 3]}
box = Box()
"""
NAMES = st.sampled_from(["a", "b", "c"])
NUMBERS = st.integers(-9, 9)
ATOMS = st.one_of(
    NAMES,
    NUMBERS.map(lambda n: f"({n})"),
    st.sampled_from(["d['x']", "d['y'][1]", "box.n", "box._p", "len(d['y'])", "d['y'][-1]"]),
)
EXPRESSIONS = st.recursive(
    ATOMS,
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from("+-*"), inner).map(lambda t: f"({' '.join(t)})"),
        st.tuples(inner, inner, inner).map(lambda t: f"({t[0]} if {t[1]} > 0 else {t[2]})"),
        inner.map(lambda e: f"twice({e})"),
        inner.map(lambda e: f"max(*[{e}, 0])"),
        inner.map(lambda e: f"sum(k + {e} for k, *_ in zip(d['y'], 'ab'))"),
        inner.map(lambda e: f"(lambda v: v - {e})(1)"),
        inner.map(lambda e: f"int('{{:d}}'.format({e}))"),
        inner.map(lambda e: f"box.up({e} % 3).n"),
    ),
    max_leaves=6,
)
TARGETS = st.sampled_from(["a", "b", "d['x']", "d['y'][0]", "box.n", "box._p", "d['y'][box.n % 3]"])
SIMPLE = st.one_of(
    st.tuples(TARGETS, st.sampled_from(["=", "+=", "-=", "*="]), EXPRESSIONS).map(" ".join),
    EXPRESSIONS.map(lambda e: f"print({e})"),
    NAMES.map(lambda name: f"print(f'{{{name}:>4}}|{{d}}')"),
    st.tuples(EXPRESSIONS, EXPRESSIONS).map(lambda t: f"a, (b, *c_) = {t[0]}, ({t[1]}, 1)"),
    EXPRESSIONS.map(lambda e: f"c: int = {e}"),
    EXPRESSIONS.map(lambda e: f"d['y'].append({e})"),
)


def block(head: str, body: list[str], tail: str = "") -> str:
    inside = "\n".join("    " + line for statement in body for line in statement.split("\n"))
    return f"{head}\n{inside}{tail}"


STATEMENTS = st.recursive(
    SIMPLE,
    lambda inner: st.one_of(
        st.tuples(EXPRESSIONS, st.lists(inner, min_size=1, max_size=3)).map(
            lambda t: block(f"if {t[0]} > 1:", t[1], "\nelse:\n    print('else')")
        ),
        st.lists(inner, min_size=1, max_size=3).map(lambda body: block("for _ in range(2):", body)),
        st.lists(inner, min_size=1, max_size=3).map(
            lambda body: block(
                "try:", [*body, "1 // (a - a)"], "\nexcept ArithmeticError as e:\n    print(e)"
            )
        ),
        st.tuples(EXPRESSIONS, inner).map(
            lambda t: block(
                f"match {t[0]}:", [block("case 1 | 2:", [t[1]]), "case n:\n    print(n)"]
            )
        ),
    ),
    max_leaves=5,
)


def plain(source: str) -> str:
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        module = {"__name__": "__main__", "__annotations__": {}}
        exec(compile(source, "<plain>", "exec", dont_inherit=True), module)
    return out.getvalue()


@settings(max_examples=150, deadline=None)
@example(["match a:\n    case n:\n        c: int = n"])
@given(st.lists(STATEMENTS, min_size=1, max_size=5))
def test_a_cell_prints_what_plain_python_prints(statements: list[str]) -> None:
    source = START + "\n".join(statements)
    assert Session([], lambda *_: None).execute(source) == (plain(source) or NOTHING_PRINTED)
