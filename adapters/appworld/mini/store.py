"""Writes one task into a data root, in AppWorld's on-disk format."""

from __future__ import annotations

import json
from pathlib import Path
from textwrap import indent
from typing import Any

from appworld.apps import get_all_apps
from appworld.apps.admin.models import MainUserMunch
from appworld.apps.model_lib import CachedDBHandler
from appworld.collections.models import ModelCollection
from appworld.common.constants import DB_VERSION, DEFAULT_SYSTEM_DATETIME
from appworld.task import Task

from adapters.appworld.mini.base import LOGIN_APPS
from adapters.appworld.mini.money import card
from adapters.appworld.mini.people import Person
from adapters.appworld.mini.task import MiniTask

__all__ = ["write_json", "write_task"]


def write_json(path: Path, value: object) -> None:
    """Write `value` as indented JSON, with its folders."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value, indent=1) + "\n", encoding="utf-8")


def write_task(data: Path, task: MiniTask) -> None:
    """Write the task's specification, databases and ground truth below `data`/tasks."""
    models = ModelCollection.load(
        to_db_home_path=f":memory:task_input-{task.id}",
        from_db_home_path=str(data / "base_dbs"),
        load_apps=list(get_all_apps()),
    )
    _assign(models, task)
    Task(
        id=task.id,
        instruction=task.instruction,
        supervisor=MainUserMunch(**_profile(task.supervisor)),
        datetime=DEFAULT_SYSTEM_DATETIME,
        allowed_apps=get_all_apps(skip_admin=True),
        db_version=DB_VERSION,
        model_collection=models,
    ).save(save_ground_truth=False, model_collection_format="changes", delete_if_exists=True)
    models.close()
    CachedDBHandler.reset()
    _write_ground_truth(data / "tasks" / task.id / "ground_truth", task)


def _profile(person: Person) -> dict[str, str]:
    return {
        "first_name": person.first_name,
        "last_name": person.last_name,
        "email": person.email,
        "phone_number": person.phone_number,
        "birthday": person.birthday,
        "sex": person.sex,
    }


def _assign(models: Any, task: MiniTask) -> None:
    host = task.supervisor
    supervisor = models.supervisor.Supervisor.create_save(**_profile(host))
    models.supervisor.Task.create_save(supervisor_id=supervisor.id, instruction=task.instruction)
    for app in LOGIN_APPS:
        models.supervisor.AccountPassword.create_save(
            supervisor_id=supervisor.id, account_name=app, password=host.password(app)
        )
    models.supervisor.PaymentCard.create_save(supervisor_id=supervisor.id, **card(host))


def _write_ground_truth(folder: Path, task: MiniTask) -> None:
    # The engine's own writer runs a formatter over the folder, so the files are written here.
    def write(name: str, value: object) -> None:
        write_json(folder / name, value)

    write("answer.json", task.answer)
    write("public_data.json", dict(task.public_data))
    write("private_data.json", {})
    write("test_data.json", task.requirements())
    write("required_apps.json", list(task.apps))
    write(
        "metadata.json",
        {
            "difficulty": task.difficulty,
            "mode": "full",
            "num_apps": len(task.apps),
            "num_apis": len(set(task.solution.split("apis.")[1:])),
            "num_api_calls": task.solution.count("apis."),
            "num_solution_code_lines": len(task.solution.splitlines()),
        },
    )
    solution = "def solution(apis, requester):\n" + indent(task.solution, " " * 4)
    for name, text in {
        "evaluation.py": task.evaluation(),
        "solution.py": solution,
        "compiled_solution.py": solution,
    }.items():
        (folder / name).write_text(text, encoding="utf-8")
