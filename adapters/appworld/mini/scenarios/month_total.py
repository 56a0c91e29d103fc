"""Answer extraction: one month's Venmo total, over several pages of transactions."""

from __future__ import annotations

from adapters.appworld.mini.money import total
from adapters.appworld.mini.people import JULIAN, MARA
from adapters.appworld.mini.task import MiniTask, Mistake, code, only_changed, right_answer

_SOLUTION = """
token = login("venmo")
rows = pages(apis.venmo.show_transactions, access_token=token, direction=direction)
amounts = [row["amount"] for row in rows if row["created_at"].startswith(month)]
apis.supervisor.complete_task(answer=round(sum(amounts), 2))
"""
_FIRST_PAGE = """
token = login("venmo")
rows = apis.venmo.show_transactions(
    access_token=token,
    direction=direction,
    min_created_at=f"{month}-01",
    max_created_at=f"{month}-30",
)
apis.supervisor.complete_task(answer=round(sum(row["amount"] for row in rows), 2))
"""
_ANY_YEAR = """
token = login("venmo")
rows = pages(apis.venmo.show_transactions, access_token=token, direction=direction)
amounts = [row["amount"] for row in rows if row["created_at"][5:7] == month[-2:]]
apis.supervisor.complete_task(answer=round(sum(amounts), 2))
"""
_COLLATERAL = """
token = login("venmo")
apis.venmo.like_transaction(
    transaction_id=apis.venmo.show_transactions(access_token=token)[0]["transaction_id"],
    access_token=token,
)
"""
_CHECKS = (right_answer(asked=True), only_changed())

TASKS = (
    MiniTask(
        id="4f2c8e1_1",
        dataset="mini_test",
        signature="answer_extraction",
        supervisor=MARA,
        instruction="How much money did I send on Venmo in April of this year, all in all? Give me "
        "the number of dollars.",
        answer=total(sender=MARA, month="2023-04"),
        apps=("venmo",),
        checks=_CHECKS,
        solution=code(_SOLUTION, direction="sent", month="2023-04"),
        mistake=Mistake("first page only", (code(_FIRST_PAGE, direction="sent", month="2023-04"),)),
        collateral=code(_COLLATERAL),
        difficulty=2,
    ),
    MiniTask(
        id="4f2c8e1_2",
        dataset="mini_test",
        signature="answer_extraction",
        supervisor=JULIAN,
        instruction="What do the payments that I received on Venmo in March of this year add up "
        "to? I need the number of dollars only.",
        answer=total(receiver=JULIAN, month="2023-03"),
        apps=("venmo",),
        checks=_CHECKS,
        solution=code(_SOLUTION, direction="received", month="2023-03"),
        mistake=Mistake(
            "the same month of another year counted in",
            (code(_ANY_YEAR, direction="received", month="2023-03"),),
        ),
        collateral=code(_COLLATERAL),
        difficulty=2,
    ),
)
