"""Execution: every target, in the right order, and nothing else."""

from __future__ import annotations

from adapters.gaia2.mini.source import diary, mail
from adapters.gaia2.mini.source.basics import when
from adapters.gaia2.mini.source.people import person
from adapters.gaia2.mini.source.places import NEWEST_PLAN
from adapters.gaia2.mini.source.scenario import Mini, Mistake, act, ask, has, same, tell

_DELIVERY = next(item for item in mail.INBOX if item.subject == "Your parcel is on its way")
_CLEARED = tuple(f"o_delete_{place}" for place in range(len(mail.NEWSLETTERS)))
NEWSLETTERS = Mini(
    id="mini_execution_newsletters",
    ability="Execution",
    dataset="mini_train",
    steps=(
        ask(
            "u_task",
            "Please delete every Parcelo newsletter from my inbox, however old it is. "
            "Keep everything else, mails about parcels too. Tell me when it is done.",
        ),
        *(
            act(name, "Emails.delete_email", {"email_id": item.email_id}, ("u_task",))
            for name, item in zip(_CLEARED, mail.NEWSLETTERS, strict=True)
        ),
        tell("o_report", "All Parcelo newsletters are deleted.", _CLEARED),
    ),
    mistake=Mistake("Works on the first page of the inbox only.", drop=_CLEARED[2:]),
    extra=act("x_parcel", "Emails.delete_email", {"email_id": _DELIVERY.email_id}, ("u_task",)),
)

_CANCELLED = tuple(f"o_delete_{place}" for place in range(len(diary.GYM)))
GYM_WEEK = Mini(
    id="mini_execution_gym_week",
    ability="Execution",
    dataset="mini_test",
    steps=(
        ask(
            "u_task",
            "I have hurt my knee. Please remove everything with the tag Gym from my "
            "calendar for next week, Monday 11 to Sunday 17 November. Leave the other weeks and "
            "all else alone, and tell me when it is done.",
        ),
        *(
            act(name, "Calendar.delete_calendar_event", {"event_id": entry.event_id}, ("u_task",))
            for name, entry in zip(_CANCELLED, diary.GYM, strict=True)
        ),
        tell("o_report", "Next week's gym hours are removed.", _CANCELLED),
    ),
    mistake=Mistake("Reads the first ten events of the week only.", drop=_CANCELLED[2:]),
    extra=act(
        "x_dinner",
        "Calendar.delete_calendar_event",
        {"event_id": diary.GYM_OTHER_WEEKS[1].event_id},
        ("u_task",),
    ),
)

_PLUMBER = person("Tomas Reis")
_NEIGHBOUR = person("Tomas Lindqvist")
BOILER = Mini(
    id="mini_execution_boiler",
    ability="Execution",
    dataset="mini_train",
    steps=(
        ask(
            "u_task",
            "Put 'Boiler service' into my calendar for Thursday 7 November, 9:00 to "
            "10:00, with Tomas the plumber as attendee. After that email him with the subject "
            "'Boiler service' and the text 'See you on Thursday at 9:00.', and attach the newest "
            "boiler plan from my house documents. Tell me when both are done.",
        ),
        act(
            "o_event",
            "Calendar.add_calendar_event",
            {
                "title": "Boiler service",
                "start_datetime": when(2, 9),
                "end_datetime": when(2, 10),
                "attendees": [_PLUMBER.name],
            },
            ("u_task",),
            has("title", "boiler service"),
        ),
        act(
            "o_mail",
            "Emails.send_email",
            {
                "recipients": [_PLUMBER.email],
                "subject": "Boiler service",
                "content": "See you on Thursday at 9:00.",
                "attachment_paths": [NEWEST_PLAN],
            },
            ("o_event",),
            has("subject", "boiler service"),
            has("content", "thursday", "9:00"),
        ),
        tell("o_report", "Booked, and Tomas has the plan.", ("o_mail",)),
    ),
    mistake=Mistake(
        "Takes the first Tomas that the contacts list.",
        args={
            "o_event": {"attendees": [_NEIGHBOUR.name]},
            "o_mail": {"recipients": [_NEIGHBOUR.email]},
        },
    ),
    extra=act(
        "x_message",
        "Messages.send_message",
        {"user_id": _PLUMBER.user_id, "content": "I have sent you an email."},
        ("o_mail",),
    ),
)

_SISTER = person("Nina Falk")
_DENTIST = person("Nina Ortega")
SISTER_MOVED = Mini(
    id="mini_execution_sister_moved",
    ability="Execution",
    dataset="mini_test",
    steps=(
        ask(
            "u_task",
            "My sister Nina has moved and mailed me her new address. Update the address "
            "in her contact, exactly as she wrote it, and then reply to that mail with 'Noted, "
            "see you soon!'. Tell me when both are done.",
        ),
        act(
            "o_contact",
            "Contacts.edit_contact",
            {"contact_id": _SISTER.contact_id, "updates": {"address": mail.NEW_ADDRESS}},
            ("u_task",),
            same("updates"),
        ),
        act(
            "o_reply",
            "Emails.reply_to_email",
            {"email_id": mail.SISTER_MOVED.email_id, "content": "Noted, see you soon!"},
            ("o_contact",),
            has("content", "noted, see you soon"),
        ),
        tell("o_report", "Her address is updated and she has a reply.", ("o_reply",)),
    ),
    mistake=Mistake(
        "Edits the first Nina that the search finds.",
        args={"o_contact": {"contact_id": _DENTIST.contact_id}},
    ),
    extra=act(
        "x_chat",
        "Chats.send_message",
        {"user_id": _SISTER.phone, "content": "Noted, see you soon!"},
        ("o_reply",),
    ),
)

MINIS = (NEWSLETTERS, GYM_WEEK, BOILER, SISTER_MOVED)
