"""Default: mark a task done only if all its sub-tasks are, otherwise make it urgent."""

from __future__ import annotations

from typing import Any

from adapters.appworld.mini.people import JULIAN, MARA, Person
from adapters.appworld.mini.task import (
    Check,
    MiniTask,
    Mistake,
    code,
    only_changed,
    right_answer,
)
from adapters.appworld.mini.todos import PROJECTS

_FIND = """
def tasks_of(project):
    shown = apis.todoist.show_tasks(project_id=project["project_id"], access_token=token)
    return shown["no_section_tasks"] + [
        task for section in shown["sections"] for task in section["tasks"]
    ]


token = login("todoist")
projects = pages(apis.todoist.show_projects, access_token=token)
"""
_SETTLE = """
steps = apis.todoist.show_sub_tasks(task_id=task["task_id"], access_token=token)
if all(step["is_completed"] for step in steps):
    apis.todoist.update_task(task_id=task["task_id"], is_completed=True, access_token=token)
else:
    apis.todoist.update_task(task_id=task["task_id"], priority="high", access_token=token)
apis.supervisor.complete_task()
"""
_SOLUTION = f"""
{_FIND}
(project,) = [row for row in projects if row["name"] == project_name]
(task,) = [task for task in tasks_of(project) if task["title"] == title]
{_SETTLE}
"""
_UNCHECKED = f"""
{_FIND}
(project,) = [row for row in projects if row["name"] == project_name]
(task,) = [task for task in tasks_of(project) if task["title"] == title]
apis.todoist.update_task(task_id=task["task_id"], is_completed=True, access_token=token)
apis.supervisor.complete_task()
"""
_ANY_PROJECT = f"""
{_FIND}
task = [task for project in projects for task in tasks_of(project) if task["title"] == title][0]
{_SETTLE}
"""
_COLLATERAL = """
token = login("todoist")
project = apis.todoist.show_projects(access_token=token)[0]
apis.todoist.create_task(
    project_id=project["project_id"], title="Tidy up", access_token=token
)
"""
_CHECKS = (
    right_answer(asked=False),
    only_changed("todoist.Task"),
    Check(
        "assert exactly one task changed, and none was added or removed.",
        """
        added, updated, removed = models.changed_records("todoist.Task")
        test.case([len(added), len(updated), len(removed)], "==", [0, 1, 0])
        """,
    ),
    Check(
        "assert it is the task of the named project.",
        """
        (task,) = models.changed_records("todoist.Task")[1]
        test.case(
            [task.project.user.email, task.project.name, task.title],
            "==",
            [main_user.email, public_data.project, public_data.title],
        )
        """,
    ),
    Check(
        "assert it is completed or urgent, as its sub-tasks demand, and else unchanged.",
        """
        (task,) = models.changed_records("todoist.Task")[1]
        test.case(
            [task.is_completed, task.priority],
            "==",
            [public_data.completed, "medium" if public_data.completed else "high"],
        )
        test.case(len(models.changed_field_names("todoist.Task", task.id)), "==", 1)
        """,
    ),
)


def _expected(host: Person, project_name: str, title: str) -> dict[str, Any]:
    (project,) = [project for project in PROJECTS[host] if project.name == project_name]
    (todo,) = [todo for todo in project.todos if todo.title == title]
    assert (todo.priority, todo.done) == ("medium", False), "both outcomes must be a change"
    assert todo.steps
    done = all(finished for _, finished in todo.steps)
    return {"project": project_name, "title": title, "completed": done}


def _task(number: int, host: Person, project: str, title: str, wrong: Mistake) -> MiniTask:
    return MiniTask(
        id=f"0e9b73c_{number}",
        dataset="mini_test",
        signature="default",
        supervisor=host,
        instruction=f'In my Todoist project "{project}": if all sub-tasks of "{title}" are done, '
        "mark the task as completed. If not, set the task's priority to high instead.",
        apps=("todoist",),
        checks=_CHECKS,
        solution=code(_SOLUTION, project_name=project, title=title),
        mistake=wrong,
        collateral=code(_COLLATERAL),
        public_data=_expected(host, project, title),
        difficulty=2,
    )


def _wrong(name: str, body: str, project_name: str, title: str) -> Mistake:
    return Mistake(name, (code(body, project_name=project_name, title=title),))


_DRINKS = ("Housewarming", "Organise the drinks")
_SHELF = ("Allotment", "Repair the shelf")

TASKS = (
    _task(1, MARA, *_DRINKS, _wrong("marked as done without the check", _UNCHECKED, *_DRINKS)),
    _task(
        2,
        JULIAN,
        *_SHELF,
        _wrong("first record of that title, in another project", _ANY_PROJECT, *_SHELF),
    ),
)
