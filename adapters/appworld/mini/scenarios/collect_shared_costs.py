"""Cross-app: names and amounts in a note, people in the phone, payment requests on Venmo."""

from __future__ import annotations

from typing import Any

from adapters.appworld.mini.notes import note
from adapters.appworld.mini.people import CONTACTS, JULIAN, MARA, Person
from adapters.appworld.mini.task import (
    Check,
    MiniTask,
    Mistake,
    code,
    only_changed,
    right_answer,
)

_READ_NOTE = """
notes = login("simple_note")
(row,) = [
    row
    for row in pages(apis.simple_note.search_notes, access_token=notes, query=title)
    if row["title"] == title
]
content = apis.simple_note.show_note(note_id=row["note_id"], access_token=notes)["content"]
lines = [line.split(": ") for line in content.splitlines()]
"""
_READ_ROOMMATES = """
contacts = pages(
    apis.phone.search_contacts, access_token=login("phone"), relationship="roommate"
)
email = {row["first_name"]: row["email"] for row in contacts}
"""
_SOLUTION = f"""
{_READ_NOTE}
{_READ_ROOMMATES}
venmo = login("venmo")
for name, amount in lines:
    if name in email:
        apis.venmo.create_payment_request(
            user_email=email[name], amount=float(amount), description=title, access_token=venmo
        )
apis.supervisor.complete_task()
"""
_FIRST_VENMO_USER = f"""
{_READ_NOTE}
venmo = login("venmo")
for name, amount in lines[:-1]:
    user = apis.venmo.search_users(query=name, access_token=venmo)[0]
    apis.venmo.create_payment_request(
        user_email=user["email"], amount=float(amount), description=title, access_token=venmo
    )
apis.supervisor.complete_task()
"""
_FAIL_AT_TOTAL = f"""
{_READ_NOTE}
{_READ_ROOMMATES}
venmo = login("venmo")
for name, amount in lines:
    apis.venmo.create_payment_request(
        user_email=email[name], amount=float(amount), description=title, access_token=venmo
    )
"""
_ALL_OVER_AGAIN = """
for name, amount in lines[:-1]:
    apis.venmo.create_payment_request(
        user_email=email[name], amount=float(amount), description=title, access_token=venmo
    )
apis.supervisor.complete_task()
"""
_COLLATERAL = """
apis.venmo.create_payment_request(
    user_email="caleb.stroud@mail.example.com", amount=5, access_token=login("venmo")
)
"""
_CHECKS = (
    right_answer(asked=False),
    only_changed("venmo.PaymentRequest", "venmo.Notification"),
    Check(
        "assert payment requests were only added, one for each roommate in the note.",
        """
        added, updated, removed = models.changed_records("venmo.PaymentRequest")
        test.case(
            [len(added), len(updated), len(removed)], "==", [len(public_data.amounts), 0, 0]
        )
        """,
    ),
    Check(
        "assert the supervisor asks each roommate for the amount in the note.",
        """
        added = models.changed_records("venmo.PaymentRequest")[0]
        test.case(
            sorted((row.sender.email, row.receiver.email, row.amount) for row in added),
            "==",
            sorted((main_user.email, email, amount) for email, amount in public_data.amounts),
        )
        """,
    ),
    Check(
        "assert every payment request is described by the note's title.",
        """
        added = models.changed_records("venmo.PaymentRequest")[0]
        test.case(bool(added), "==", True)
        for row in added:
            test.case(row.description, "==", public_data.title, normalize_text=True)
        """,
    ),
)


def _owed(host: Person, title: str) -> dict[str, Any]:
    roommates = {p.first_name: p.email for p, kinds in CONTACTS[host] if "roommate" in kinds}
    rows = [line.split(": ") for line in note(host, title).content.splitlines()[:-1]]
    return {"title": title, "amounts": [[roommates[name], float(amount)] for name, amount in rows]}


def _task(number: int, host: Person, title: str, instruction: str, mistake: Mistake) -> MiniTask:
    return MiniTask(
        id=f"19d7ac4_{number}",
        dataset="mini_train",
        signature="cross_app",
        supervisor=host,
        instruction=instruction,
        apps=("simple_note", "phone", "venmo"),
        checks=_CHECKS,
        solution=code(_SOLUTION, title=title),
        mistake=mistake,
        collateral=code(_COLLATERAL),
        public_data=_owed(host, title),
        difficulty=3,
    )


_CUSHIONS = "Sofa cushions"
_FERRY = "Ferry weekend"

TASKS = (
    _task(
        1,
        MARA,
        _CUSHIONS,
        f'I paid for the sofa cushions. My Simple Note note "{_CUSHIONS}" says what each of my '
        "roommates owes me. Send each of them a Venmo payment request for that amount, with the "
        "note's title as description.",
        Mistake("first match of a first name", (code(_FIRST_VENMO_USER, title=_CUSHIONS),)),
    ),
    _task(
        2,
        JULIAN,
        _FERRY,
        f'My roommates owe me for our trip, as listed in my Simple Note note "{_FERRY}". Request '
        "the money from each of them on Venmo and use the note's title as the description.",
        Mistake(
            "writes repeated after an exception",
            (code(_FAIL_AT_TOTAL, title=_FERRY), _ALL_OVER_AGAIN),
        ),
    ),
)
