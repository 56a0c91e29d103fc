"""Small scenarios in ARE's JSON format, one a kind, and how to write them to a folder."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

START = 1730797200.0  # 2024-11-05 09:00:00 UTC
USER, EVE = "ada@example.com", "eve@example.com"


def contact(key: str, first: str, last: str, *, is_user: bool = False) -> dict[str, Any]:
    return {
        "contact_id": key,
        "first_name": first,
        "last_name": last,
        "email": f"{first.lower()}@example.com",
        "phone": "+440000",
        "is_user": is_user,
        "gender": "Female",
        "age": 30,
        "nationality": "",
        "city_living": "Leeds",
        "country": "UK",
        "status": "Employed",
        "job": "Baker",
        "description": "",
        "address": "1 High Street",
    }


def email(key: str, subject: str, content: str) -> dict[str, Any]:
    return {
        "email_id": key,
        "sender": EVE,
        "recipients": [USER],
        "subject": subject,
        "content": content,
        "parent_id": None,
        "cc": [],
        "attachments": {},
        "timestamp": START - 3600,
        "is_read": False,
    }


def apps(*emails: dict[str, Any]) -> list[dict[str, Any]]:
    people = [contact("c-ada", "Ada", "Quinn", is_user=True), contact("c-eve", "Eve", "Stone")]
    folders = {name: [] for name in ("INBOX", "SENT", "DRAFT", "TRASH")} | {"INBOX": list(emails)}
    states = {
        ("AgentUserInterface", "AgentUserInterface"): {"messages": []},
        ("SystemApp", "SystemApp"): {},
        ("Contacts", "Contacts"): {
            "contacts": {person["contact_id"]: person for person in people},
            "view_limit": 10,
        },
        ("Emails", "EmailClientV2"): {
            "user_email": USER,
            "view_limit": 5,
            "folders": {
                name: {"folder_name": name, "emails": found} for name, found in folders.items()
            },
        },
        ("Calendar", "Calendar"): {"events": {}},
    }
    return [
        {"name": name, "class_name": kind, "app_state": state}
        for (name, kind), state in states.items()
    ]


def event(
    key: str, kind: str, call: str, after: list[str], seconds: float, **arguments: Any
) -> dict[str, Any]:
    app, _, function = call.partition(".")
    made = {
        "class_name": "OracleEvent" if kind == "AGENT" else "Event",
        "event_type": kind,
        "event_id": key,
        "event_time": None,
        "event_relative_time": seconds,
        "dependencies": after,
        "action": {
            "action_id": f"action-{key}",
            "app": app,
            "function": function,
            "operation_type": "WRITE",
            "args": [
                {
                    "name": name,
                    "value": value if isinstance(value, str) else json.dumps(value),
                    "value_type": type(value).__name__,
                }
                for name, value in arguments.items()
            ],
        },
    }
    return made | ({"event_time_comparator": None} if kind == "AGENT" else {})


def ask(key: str, content: str, *after: str, seconds: float = 0.0) -> dict[str, Any]:
    call = "AgentUserInterface.send_message_to_agent"
    return event(key, "USER", call, list(after), seconds, content=content)


def tell(key: str, content: str, *after: str) -> dict[str, Any]:
    call = "AgentUserInterface.send_message_to_user"
    return event(key, "AGENT", call, list(after), 1.0, content=content)


def act(key: str, call: str, after: str, *, seconds: float = 1.0, **arguments: Any) -> Any:
    return event(key, "AGENT", call, [after], seconds, **arguments)


def happen(key: str, call: str, after: str, *, seconds: float, **arguments: Any) -> Any:
    return event(key, "ENV", call, [after], seconds, **arguments)


LUNCH = {"title": "Lunch", "start_datetime": "2024-11-06 12:00:00"}
LUNCH |= {"end_datetime": "2024-11-06 13:00:00"}
LATER = LUNCH | {"start_datetime": "2024-11-06 13:00:00", "end_datetime": "2024-11-06 14:00:00"}
NOTE = {"recipients": [EVE], "subject": "Lunch", "content": "Lunch at 12"}

EVENTS: dict[str, tuple[str, list[dict[str, Any]]]] = {
    "search": (
        "Search",
        [ask("u0", "Which invoice number did Eve mail me?"), tell("o_tell", "INV-44", "u0")],
    ),
    "execution": (
        "Execution",
        [
            ask("u0", "Book lunch with Eve tomorrow from 12 to 13 and mail her 'Lunch at 12'."),
            act("o_book", "Calendar.add_calendar_event", "u0", **LUNCH),
            act("o_mail", "Emails.send_email", "o_book", **NOTE),
            tell("o_tell", "Done", "o_mail"),
            ask("u1", "Cancel that lunch after all.", "o_tell", seconds=2.0),
            act("o_cancel", "Calendar.delete_calendar_event", "u1", event_id="{{o_book}}"),
            tell("o_tell2", "Cancelled", "o_cancel"),
        ],
    ),
    "time": (
        "Time",
        [
            ask("u0", "Eve will mail me soon. One minute after that, mail her 'On my way'."),
            happen(
                "e_mail",
                "Emails.send_email_to_user_only",
                "u0",
                seconds=120.0,
                sender=EVE,
                subject="Here",
                content="I am here",
            ),
            act(
                "o_mail",
                "Emails.send_email",
                "e_mail",
                seconds=60.0,
                recipients=[EVE],
                subject="Re: Here",
                content="On my way",
            ),
            tell("o_tell", "Sent", "o_mail"),
        ],
    ),
    "adaptability": (
        "Adaptability",
        [
            ask("u0", "Book lunch with Eve tomorrow from 12 to 13, mail her, adapt to her reply."),
            act("o_book", "Calendar.add_calendar_event", "u0", **LUNCH),
            act("o_mail", "Emails.send_email", "o_book", **NOTE),
            tell("o_tell", "Booked", "o_mail"),
            happen(
                "e_reply",
                "Emails.reply_to_email_from_user",
                "o_tell",
                seconds=30.0,
                sender=EVE,
                email_id="{{o_mail}}",
                content="13 to 14 suits me better.",
            ),
            act("o_cancel", "Calendar.delete_calendar_event", "e_reply", event_id="{{o_book}}"),
            act("o_again", "Calendar.add_calendar_event", "e_reply", **LATER),
            tell("o_tell2", "Moved", "o_cancel", "o_again"),
        ],
    ),
}
CHECKS = {
    "search": {
        "o_tell": [
            {
                "arg_name": "content",
                "checker_type": "contain_all_checker",
                "tool_name": "AgentUserInterface__send_message_to_user",
                "checker_args": {"targets": ["INV-44"]},
            }
        ]
    }
}


def scenario(key: str, *, duration: float | None = 600) -> dict[str, Any]:
    tag, events = EVENTS[key]
    definition = {
        "scenario_id": f"small_{key}",
        "seed": 0,
        "duration": duration,
        "time_increment_in_seconds": 1,
        "start_time": START,
        "run_number": None,
        "hints": [],
        "config": None,
        "tags": [tag],
        "hf_metadata": None,
    }
    annotation = {
        "annotation_id": key,
        "annotator": "test",
        "validation_decision": "Valid",
        "comment": None,
        "date": 0.0,
    }
    return {
        "version": "are_simulation_v1",
        "metadata": {
            "definition": definition,
            "simulation": None,
            "annotation": annotation,
            "execution": None,
            "runner_config": None,
        },
        "apps": apps(email("m1", "Invoice", "The invoice number is INV-44.")),
        "events": events,
        "completed_events": [],
        "world_logs": [],
        "context": None,
        "augmentation": None,
    }


def is_oracle(event: dict[str, Any]) -> bool:
    return bool(event["event_type"] == "AGENT")


def write_scenarios(root: Path, *, scripted: bool = True) -> Path:
    """Write the four scenarios as dataset `small` of a root, with or without their checks."""
    checks = root / "small" / "checks"
    checks.mkdir(parents=True)
    for key in EVENTS:
        (root / "small" / f"small_{key}.json").write_text(json.dumps(scenario(key)))
        if scripted:
            unchecked = {event["event_id"]: [] for event in EVENTS[key][1] if is_oracle(event)}
            (checks / f"small_{key}.json").write_text(json.dumps(unchecked | CHECKS.get(key, {})))
    return root
