"""Adaptability: plan again on what happens, keep the earlier duties, let noise pass."""

from __future__ import annotations

from adapters.gaia2.mini.source import diary
from adapters.gaia2.mini.source.basics import when
from adapters.gaia2.mini.source.people import person
from adapters.gaia2.mini.source.places import BANK, LAMP, OLD_ORDER, STUDIO
from adapters.gaia2.mini.source.scenario import (
    Mini,
    Mistake,
    Step,
    act,
    ask,
    exactly,
    happen,
    has,
    tell,
)

_LEILA = person("Leila Haddad")
_RUI = person("Rui Prata")
_LUNCH_TASK = (
    "Put 'Lunch' into my calendar for tomorrow, 6 November, 12:00 to 13:00, with Leila Haddad as "
    "attendee, and email her 'Lunch tomorrow at 12:00?' with the subject 'Lunch'. Then tell me. "
    "When she answers: if she wants another time, replace the event by one hour at the time she "
    "names and send Rui Prata the new start in the Messages app; if the time suits her, change "
    "nothing. Tell me what she said in either case."
)


def _lunch(hour: int, minute: int) -> dict[str, object]:
    return {
        "title": "Lunch",
        "start_datetime": when(1, hour, minute),
        "end_datetime": when(1, hour + 1, minute),
        "attendees": [_LEILA.name],
    }


def _lunch_opening(answer: str) -> tuple[Step, ...]:
    return (
        ask("u_task", _LUNCH_TASK),
        act(
            "o_event",
            "Calendar.add_calendar_event",
            _lunch(12, 0),
            ("u_task",),
            has("title", "lunch"),
        ),
        act(
            "o_mail",
            "Emails.send_email",
            {
                "recipients": [_LEILA.email],
                "subject": "Lunch",
                "content": "Lunch tomorrow at 12:00?",
            },
            ("o_event",),
            has("content", "12:00"),
        ),
        tell("o_booked", "Lunch is booked and Leila is asked.", ("o_mail",)),
        happen(
            "e_answer",
            "Emails.reply_to_email_from_user",
            {"sender": _LEILA.email, "email_id": "{{o_mail}}", "content": answer},
            ("o_booked",),
            40.0,
        ),
    )


_MOVED = (
    act("o_delete", "Calendar.delete_calendar_event", {"event_id": "{{o_event}}"}, ("e_answer",)),
    act(
        "o_again",
        "Calendar.add_calendar_event",
        _lunch(13, 30),
        ("e_answer",),
        has("title", "lunch"),
    ),
    act(
        "o_rui",
        "Messages.send_message",
        {"user_id": _RUI.user_id, "content": "Lunch now starts at 13:30."},
        ("e_answer",),
        has("content", "13:30"),
    ),
)
LUNCH_MOVED = Mini(
    id="mini_adaptability_lunch_moved",
    ability="Adaptability",
    dataset="mini_train",
    steps=(
        *_lunch_opening("12:00 is too early for me, can we make it 13:30?"),
        *_MOVED,
        tell(
            "o_report",
            "Leila asked for 13:30, lunch is moved.",
            ("o_delete", "o_again", "o_rui"),
            has("content", "13:30"),
        ),
    ),
    mistake=Mistake("Moves the lunch and forgets Rui.", drop=("o_rui",)),
    extra=act(
        "x_mail",
        "Emails.send_email",
        {"recipients": [_LEILA.email], "subject": "Lunch", "content": "13:30 it is."},
        ("o_again",),
    ),
)
LUNCH_KEPT = Mini(
    id="mini_adaptability_lunch_kept",
    ability="Adaptability",
    dataset="mini_test",
    steps=(
        *_lunch_opening("12:00 suits me well, see you there."),
        tell(
            "o_report", "Leila says that 12:00 suits her.", ("e_answer",), has("content", "12:00")
        ),
    ),
    mistake=Mistake("Takes any answer for a wish to move.", add=_MOVED),
    extra=act(
        "x_rui",
        "Messages.send_message",
        {"user_id": _RUI.user_id, "content": "Lunch stays at 12:00."},
        ("e_answer",),
    ),
)

