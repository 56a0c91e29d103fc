"""Todoist: projects with sections, tasks and sub-tasks; some titles occur in two projects."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from adapters.appworld.mini.people import HOSTS, INES, JULIAN, MARA, PEOPLE, PRIYA, Person


@dataclass(frozen=True)
class Todo:
    """One task; `steps` are its sub-tasks, each with whether it is done."""

    title: str
    section: str | None = None
    priority: str = "medium"
    done: bool = False
    due: datetime | None = None
    steps: tuple[tuple[str, bool], ...] = ()


@dataclass(frozen=True)
class Project:
    """One project of its owner."""

    name: str
    todos: tuple[Todo, ...]
    shared_with: Person | None = None


PROJECTS: dict[Person, tuple[Project, ...]] = {
    MARA: (
        Project("Work", (Todo("Write the design note", priority="high"), Todo("Book room 4"))),
        Project("Flat", (Todo("Descale the kettle"), Todo("Bleed radiators")), INES),
        Project(
            "Reading group",
            (Todo("Choose the June book"), Todo("Print the questions", done=True)),
        ),
        Project("Travel", (Todo("Renew passport"), Todo("Cabin booking", done=True))),
        Project("Health", (Todo("Dentist appointment", due=datetime(2023, 6, 6)),)),
        Project(
            "Housewarming",
            (
                Todo("Send invitations", "Before", done=True),
                Todo(
                    "Prepare the playlist",
                    "Before",
                    steps=(("Ask Gwen for songs", True), ("Borrow the speaker", True)),
                ),
                Todo(
                    "Organise the drinks",
                    "Before",
                    steps=(
                        ("Order the glasses", True),
                        ("Buy lemonade", True),
                        ("Reserve ice", False),
                        ("Ask Theo for the cooler", True),
                    ),
                ),
                Todo("Clean the balcony", "After"),
            ),
        ),
        Project("Someday", (Todo("Learn to sail"), Todo("Fix the film camera", priority="low"))),
    ),
    JULIAN: (
        Project(
            "Allotment",
            (
                Todo("Turn the compost"),
                Todo(
                    "Repair the shelf",
                    "Shed",
                    steps=(("Measure", True), ("Buy brackets", True), ("Borrow the drill", True)),
                ),
                Todo("Sow beetroot", "Beds", due=datetime(2023, 5, 22)),
            ),
        ),
        Project("Office", (Todo("Rotate the keys"), Todo("Plan the demo", done=True))),
        Project("Running", (Todo("New shoes"), Todo("Sign up for the relay"))),
        Project("House", (Todo("Call the landlord"), Todo("Oil the hinges")), PRIYA),
        Project("Family", (Todo("Dad's present", due=datetime(2023, 5, 27)),)),
        Project(
            "Studio",
            (
                Todo("Repair the shelf", steps=(("Measure", True), ("Buy brackets", False))),
                Todo("Fire the vases", "Kiln", priority="high"),
            ),
        ),
    ),
}


def add_todos(models: Any, users: dict[Person, Any]) -> None:
    """Give everyone an inbox, and the hosts their projects."""
    todoist = models.todoist
    for person in PEOPLE:
        _project(todoist, users[person], "Inbox", is_inbox=True)
    for host in HOSTS:
        for week, project in enumerate(PROJECTS[host]):
            made = datetime(2023, 1, 16, 21, 0) + timedelta(weeks=2 * week)
            row = _project(todoist, users[host], project.name, created_at=made)
            if project.shared_with:
                todoist.ProjectCollaboratorLink.create_save(
                    project_id=row.id, user_id=users[project.shared_with].id
                )
            _add_tasks(todoist, project, row, users[host], made)


def _project(todoist: Any, user: Any, name: str, **fields: Any) -> Any:
    row = todoist.Project.create_save(user_id=user.id, name=name, **fields)
    todoist.ProjectCollaboratorLink.create_save(project_id=row.id, user_id=user.id)
    return row


def _add_tasks(todoist: Any, project: Project, row: Any, user: Any, made: datetime) -> None:
    names = dict.fromkeys(todo.section for todo in project.todos if todo.section)
    sections = {
        name: todoist.Section.create_save(project_id=row.id, name=name, order_index=place)
        for place, name in enumerate(names)
    }
    for place, todo in enumerate(project.todos):
        task = todoist.Task.create_save(
            project_id=row.id,
            section_id=sections[todo.section].id if todo.section else None,
            user_id=user.id,
            title=todo.title,
            due_date=todo.due,
            priority=todo.priority,
            is_completed=todo.done,
            order_index=place,
            created_at=made + timedelta(hours=place),
        )
        for step, (title, done) in enumerate(todo.steps):
            todoist.SubTask.create_save(
                task_id=task.id,
                title=title,
                priority="medium",
                is_completed=done,
                order_index=step,
                created_at=made + timedelta(hours=place, minutes=step),
            )
