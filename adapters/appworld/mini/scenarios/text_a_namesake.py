"""State write: one text message to the right one of two people with the same first name."""

from __future__ import annotations

from adapters.appworld.mini.people import JULIAN, MARA, NORA_VALE, THEO_BRANDT
from adapters.appworld.mini.task import (
    Check,
    MiniTask,
    Mistake,
    code,
    only_changed,
    right_answer,
)

_SOLUTION = """
token = login("phone")
(contact,) = [
    row
    for row in pages(apis.phone.search_contacts, access_token=token, relationship="roommate")
    if row["first_name"] == first_name
]
apis.phone.send_text_message(
    phone_number=contact["phone_number"], message=message, access_token=token
)
apis.supervisor.complete_task()
"""
_FIRST_MATCH = """
token = login("phone")
contact = apis.phone.search_contacts(query=first_name, access_token=token)[0]
apis.phone.send_text_message(
    phone_number=contact["phone_number"], message=message, access_token=token
)
apis.supervisor.complete_task()
"""
_SEND_THEN_FAIL = """
token = login("phone")
(contact,) = [
    row
    for row in pages(apis.phone.search_contacts, access_token=token, relationship="roommate")
    if row["first_name"] == first_name
]
sent = apis.phone.send_text_message(
    phone_number=contact["phone_number"], message=message, access_token=token
)
print(sent["id"])
"""
_SEND_AGAIN = """
sent = apis.phone.send_text_message(
    phone_number=contact["phone_number"], message=message, access_token=token
)
print(sent["text_message_id"])
apis.supervisor.complete_task()
"""
_COLLATERAL = """
apis.phone.send_text_message(
    phone_number="4155550110", message="Never mind.", access_token=login("phone")
)
"""
_CHECKS = (
    right_answer(asked=False),
    only_changed("phone.GlobalTextMessage", "phone.UserTextMessage"),
    Check(
        "assert exactly one text message was sent, and none changed or removed.",
        """
        added, updated, removed = models.changed_records("phone.GlobalTextMessage")
        test.case([len(added), len(updated), len(removed)], "==", [1, 0, 0])
        """,
    ),
    Check(
        "assert the message went from the supervisor to the right person.",
        """
        (sent,) = models.changed_records("phone.GlobalTextMessage")[0]
        test.case(
            [sent.sender.phone_number, sent.receiver.phone_number],
            "==",
            [main_user.phone_number, public_data.receiver_phone_number],
        )
        """,
    ),
    Check(
        "assert the message says what was asked.",
        """
        (sent,) = models.changed_records("phone.GlobalTextMessage")[0]
        test.case(sent.message, "==", public_data.message, normalize_text=True)
        """,
    ),
)
_KEYS = "The spare keys are with Priya."
_RENT = "I moved the rent to the first of the month."

TASKS = (
    MiniTask(
        id="7be24d8_1",
        dataset="mini_train",
        signature="state_write",
        supervisor=MARA,
        instruction=f'Text my roommate Nora this, word for word: "{_KEYS}"',
        apps=("phone",),
        checks=_CHECKS,
        solution=code(_SOLUTION, first_name="Nora", message=_KEYS),
        mistake=Mistake(
            "first match of a first name",
            (code(_FIRST_MATCH, first_name="Nora", message=_KEYS),),
        ),
        collateral=code(_COLLATERAL),
        public_data={"receiver_phone_number": NORA_VALE.phone_number, "message": _KEYS},
    ),
    MiniTask(
        id="7be24d8_2",
        dataset="mini_train",
        signature="state_write",
        supervisor=JULIAN,
        instruction=f'Text my roommate Theo this, word for word: "{_RENT}"',
        apps=("phone",),
        checks=_CHECKS,
        solution=code(_SOLUTION, first_name="Theo", message=_RENT),
        mistake=Mistake(
            "write repeated after an exception",
            (code(_SEND_THEN_FAIL, first_name="Theo", message=_RENT), _SEND_AGAIN),
        ),
        collateral=code(_COLLATERAL),
        public_data={"receiver_phone_number": THEO_BRANDT.phone_number, "message": _RENT},
    ),
)
