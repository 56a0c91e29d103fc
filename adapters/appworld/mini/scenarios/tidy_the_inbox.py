"""Bulk write: mark every thread of one sender, spread over pages, beside a namesake's."""

from __future__ import annotations

from adapters.appworld.mini.mail import subjects_from
from adapters.appworld.mini.people import JULIAN, MARA, NORA_VALE, SAM, Person
from adapters.appworld.mini.task import (
    Check,
    MiniTask,
    Mistake,
    code,
    only_changed,
    right_answer,
)

_SOLUTION = """
token = login("gmail")
threads = pages(apis.gmail.show_inbox_threads, access_token=token, from_email=sender_email)
for thread in threads:
    apis.gmail[action](email_thread_id=thread["email_thread_id"], access_token=token)
apis.supervisor.complete_task()
"""
_FIRST_PAGE = """
token = login("gmail")
threads = apis.gmail.show_inbox_threads(access_token=token, from_email=sender_email)
for thread in threads:
    apis.gmail[action](email_thread_id=thread["email_thread_id"], access_token=token)
apis.supervisor.complete_task()
"""
_FIRST_NAME = """
token = login("gmail")
for thread in pages(apis.gmail.show_inbox_threads, access_token=token):
    shown = apis.gmail.show_thread(email_thread_id=thread["email_thread_id"], access_token=token)
    if shown["emails"][0]["sender"]["name"].startswith("Nora"):
        apis.gmail[action](email_thread_id=thread["email_thread_id"], access_token=token)
apis.supervisor.complete_task()
"""
_COLLATERAL = """
token = login("gmail")
other = apis.gmail.show_outbox_threads(access_token=token)[0]
apis.gmail.label_thread(
    email_thread_id=other["email_thread_id"], label="later", access_token=token
)
"""
_CHECKS = (
    right_answer(asked=False),
    only_changed("gmail.UserEmailThread"),
    Check(
        "assert threads were neither added nor removed.",
        """
        added, _, removed = models.changed_records("gmail.UserEmailThread")
        test.case([len(added), len(removed)], "==", [0, 0])
        """,
        holds_at_start=True,
    ),
    Check(
        "assert exactly the sender's threads in the supervisor's inbox have the new mark.",
        """
        updated = models.changed_records("gmail.UserEmailThread")[1]
        test.case(
            sorted((row.user.email, row.emails[0].subject) for row in updated),
            "==",
            sorted((main_user.email, subject) for subject in public_data.subjects),
        )
        test.case(all(getattr(row, public_data.mark) for row in updated), "==", True)
        """,
    ),
    Check(
        "assert no other property of a thread changed.",
        """
        updated = models.changed_records("gmail.UserEmailThread")[1]
        test.case(bool(updated), "==", True)
        for row in updated:
            changed = models.changed_field_names("gmail.UserEmailThread", row.id)
            test.case(changed, "==", {public_data.mark})
        """,
    ),
)


def _task(number: int, host: Person, sender: Person, mark: str, wrong: Mistake) -> MiniTask:
    subjects = subjects_from(sender, host)
    assert len(subjects) > 5, "the threads must fill more than a page"
    verb = {"archived": "Archive", "starred": "Star"}[mark]
    return MiniTask(
        id=f"62e5f47_{number}",
        dataset="mini_test",
        signature="bulk_or_multi_write",
        supervisor=host,
        instruction=f"{verb} every thread from {sender.name} in my Gmail inbox.",
        apps=("gmail",),
        checks=_CHECKS,
        solution=code(_SOLUTION, sender_email=sender.email, action=f"mark_thread_{mark}"),
        mistake=wrong,
        collateral=code(_COLLATERAL),
        public_data={"subjects": list(subjects), "mark": mark},
        difficulty=2,
    )


TASKS = (
    _task(
        1,
        MARA,
        SAM,
        "archived",
        Mistake(
            "first page only",
            (code(_FIRST_PAGE, sender_email=SAM.email, action="mark_thread_archived"),),
        ),
    ),
    _task(
        2,
        JULIAN,
        NORA_VALE,
        "starred",
        Mistake(
            "a first name taken for the whole name",
            (code(_FIRST_NAME, action="mark_thread_starred"),),
        ),
    ),
)
