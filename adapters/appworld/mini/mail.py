"""Gmail: the hosts' inboxes, where one sender's threads are spread over several pages."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from adapters.appworld.mini.people import (
    CALEB,
    GWEN,
    HELEN,
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
class Mail:
    """One e-mail that starts a thread in its receiver's inbox."""

    sender: Person
    receiver: Person
    subject: str
    body: str
    at: datetime
    read: bool
    reply: str | None
    """What the receiver answered."""


_SUBJECTS: dict[Person, tuple[tuple[Person, str], ...]] = {
    MARA: (
        (SAM, "Stand-up moved to 9:30"),
        (RUTH, "Your grandmother's recipe"),
        (SAM, "Slides for Thursday"),
        (NORA_WHITLOCK, "Budget draft"),
        (INES, "Boiler appointment"),
        (SAM, "Desk plants"),
        (NORA_VALE, "Lease renewal"),
        (GWEN, "Train times"),
        (SAM, "Vendor call notes"),
        (CALEB, "Code review backlog"),
        (THEO_BRANDT, "Board game night"),
        (SAM, "Lunch vouchers"),
        (PRIYA, "Parcel at my place"),
        (NORA_WHITLOCK, "Offsite headcount"),
        (SAM, "Printer on floor 3"),
        (THEO_LINDQVIST, "Photos from the lake"),
        (SAM, "Quarterly survey"),
        (NORA_VALE, "Internet bill"),
        (JULIAN, "Borrowed ladder"),
        (SAM, "Fire drill on Monday"),
        (NORA_WHITLOCK, "Travel receipts"),
        (INES, "Recycling rota"),
        (SAM, "Badge photo"),
        (RUTH, "Sunday lunch"),
        (CALEB, "On-call swap"),
        (SAM, "Retro actions"),
        (NORA_WHITLOCK, "Minutes of the review"),
    ),
    JULIAN: (
        (NORA_VALE, "Kiln is fixed"),
        (NORA_WHITLOCK, "Hedge trimming"),
        (HELEN, "Aunt Vera's visit"),
        (NORA_VALE, "Glaze order"),
        (THEO_LINDQVIST, "Sprint goals"),
        (PRIYA, "Gas meter reading"),
        (NORA_VALE, "Studio keys"),
        (NORA_WHITLOCK, "Street party list"),
        (CALEB, "Release checklist"),
        (NORA_VALE, "Market stall plan"),
        (HUGO, "Dad's birthday"),
        (SAM, "Fridge shelf rules"),
        (NORA_VALE, "Workshop sign-ups"),
        (THEO_BRANDT, "Spare mattress"),
        (NORA_WHITLOCK, "Lost cat"),
        (INES, "Climbing on Friday"),
        (NORA_VALE, "Photos of the new vases"),
        (CALEB, "Laptop return"),
        (HELEN, "Recipe for the tart"),
        (NORA_VALE, "Rent for the studio"),
        (MARA, "Ladder, again"),
        (NORA_WHITLOCK, "Bin collection"),
        (NORA_VALE, "Clay delivery"),
        (THEO_LINDQVIST, "Holiday calendar"),
    ),
}
_TIME_TO_ANSWER = timedelta(hours=5)
_OPENINGS = (
    "Just so that you know before I forget:",
    "Quick one from me.",
    "Have a look when you find a minute:",
    "Following up on what we said:",
)


def _inbox(host: Person) -> list[Mail]:
    start = datetime(2023, 4, 3, 7, 50)
    return [
        Mail(
            sender=sender,
            receiver=host,
            subject=subject,
            body=f"Hi {host.first_name},\n{_OPENINGS[n % 4]} {subject}.\n{sender.first_name}",
            at=start + timedelta(days=n * 3 // 2, minutes=47 * n % 600),
            read=n % 3 != 1,
            reply="Thanks, noted." if n % 5 == 3 else None,
        )
        for n, (sender, subject) in enumerate(_SUBJECTS[host])
    ]


MAILS = tuple(sorted((*_inbox(MARA), *_inbox(JULIAN)), key=lambda mail: mail.at))


def subjects_from(sender: Person, receiver: Person) -> tuple[str, ...]:
    """Return the subjects of all threads that `sender` started in the inbox of `receiver`."""
    return tuple(m.subject for m in MAILS if (m.sender, m.receiver) == (sender, receiver))


def add_mail(models: Any, users: dict[Person, Any]) -> None:
    """Store the threads on both sides."""
    gmail = models.gmail
    first = add_records(gmail.Email, (_email(users, mail) for mail in MAILS))
    answered = [(mail, email) for mail, email in zip(MAILS, first, strict=True) if mail.reply]
    replies = add_records(gmail.Email, (_reply(users, mail, email.id) for mail, email in answered))
    email_ids = {mail: [email.id] for mail, email in zip(MAILS, first, strict=True)}
    for (mail, _), reply in zip(answered, replies, strict=True):
        email_ids[mail].append(reply.id)
    threads = add_records(
        gmail.GlobalEmailThread,
        ({"email_ids": email_ids[mail], **_dates(mail)} for mail in MAILS),
    )
    add_records(
        gmail.UserEmailThread,
        (
            {
                "global_email_thread_id": thread.id,
                "user_id": users[owner].id,
                "email_ids": email_ids[mail],
                "incoming": owner is mail.receiver or mail.reply is not None,
                "outgoing": owner is mail.sender or mail.reply is not None,
                "read": owner is mail.sender or mail.read,
                **_dates(mail),
            }
            for mail, thread in zip(MAILS, threads, strict=True)
            for owner in (mail.sender, mail.receiver)
        ),
    )


def _dates(mail: Mail) -> dict[str, datetime]:
    last = mail.at + _TIME_TO_ANSWER if mail.reply else mail.at
    return {"created_at": mail.at, "updated_at": last}


def _email(users: dict[Person, Any], mail: Mail) -> dict[str, Any]:
    return {
        "sender_id": users[mail.sender].id,
        "recipient_ids": [users[mail.receiver].id],
        "subject": mail.subject,
        "body": mail.body,
        "created_at": mail.at,
    }


def _reply(users: dict[Person, Any], mail: Mail, email_id: int) -> dict[str, Any]:
    return {
        "sender_id": users[mail.receiver].id,
        "recipient_ids": [users[mail.sender].id],
        "subject": f"Re: {mail.subject}",
        "body": mail.reply,
        "response_to_email_id": email_id,
        "created_at": mail.at + _TIME_TO_ANSWER,
    }
