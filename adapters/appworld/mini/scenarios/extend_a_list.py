"""State write: one line more in a note whose title resembles that of a pinned one."""

from __future__ import annotations

from typing import Any

from adapters.appworld.mini.notes import note
from adapters.appworld.mini.people import JULIAN, MARA, Person
from adapters.appworld.mini.task import (
    Check,
    MiniTask,
    Mistake,
    code,
    only_changed,
    right_answer,
)

_SOLUTION = """
token = login("simple_note")
(row,) = [
    row
    for row in pages(apis.simple_note.search_notes, access_token=token, query=title)
    if row["title"] == title
]
note = apis.simple_note.show_note(note_id=row["note_id"], access_token=token)
apis.simple_note.update_note(
    note_id=note["note_id"], content=f"{note['content']}\\n- {item}", access_token=token
)
apis.supervisor.complete_task()
"""
_FIRST_HIT = """
token = login("simple_note")
row = apis.simple_note.search_notes(query=title, access_token=token)[0]
note = apis.simple_note.show_note(note_id=row["note_id"], access_token=token)
apis.simple_note.update_note(
    note_id=note["note_id"], content=f"{note['content']}\\n- {item}", access_token=token
)
apis.supervisor.complete_task()
"""
_OVERWRITE = """
token = login("simple_note")
(row,) = [
    row
    for row in pages(apis.simple_note.search_notes, access_token=token, query=title)
    if row["title"] == title
]
apis.simple_note.update_note(note_id=row["note_id"], content=f"- {item}", access_token=token)
apis.supervisor.complete_task()
"""
_COLLATERAL = """
apis.simple_note.create_note(title="Scratch", content="...", access_token=login("simple_note"))
"""
_CHECKS = (
    right_answer(asked=False),
    only_changed("simple_note.Note"),
    Check(
        "assert exactly one note changed, and none was added or removed.",
        """
        added, updated, removed = models.changed_records("simple_note.Note")
        test.case([len(added), len(updated), len(removed)], "==", [0, 1, 0])
        """,
    ),
    Check(
        "assert it is the supervisor's note of that title, still with its title and tags.",
        """
        (note,) = models.changed_records("simple_note.Note")[1]
        test.case(
            [note.user.email, note.title, note.tags, note.pinned],
            "==",
            [main_user.email, public_data.title, public_data.tags, public_data.pinned],
        )
        """,
    ),
    Check(
        "assert the note has its old lines and then the new one.",
        """
        (note,) = models.changed_records("simple_note.Note")[1]
        lines = [line.strip() for line in note.content.splitlines() if line.strip()]
        test.case(lines, "==", public_data.lines)
        """,
    ),
)


def _extended(host: Person, title: str, item: str) -> dict[str, Any]:
    old = note(host, title)
    lines = [*old.content.splitlines(), f"- {item}"]
    return {"title": title, "tags": list(old.tags), "pinned": old.pinned, "lines": lines}


def _task(number: int, host: Person, title: str, item: str, instruction: str) -> MiniTask:
    wrong = (
        ("first hit of a search that puts pinned notes first", _FIRST_HIT),
        ("content overwritten unread", _OVERWRITE),
    )
    name, body = wrong[number - 1]
    return MiniTask(
        id=f"b7309da_{number}",
        dataset="mini_test",
        signature="state_write",
        supervisor=host,
        instruction=instruction,
        apps=("simple_note",),
        checks=_CHECKS,
        solution=code(_SOLUTION, title=title, item=item),
        mistake=Mistake(name, (code(body, title=title, item=item),)),
        collateral=code(_COLLATERAL),
        public_data=_extended(host, title, item),
    )


TASKS = (
    _task(
        1,
        MARA,
        "Groceries",
        "oat milk",
        'Add "oat milk" as a new item at the end of my "Groceries" note in Simple Note, in the '
        "form that the other items have.",
    ),
    _task(
        2,
        JULIAN,
        "Books to read",
        "The Rings of Saturn",
        'In Simple Note, put "The Rings of Saturn" at the end of my note "Books to read", written '
        "like the items before it.",
    ),
)
