"""Everyday Python that agents write (idioms.txt), each with the output plain Python gives."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from adapters.gaia2.repl import Session
from adapters.gaia2.stubs import Doc

DOCS: list[Doc] = [
    {
        "name": "Emails.list_emails",
        "signature": "list_emails(folder: str = 'INBOX', limit: int = 10) -> list",
        "parameters": ["folder", "limit"],
        "text": "List emails.",
    }
]
MAILS = [
    {"id": "m1", "sender": "eve@example.com", "subject": "Lunch", "size": 3.5},
    {"id": "m2", "sender": "bob@example.com", "subject": "Invoice 44", "size": 1.25},
    {"id": "m3", "sender": "eve@example.com", "subject": "Re: Lunch", "size": 2},
]


def session() -> Session:
    return Session(DOCS, lambda name, arguments: [dict(mail) for mail in MAILS])


IDIOMS = {
    name: (source, output)
    for name, source, output in re.findall(
        r"^=== (.+)\n((?s:.+?))\n---\n((?s:.*?\n))(?=\n===|\Z)",
        Path(__file__).with_name("idioms.txt").read_text(),
        re.MULTILINE,
    )
}


@pytest.mark.parametrize("idiom", IDIOMS)
def test_an_everyday_idiom_gives_what_python_gives(idiom: str) -> None:
    source, expected = IDIOMS[idiom]
    assert session().execute(source) == expected


@pytest.mark.parametrize("idiom", [name for name in IDIOMS if "apps." not in IDIOMS[name][0]])
def test_the_expected_output_is_what_plain_python_prints(idiom: str) -> None:
    source, expected = IDIOMS[idiom]
    done = subprocess.run(
        [sys.executable, "-c", source], capture_output=True, text=True, check=False
    )
    assert done.stdout == expected, done.stderr


def test_there_are_at_least_forty_idioms() -> None:
    assert len(IDIOMS) >= 40


@pytest.mark.parametrize(
    "target", ["box().n", "d[key()]", "rows[index()][key()]", "box().items[index()]"]
)
def test_each_part_of_an_augmented_target_is_evaluated_once(target: str) -> None:
    source = f"""
calls = []
class Box:
    def __init__(self):
        self.n, self.items = 1, [1]
b, d, rows = Box(), {{'k': 1}}, [{{'k': 1}}]
def box():
    calls.append('box'); return b
def key():
    calls.append('key'); return 'k'
def index():
    calls.append('index'); return 0
{target} += 5
print(sorted(calls), b.n + b.items[0] + d['k'] + rows[0]['k'])
"""
    output = session().execute(source)
    names = sorted(name for name in ("box", "key", "index") if name + "()" in target)
    assert output == f"{names} 9\n"


def test_variables_functions_and_imports_stay_between_cells() -> None:
    cells = session()
    cells.execute("import math\nx = [1]\ndef double(n):\n    return n * 2")
    cells.execute("x.append(double(2))")
    assert cells.execute("print(x, math.sqrt(4))") == "[1, 4] 2.0\n"


def test_variables_survive_a_cell_that_raises() -> None:
    cells = session()
    cells.execute("x = 1\nraise ValueError('no')")
    assert cells.execute("print(x)") == "1\n"


def test_random_is_the_same_in_every_run() -> None:
    source = "import random\nprint(random.randint(0, 10**9), random.sample(range(99), 3))"
    assert session().execute(source) == session().execute(source)
