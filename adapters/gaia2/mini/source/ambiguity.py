"""Ambiguity: finish what is clear, then ask, naming what tells the candidates apart."""

from __future__ import annotations

from adapters.gaia2.mini.source import diary
from adapters.gaia2.mini.source.basics import when
from adapters.gaia2.mini.source.people import person
from adapters.gaia2.mini.source.places import BOTTLE, FLATS
from adapters.gaia2.mini.source.scenario import Mini, Mistake, act, ask, has, tell

_BERG = person("Alex Berg")
_MOREAU = person("Alex Moreau")
_HALL = {"title": "Quay walk", "start_datetime": when(9, 14), "end_datetime": when(9, 15)}
WHICH_ALEX = Mini(
    id="mini_ambiguity_which_alex",
    ability="Ambiguity",
    dataset="mini_train",
    steps=(
        ask(
            "u_task",
            "Put 'Quay walk' into my calendar for Thursday 14 November, 14:00 to 15:00, "
            "without attendees. Also email Alex 'The quay walk is on the 14th at 14:00.' with the "
            "subject 'Quay walk'. If anything is unclear, do what is clear and then ask me.",
        ),
        act(
            "o_event", "Calendar.add_calendar_event", _HALL, ("u_task",), has("title", "quay walk")
        ),
        tell(
            "o_ask",
            "The walk is booked. Which Alex should get the mail, Alex Berg or Alex Moreau?",
            ("o_event",),
            has("content", "Berg", "Moreau", "?"),
        ),
        ask("u_answer", "Alex Moreau, please.", ("o_ask",), 5.0),
        act(
            "o_mail",
            "Emails.send_email",
            {
                "recipients": [_MOREAU.email],
                "subject": "Quay walk",
                "content": "The quay walk is on the 14th at 14:00.",
            },
            ("u_answer",),
            has("content", "14th", "14:00"),
        ),
        tell("o_report", "Alex Moreau has the mail.", ("o_mail",)),
    ),
    mistake=Mistake(
        "Mails the first Alex instead of asking.",
        args={"o_ask": {"content": "Booked, and Alex has the mail."}},
        drop=("o_mail", "o_report"),
        add=(
            act(
                "m_mail",
                "Emails.send_email",
                {
                    "recipients": [_BERG.email],
                    "subject": "Quay walk",
                    "content": "The quay walk is on the 14th at 14:00.",
                },
                ("o_event",),
            ),
        ),
    ),
    extra=act(
        "x_mail",
        "Emails.send_email",
        {"recipients": [_BERG.email], "subject": "Quay walk", "content": "For information."},
        ("o_mail",),
    ),
)

_DUARTE = person("Ines Duarte")
_CARVALHO = person("Ines Carvalho")
_OLIVE = next(flat for flat in FLATS if flat.name == "Olive Steps")
WHICH_INES = Mini(
    id="mini_ambiguity_which_ines",
    ability="Ambiguity",
    dataset="mini_test",
    steps=(
        ask(
            "u_task",
            "Take the flat Olive Steps off my saved flats. Also send Ines 'Can you come "
            "by on Friday?' in the Messages app. If anything is unclear, do what is clear and then "
            "ask me.",
        ),
        act(
            "o_flat",
            "RentAFlat.remove_saved_apartment",
            {"apartment_id": _OLIVE.apartment_id},
            ("u_task",),
        ),
        tell(
            "o_ask",
            "Olive Steps is off the list. Which Ines do you mean, Ines Carvalho or Ines Duarte?",
            ("o_flat",),
            has("content", "Carvalho", "Duarte", "?"),
        ),
        ask("u_answer", "The florist.", ("o_ask",), 5.0),
        act(
            "o_message",
            "Messages.send_message",
            {"user_id": _DUARTE.user_id, "content": "Can you come by on Friday?"},
            ("u_answer",),
            has("content", "come by on friday"),
        ),
        tell("o_report", "Ines Duarte has your message.", ("o_message",)),
    ),
    mistake=Mistake(
        "Writes to the first Ines instead of asking.",
        args={"o_ask": {"content": "Done, and Ines has your message."}},
        drop=("o_message", "o_report"),
        add=(
            act(
                "m_message",
                "Messages.send_message",
                {"user_id": _CARVALHO.user_id, "content": "Can you come by on Friday?"},
                ("o_flat",),
            ),
        ),
    ),
    extra=act(
        "x_message",
        "Messages.send_message",
        {"user_id": _CARVALHO.user_id, "content": "Sorry, wrong person."},
        ("o_message",),
    ),
)

