"""What one bundled task is: request, evaluation, reference solution, designed mistake."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from textwrap import dedent, indent
from typing import Any

from adapters.appworld.mini.people import Person

__all__ = ["Check", "MiniTask", "Mistake", "code", "only_changed", "right_answer"]

_GIVEN = "test, public_data, private_data, main_user, models, ground_truth_answer"
_PRELUDE = """\
profile = apis.supervisor.show_profile()
accounts = apis.supervisor.show_account_passwords()
passwords = {row["account_name"]: row["password"] for row in accounts}


def login(app):
    name = profile["phone_number"] if app == "phone" else profile["email"]
    return apis[app].login(username=name, password=passwords[app])["access_token"]


def pages(api, **arguments):
    found = []
    for page_index in range(50):
        page = api(page_index=page_index, page_limit=20, **arguments)
        found += page
        if len(page) < 20:
            break
    return found
"""


@dataclass(frozen=True)
class Check:
    """One requirement: its text, the body of its `with test(...)` block, and how it starts.

    The body reads `test`, `models`, `public_data`, `main_user` and `ground_truth_answer`, as
    AppWorld's evaluations do.
    """

    requirement: str
    body: str
    holds_at_start: bool = False
    """Whether an agent that does nothing meets it."""


@dataclass(frozen=True)
class Mistake:
    """The error a task was designed around, as cells that commit it."""

    name: str
    cells: tuple[str, ...]


@dataclass(frozen=True)
class MiniTask:
    """One task. All code is agent code: it sees `apis` and what earlier cells left."""

    id: str
    dataset: str
    signature: str
    supervisor: Person
    instruction: str
    apps: tuple[str, ...]
    checks: tuple[Check, ...]
    solution: str
    mistake: Mistake
    collateral: str
    """An unrelated write; run ahead of the solution, it must make the evaluation fail."""
    answer: str | int | float | None = None
    public_data: Mapping[str, Any] = field(default_factory=dict)
    difficulty: int = 1

    @property
    def scenario(self) -> str:
        """The part of the id that a scenario's tasks share."""
        return self.id.partition("_")[0]

    def evaluation(self) -> str:
        """Return the source of the task's evaluation.py."""
        blocks = "".join(
            f'    with test("""{check.requirement}"""):\n'
            + indent(dedent(check.body).strip(), " " * 8)
            + "\n"
            for check in self.checks
        )
        return f"def evaluate({_GIVEN}):\n{blocks}"

    def requirements(self) -> list[dict[str, str]]:
        """Return the content of the task's test_data.json."""
        return [
            {
                "requirement": check.requirement,
                "label": "no_op_pass" if check.holds_at_start else "no_op_fail",
            }
            for check in self.checks
        ]


def code(body: str, **values: Any) -> str:
    """Return agent code: `values` as assignments, sign-in and paging helpers, then `body`."""
    given = "".join(f"{name} = {value!r}\n" for name, value in values.items())
    return f"{given}{_PRELUDE}\n\n{dedent(body).strip()}\n"


def right_answer(*, asked: bool) -> Check:
    """Require the answer; of a task that asks nothing, require that none is given."""
    return Check(
        "assert answers match.",
        "test.answer(models.end.supervisor.Task.first().answer, ground_truth_answer)",
        holds_at_start=not asked,
    )


def only_changed(*names: str) -> Check:
    """Require that records of exactly these models changed (of none, if none is given)."""
    listed = ", ".join(names) or "no model"
    expected = f"{{{', '.join(map(repr, names))}}}" if names else "set()"
    return Check(
        f"assert that what changed is {listed}.",
        f"test.case(models.changed_model_names(), '==', {expected})",
        holds_at_start=not names,
    )
