"""Cross-app: an amount corrected in later texts, owed to one of two namesakes, paid on Venmo."""

from __future__ import annotations

from adapters.appworld.mini.people import JULIAN, MARA, NORA_VALE, THEO_BRANDT, Person
from adapters.appworld.mini.phone import TEXTS
from adapters.appworld.mini.task import (
    Check,
    MiniTask,
    Mistake,
    code,
    only_changed,
    right_answer,
)

_READ_TEXTS = """
import re

token = login("phone")
(contact,) = [
    row
    for row in pages(apis.phone.search_contacts, access_token=token, relationship="roommate")
    if row["first_name"] == first_name
]
texts = pages(
    apis.phone.show_text_message_window,
    phone_number=contact["phone_number"],
    access_token=token,
)
amounts = [
    re.findall(r"\\$(\\d+\\.\\d\\d)", text["message"])[-1]
    for text in sorted(texts, key=lambda text: text["sent_at"])
    if thing in text["message"] and text["sender"]["phone_number"] == contact["phone_number"]
]
"""
_PAY = """
apis.venmo.create_transaction(
    receiver_email=receiver_email,
    amount=float(amount),
    description=thing,
    access_token=login("venmo"),
)
apis.supervisor.complete_task()
"""
_SOLUTION = f"""
{_READ_TEXTS}
amount, receiver_email = amounts[-1], contact["email"]
{_PAY}
"""
_FIRST_VENMO_USER = f"""
{_READ_TEXTS}
users = apis.venmo.search_users(query=first_name, access_token=login("venmo"))
amount, receiver_email = amounts[-1], users[0]["email"]
{_PAY}
"""
_OLD_AMOUNT = f"""
{_READ_TEXTS}
amount, receiver_email = amounts[0], contact["email"]
{_PAY}
"""
_COLLATERAL = """
token = login("phone")
text = apis.phone.search_text_messages(access_token=token)[0]
apis.phone.delete_text_message(text_message_id=text["text_message_id"], access_token=token)
"""
_CHECKS = (
    right_answer(asked=False),
    only_changed("venmo.User", "venmo.Transaction", "venmo.Notification"),
    Check(
        "assert exactly one transaction was made, and none changed or removed.",
        """
        added, updated, removed = models.changed_records("venmo.Transaction")
        test.case([len(added), len(updated), len(removed)], "==", [1, 0, 0])
        """,
    ),
    Check(
        "assert the supervisor paid the right person.",
        """
        (paid,) = models.changed_records("venmo.Transaction")[0]
        test.case(
            [paid.sender.email, paid.receiver.email],
            "==",
            [main_user.email, public_data.receiver_email],
        )
        """,
    ),
    Check(
        "assert the amount is the one that was last told.",
        """
        (paid,) = models.changed_records("venmo.Transaction")[0]
        test.case(paid.amount, "==", public_data.amount)
        """,
    ),
    Check(
        "assert the transaction's note is what was asked.",
        """
        (paid,) = models.changed_records("venmo.Transaction")[0]
        test.case(paid.description, "==", public_data.thing, normalize_text=True)
        """,
    ),
)


def _last_told(sender: Person, thing: str) -> float:
    told = [text.message for text in TEXTS if text.sender is sender and thing in text.message]
    amounts = [word.strip(":.,$") for word in told[-1].split() if word.startswith("$")]
    return float(amounts[-1])


def _task(number: int, host: Person, friend: Person, thing: str, wrong: Mistake) -> MiniTask:
    return MiniTask(
        id=f"d81ca05_{number}",
        dataset="mini_test",
        signature="cross_app",
        supervisor=host,
        instruction=f"My roommate {friend.first_name} texted me what I owe for the {thing}. Pay "
        f'that on Venmo from my balance, with the note "{thing}".',
        apps=("phone", "venmo"),
        checks=_CHECKS,
        solution=code(_SOLUTION, first_name=friend.first_name, thing=thing),
        mistake=wrong,
        collateral=code(_COLLATERAL),
        public_data={
            "receiver_email": friend.email,
            "amount": _last_told(friend, thing),
            "thing": thing,
        },
        difficulty=3,
    )


TASKS = (
    _task(
        1,
        MARA,
        NORA_VALE,
        "lamp",
        Mistake(
            "first match of a first name",
            (code(_FIRST_VENMO_USER, first_name="Nora", thing="lamp"),),
        ),
    ),
    _task(
        2,
        JULIAN,
        THEO_BRANDT,
        "shower curtain",
        Mistake(
            "an amount that was corrected later",
            (code(_OLD_AMOUNT, first_name="Theo", thing="shower curtain"),),
        ),
    ),
)