_MILL = next(flat for flat in FLATS if flat.name == "Mill Lofts")
_BLACK, _WHITE, _RED = BOTTLE
BOTTLE_COLOR = Mini(
    id="mini_ambiguity_bottle_color",
    ability="Ambiguity",
    dataset="mini_train",
    steps=(
        ask(
            "u_task",
            "Save the flat Mill Lofts for me, and order one Glacier Blue Water Bottle. "
            "If anything is unclear, do what is clear and then ask me.",
        ),
        act(
            "o_flat", "RentAFlat.save_apartment", {"apartment_id": _MILL.apartment_id}, ("u_task",)
        ),
        tell(
            "o_ask",
            "Mill Lofts is saved. The bottle comes in black, white and red: which one?",
            ("o_flat",),
            has("content", "black", "white", "red", "?"),
        ),
        ask("u_answer", "The red one.", ("o_ask",), 5.0),
        act(
            "o_cart",
            "Shopping.add_to_cart",
            {"item_id": _RED.item_id, "quantity": 1},
            ("u_answer",),
        ),
        act("o_order", "Shopping.checkout", {}, ("o_cart",)),
        tell("o_report", "The red bottle is ordered.", ("o_order",)),
    ),
    mistake=Mistake(
        "Orders the first colour on the list.",
        args={"o_ask": {"content": "Mill Lofts is saved and the bottle is ordered."}},
        drop=("o_cart", "o_order", "o_report"),
        add=(
            act(
                "m_cart",
                "Shopping.add_to_cart",
                {"item_id": _BLACK.item_id, "quantity": 1},
                ("o_flat",),
            ),
            act("m_order", "Shopping.checkout", {}, ("m_cart",)),
        ),
    ),
    extra=act(
        "x_cart", "Shopping.add_to_cart", {"item_id": _WHITE.item_id, "quantity": 1}, ("o_order",)
    ),
)

_NINA = person("Nina Ortega")
WHICH_VISIT = Mini(
    id="mini_ambiguity_which_visit",
    ability="Ambiguity",
    dataset="mini_test",
    steps=(
        ask(
            "u_task",
            "Email Nina Ortega 'I have to move my visit.' with the subject 'Visit', and "
            "delete my dentist visit from the calendar. If anything is unclear, do what is clear "
            "and then ask me.",
        ),
        act(
            "o_mail",
            "Emails.send_email",
            {
                "recipients": [_NINA.email],
                "subject": "Visit",
                "content": "I have to move my visit.",
            },
            ("u_task",),
            has("content", "move my visit"),
        ),
        tell(
            "o_ask",
            "The mail is sent. There are two dentist visits, on 2024-11-08 and on "
            "2024-11-18: which one should go?",
            ("o_mail",),
            has("content", "2024-11-08", "2024-11-18", "?"),
        ),
        ask("u_answer", "The later one.", ("o_ask",), 5.0),
        act(
            "o_delete",
            "Calendar.delete_calendar_event",
            {"event_id": diary.DENTIST_MONDAY.event_id},
            ("u_answer",),
        ),
        tell("o_report", "The visit on 18 November is deleted.", ("o_delete",)),
    ),
    mistake=Mistake(
        "Deletes the next visit instead of asking.",
        args={"o_ask": {"content": "The mail is sent and the visit is deleted."}},
        drop=("o_delete", "o_report"),
        add=(
            act(
                "m_delete",
                "Calendar.delete_calendar_event",
                {"event_id": diary.DENTIST_FRIDAY.event_id},
                ("o_mail",),
            ),
        ),
    ),
    extra=act(
        "x_delete",
        "Calendar.delete_calendar_event",
        {"event_id": diary.DENTIST_FRIDAY.event_id},
        ("o_delete",),
    ),
)

MINIS = (WHICH_ALEX, WHICH_INES, BOTTLE_COLOR, WHICH_VISIT)