_OMAR = person("Omar Benali")
_RIDE = {
    "start_location": STUDIO,
    "end_location": BANK,
    "service_type": "Default",
    "ride_time": when(0, 14, 40),
}
_CAB_NOISE = happen(
    "e_noise",
    "Emails.send_email_to_user_only",
    {
        "sender": _OMAR.email,
        "subject": "Parking",
        "content": "You can park in the yard, if you come by car.",
    },
    ("o_ordered",),
    30.0,
)
MEETING_OFF = Mini(
    id="mini_adaptability_meeting_off",
    ability="Adaptability",
    dataset="mini_train",
    steps=(
        ask(
            "u_task",
            f"Order a Default cab for today 14:40 from '{STUDIO}' to '{BANK}', for my "
            "loan meeting with Omar Benali. Tell me when it is ordered. Should the meeting "
            "disappear from my calendar, cancel the cab and tell me; any other news does not "
            "matter.",
        ),
        act(
            "o_ride",
            "Cabs.order_ride",
            _RIDE,
            ("u_task",),
            exactly("start_location"),
            exactly("end_location"),
        ),
        tell("o_ordered", "The cab is ordered for 14:40.", ("o_ride",)),
        _CAB_NOISE,
        happen(
            "e_off",
            "Calendar.delete_calendar_event_by_attendee",
            {"event_id": diary.LOAN_MEETING.event_id, "who_delete": _OMAR.name},
            ("e_noise",),
            60.0,
        ),
        act("o_cancel", "Cabs.user_cancel_ride", {}, ("e_off",)),
        tell("o_report", "Omar has called the meeting off, so I cancelled the cab.", ("o_cancel",)),
    ),
    mistake=Mistake(
        "Cancels at the first news, which was about parking.",
        drop=("o_cancel", "o_report"),
        add=(
            act("m_cancel", "Cabs.user_cancel_ride", {}, ("e_noise",)),
            tell("m_report", "I cancelled the cab.", ("m_cancel",)),
        ),
    ),
    extra=act(
        "x_mail",
        "Emails.send_email",
        {"recipients": [_OMAR.email], "subject": "Meeting", "content": "What a pity."},
        ("o_cancel",),
    ),
)

_BRASS, _GRAPHITE, _WHITE = LAMP
LAMP_CANCELLED = Mini(
    id="mini_adaptability_lamp_cancelled",
    ability="Adaptability",
    dataset="mini_test",
    steps=(
        ask(
            "u_task",
            "Order two Arc Desk Lamps in brass and tell me. Should the shop cancel this "
            "order, order two in graphite instead and tell me; any other news does not matter.",
        ),
        act(
            "o_cart",
            "Shopping.add_to_cart",
            {"item_id": _BRASS.item_id, "quantity": 2},
            ("u_task",),
        ),
        act("o_order", "Shopping.checkout", {}, ("o_cart",)),
        tell("o_ordered", "Two brass lamps are ordered.", ("o_order",)),
        happen(
            "e_noise",
            "Shopping.update_order_status",
            {"order_id": OLD_ORDER, "status": "shipped"},
            ("o_ordered",),
            30.0,
        ),
        happen("e_off", "Shopping.cancel_order", {"order_id": "{{o_order}}"}, ("e_noise",), 60.0),
        act(
            "o_cart_again",
            "Shopping.add_to_cart",
            {"item_id": _GRAPHITE.item_id, "quantity": 2},
            ("e_off",),
        ),
        act("o_order_again", "Shopping.checkout", {}, ("o_cart_again",)),
        tell(
            "o_report",
            "The shop cancelled, so two graphite lamps are ordered.",
            ("o_order_again",),
            has("content", "graphite"),
        ),
    ),
    mistake=Mistake(
        "Takes the news of another order for the cancellation.",
        drop=("o_cart_again", "o_order_again", "o_report"),
        add=(
            act(
                "m_cart",
                "Shopping.add_to_cart",
                {"item_id": _GRAPHITE.item_id, "quantity": 2},
                ("e_noise",),
            ),
            act("m_order", "Shopping.checkout", {}, ("m_cart",)),
            tell("m_report", "Two graphite lamps are ordered.", ("m_order",)),
        ),
    ),
    extra=act(
        "x_old",
        "Shopping.add_to_cart",
        {"item_id": _WHITE.item_id, "quantity": 1},
        ("o_order_again",),
    ),
)

MINIS = (LUNCH_MOVED, LUNCH_KEPT, MEETING_OFF, LAMP_CANCELLED)
