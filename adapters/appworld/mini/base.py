"""Fills the base databases from which every task's world starts."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import datetime
from typing import Any

from appworld.api_docs import prepare_api_docs
from appworld.apps import get_all_apps
from appworld.apps.api_lib import CompanyNotifier

from adapters.appworld.mini.mail import add_mail
from adapters.appworld.mini.money import add_money, card
from adapters.appworld.mini.music import add_music
from adapters.appworld.mini.notes import add_files, add_notes
from adapters.appworld.mini.people import HOSTS, PEOPLE, Person
from adapters.appworld.mini.phone import add_phone
from adapters.appworld.mini.sharing import add_groups, add_shop
from adapters.appworld.mini.todos import add_todos

__all__ = ["LOGIN_APPS", "api_docs", "fill"]

LOGIN_APPS = (
    "amazon",
    "phone",
    "file_system",
    "spotify",
    "venmo",
    "gmail",
    "splitwise",
    "simple_note",
    "todoist",
)
_COMPANIES = (
    "Amazon",
    "Spotify",
    "Venmo",
    "Gmail",
    "Todoist",
    "Splitwise",
    "Simple Note",
    "File System",
    "Phone",
)
_FILLERS: tuple[tuple[str, Callable[[Any, dict[Person, Any]], None]], ...] = (
    ("phone", add_phone),
    ("file_system", add_files),
    ("spotify", add_music),
    ("venmo", add_money),
    ("gmail", add_mail),
    ("splitwise", add_groups),
    ("simple_note", add_notes),
    ("todoist", add_todos),
    ("amazon", add_shop),
)


def api_docs() -> dict[str, list[dict[str, Any]]]:
    """Return the engine's API documentation by app, made from the installed code."""
    return {
        app: json.loads(json.dumps(prepare_api_docs(app))) for app in get_all_apps(skip_admin=True)
    }


def fill(models: Any, docs: dict[str, list[dict[str, Any]]]) -> None:
    """Fill empty databases with documentation, accounts and everything people keep in them."""
    _add_docs(models, docs)
    for company in _COMPANIES:
        # Receipts, orders and resets raise unless their sender has accounts.
        CompanyNotifier(company).create_accounts()
    for host in HOSTS:
        _add_supervisor(models, host)
    for app, add in _FILLERS:
        add(models, {person: _add_account(models[app], app, person) for person in PEOPLE})


def _add_docs(models: Any, docs: dict[str, list[dict[str, Any]]]) -> None:
    kept = ("api_name", "path", "method", "description", "parameters", "response_schemas")
    record = models.api_docs.ApiDoc
    for rows in docs.values():
        # `create` copies deeply, which takes seconds for documents of this size.
        record.save_all(
            [
                record(app_name_=row["app_name"], **{name: row[name] for name in kept})
                for row in rows
            ]
        )


def _add_supervisor(models: Any, host: Person) -> None:
    user = models.admin.MainUser.create_save(
        first_name=host.first_name,
        last_name=host.last_name,
        email=host.email,
        phone_number=host.phone_number,
        birthday=host.birthday,
        sex=host.sex,
    )
    for app in LOGIN_APPS:
        models.admin.AccountPassword.create_save(
            main_user_id=user.id, account_name=app, password=host.password(app)
        )
    models.admin.PaymentCard.create_save(main_user_id=user.id, balance=500, **card(host))


def _add_account(models: Any, app: str, person: Person) -> Any:
    address = {"phone_number": person.phone_number} if app == "phone" else {"email": person.email}
    verified = {"verified": True} if "verified" in models.User.properties() else {}
    return models.User.create_save(
        first_name=person.first_name,
        last_name=person.last_name,
        password=person.password(app),
        created_at=datetime(2020, 3, 1, 10, 0),
        **address,
        **verified,
    )
