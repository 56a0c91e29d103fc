"""The phone: contacts, text messages and alarms."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from adapters.appworld.mini.people import (
    CALEB,
    CONTACTS,
    GWEN,
    HELEN,
    HOSTS,
    HUGO,
    INES,
    JULIAN,
    MARA,
    NORA_VALE,
    NORA_WHITLOCK,
    PRIYA,
    RUTH,
    SAM,
    THEO_BRANDT,
    THEO_LINDQVIST,
    Person,
)
from adapters.appworld.mini.records import add_records


@dataclass(frozen=True)
class Text:
    """One text message."""

    sender: Person
    receiver: Person
    message: str


@dataclass(frozen=True)
class Alarm:
    """One alarm clock setting."""

    time: str
    label: str
    days: tuple[str, ...]
    enabled: bool = True
    snooze: int = 10


TEXTS = (
    Text(NORA_WHITLOCK, MARA, "Can you send me the offsite numbers by Friday?"),
    Text(NORA_VALE, MARA, "The lamp for the hallway was $31.40, half of it is yours: $15.70."),
    Text(MARA, NORA_VALE, "Great, I will pay you back."),
    Text(THEO_LINDQVIST, JULIAN, "Demo is at four. The snacks were $19.20, your half is $9.60."),
    Text(THEO_BRANDT, JULIAN, "Got the shower curtain. You owe me $12.50 for it."),
    Text(JULIAN, THEO_BRANDT, "Nice, will send it."),
    Text(RUTH, MARA, "Did you call your grandmother?"),
    Text(NORA_WHITLOCK, MARA, "The team gift came to $24.80 a head, by the way."),
    Text(PRIYA, JULIAN, "Who moved my bike?"),
    Text(
        NORA_VALE, MARA, "Small thing: the shop took the fee twice. You owe me $18.35 for the lamp."
    ),
    Text(THEO_BRANDT, JULIAN, "They refunded part: for the shower curtain you owe me $10.75 now."),
    Text(MARA, NORA_VALE, "No problem, thanks for sorting it out."),
    Text(NORA_VALE, MARA, "Also, the plumber comes on Tuesday between 8 and 12."),
    Text(THEO_BRANDT, JULIAN, "Is the spare key still under the pot?"),
    Text(JULIAN, THEO_BRANDT, "It is."),
    Text(NORA_WHITLOCK, MARA, "Room 4 is booked for Wednesday."),
    Text(SAM, JULIAN, "I am cooking tonight, be hungry."),
    Text(NORA_VALE, MARA, "Could you water my basil while I am away?"),
    Text(MARA, NORA_VALE, "Of course."),
    Text(THEO_BRANDT, JULIAN, "Back at nine, do not lock the bottom lock."),
    Text(HUGO, JULIAN, "Call me about dad's present."),
    Text(GWEN, MARA, "Train is late, start without me."),
    Text(THEO_LINDQVIST, JULIAN, "Can you review my branch today?"),
    Text(INES, MARA, "We are out of dish soap."),
    Text(CALEB, MARA, "Pager handed over."),
    Text(HELEN, JULIAN, "Do you still have my cake tin?"),
)

_WEEK = ("monday", "tuesday", "wednesday", "thursday", "friday")
ALARMS: dict[Person, tuple[Alarm, ...]] = {
    MARA: (
        Alarm("06:40", "Wake up", _WEEK),
        Alarm("07:50", "Leave for work", _WEEK, snooze=0),
        Alarm("08:15", "Wake up, weekend", ("saturday", "sunday"), snooze=20),
        Alarm("21:30", "Vitamins", (*_WEEK, "saturday", "sunday"), snooze=5),
        Alarm("12:20", "Stretch", _WEEK, enabled=False),
        Alarm("17:05", "Pick up parcel", ("thursday",)),
        Alarm("18:35", "Gym, Saturday class", ("saturday",), snooze=0),
        Alarm("18:10", "Gym", ("tuesday", "thursday"), snooze=0),
        Alarm("22:45", "Wind down", _WEEK),
    ),
    JULIAN: (
        Alarm("05:55", "Run, long", ("sunday",), snooze=0),
        Alarm("07:10", "Wake up", _WEEK),
        Alarm("19:00", "Call mum", ("wednesday",)),
        Alarm("13:45", "Kiln check", ("friday",), enabled=False),
        Alarm("20:15", "Bins out", ("tuesday",)),
        Alarm("06:25", "Run", ("monday", "wednesday", "friday"), snooze=5),
        Alarm("23:05", "Lights off", _WEEK),
    ),
}


def add_phone(models: Any, users: dict[Person, Any]) -> None:
    """Store contacts, texts (both people's copies) and alarms."""
    phone = models.phone
    for host in HOSTS:
        owner = users[host].id
        add_records(phone.Contact, _contacts(host, owner))
        add_records(phone.Alarm, _alarms(host, owner))
    sent = add_records(
        phone.GlobalTextMessage,
        (
            {
                "sender_id": users[text.sender].id,
                "receiver_id": users[text.receiver].id,
                "message": text.message,
                "created_at": datetime(2023, 5, 8, 8, 30) + timedelta(hours=9 * place),
            }
            for place, text in enumerate(TEXTS)
        ),
    )
    add_records(
        phone.UserTextMessage,
        (
            {"global_text_message_id": text.id, "user_id": owner, "created_at": text.created_at}
            for text in sent
            for owner in (text.sender_id, text.receiver_id)
        ),
    )


def _contacts(host: Person, owner: int) -> list[dict[str, Any]]:
    return [
        {
            "user_id": owner,
            "first_name": person.first_name,
            "last_name": person.last_name,
            "email": person.email,
            "phone_number": person.phone_number,
            "relationships": list(relationships),
            "birthday": person.birthday,
            "created_at": datetime(2021, 2, 1, 9, 0) + timedelta(days=day),
        }
        for day, (person, relationships) in enumerate(CONTACTS[host])
    ]


def _alarms(host: Person, owner: int) -> list[dict[str, Any]]:
    return [
        {
            "user_id": owner,
            "time": alarm.time,
            "label": alarm.label,
            "repeat_days": list(alarm.days),
            "enabled": alarm.enabled,
            "snooze_minutes": alarm.snooze,
            "vibration": day % 2 == 0,
            "created_at": datetime(2023, 1, 2, 20, 0) + timedelta(days=day),
        }
        for day, alarm in enumerate(ALARMS[host])
    ]
