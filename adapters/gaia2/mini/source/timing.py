"""Time: duties outlive waits, an early wake-up is not the deadline, silence is an answer too."""

from __future__ import annotations

from adapters.gaia2.mini.source import diary
from adapters.gaia2.mini.source.people import person
from adapters.gaia2.mini.source.scenario import Mini, Mistake, Step, act, ask, happen, has, tell
from adapters.gaia2.mini.source.talk import BOOK_CLUB, HANA

_YANN = person("Yann Kerbrat")
_GIL = person("Gil Abrantes")


def _mail(name: str, sender: str, subject: str, text: str, delay: float) -> Step:
    """Let a mail come in, some time after the task was given."""
    args = {"sender": sender, "subject": subject, "content": text}
    return happen(name, "Emails.send_email_to_user_only", args, ("u_task",), delay)


_SAIL = {
    "recipients": [_YANN.email],
    "subject": "Ferry",
    "content": "I am coming down now.",
}
FERRY = Mini(
    id="mini_time_ferry",
    ability="Time",
    dataset="mini_train",
    steps=(
        ask(
            "u_task",
            "Yann Kerbrat is going to email me in the next few minutes. Three minutes "
            "after his mail has arrived, not before, email him 'I am coming down now.' with the "
            "subject 'Ferry'. Tell me when that is done.",
        ),
        _mail("e_noise", _GIL.email, "Leaflet", "The leaflet is printed.", 50.0),
        _mail("e_mail", _YANN.email, "Ferry", "The crane is here, you can watch.", 120.0),
        act(
            "o_mail",
            "Emails.send_email",
            _SAIL,
            ("e_mail",),
            has("content", "coming down now"),
            delay=180.0,
        ),
        tell("o_report", "Yann has your mail.", ("o_mail", "e_noise")),
    ),
    mistake=Mistake("Answers as soon as the mail is there.", delay={"o_mail": 5.0}),
    extra=act(
        "x_mail",
        "Emails.send_email",
        {"recipients": [_GIL.email], "subject": "Leaflet", "content": "Thank you."},
        ("o_mail",),
    ),
)


def _post(name: str, text: str, after: str, mark: str, delay: float = 1.0) -> Step:
    args = {"conversation_id": BOOK_CLUB.conversation_id, "content": text}
    function = "Chats.send_message_to_group_conversation"
    return act(name, function, args, (after,), has("content", mark), delay=delay)


SEVEN_MINUTES = Mini(
    id="mini_time_seven_minutes",
    ability="Time",
    dataset="mini_test",
    steps=(
        ask(
            "u_task",
            "Post 'The vote closes in seven minutes.' in the Book club chat now. Seven "
            "minutes after that post, also post 'The vote is closed.' there. Tell me when both "
            "are done.",
        ),
        _post("o_open", "The vote closes in seven minutes.", "u_task", "seven minutes"),
        _mail("e_noise", person("Vera Lacerda").email, "Vote", "I vote for the sea novel.", 200.0),
        _post("o_close", "The vote is closed.", "o_open", "vote is closed", delay=420.0),
        tell("o_report", "Both posts are up.", ("o_close", "e_noise")),
    ),
    mistake=Mistake(
        "Takes the mail that ends the wait for the end of the seven minutes.",
        delay={"o_close": 201.0},
    ),
    extra=_post("x_thanks", "Thank you, Vera.", "o_close", "vera"),
)

_HANA = person("Hana Sato")
_CALL_TASK = (
    "Send Hana Sato 'Is 11:00 still good for you?' in the Messages app. If she has not answered "
    "within five minutes of that, delete today's bookkeeping call from my calendar and tell me. "
    "If she answers in time, leave the call as it is and tell me what she said."
)
_QUESTION = act(
    "o_message",
    "Messages.send_message",
    {"user_id": _HANA.user_id, "content": "Is 11:00 still good for you?"},
    ("u_task",),
    has("content", "11:00"),
)
_DELETE = act(
    "o_delete",
    "Calendar.delete_calendar_event",
    {"event_id": diary.BOOKS_CALL.event_id},
    ("o_message",),
    delay=300.0,
)
CALL_ANSWERED = Mini(
    id="mini_time_call_answered",
    ability="Time",
    dataset="mini_train",
    steps=(
        ask("u_task", _CALL_TASK),
        _QUESTION,
        _mail("e_noise", person("Priya Nair").email, "Cutter", "The cutter is yours.", 60.0),
        happen(
            "e_answer",
            "Messages.create_and_add_message",
            {
                "conversation_id": HANA.conversation_id,
                "sender_id": _HANA.user_id,
                "content": "Yes, 11:00 is fine, I have the figures ready.",
            },
            ("u_task",),
            210.0,
        ),
        tell(
            "o_report",
            "Hana says that 11:00 is fine, the call stays.",
            ("o_message", "e_answer", "e_noise"),
            has("content", "Hana", "fine"),
        ),
    ),
    mistake=Mistake(
        "Deletes the call when the first wait ends.",
        add=(
            act(
                "m_delete",
                "Calendar.delete_calendar_event",
                {"event_id": diary.BOOKS_CALL.event_id},
                ("e_noise",),
            ),
        ),
    ),
    extra=act(
        "x_thanks",
        "Messages.send_message",
        {"user_id": _HANA.user_id, "content": "Thank you."},
        ("e_answer",),
    ),
)
CALL_SILENT = Mini(
    id="mini_time_call_silent",
    ability="Time",
    dataset="mini_test",
    steps=(
        ask("u_task", _CALL_TASK),
        _QUESTION,
        _mail("e_noise", person("Priya Nair").email, "Cutter", "The cutter is yours.", 60.0),
        _DELETE,
        tell("o_report", "Hana has not answered, the call is deleted.", ("o_delete", "e_noise")),
    ),
    mistake=Mistake("Gives up on Hana as soon as another mail comes in.", delay={"o_delete": 62.0}),
    extra=act(
        "x_sorry",
        "Messages.send_message",
        {"user_id": _HANA.user_id, "content": "I have cancelled the call."},
        ("o_delete",),
    ),
)

MINIS = (FERRY, SEVEN_MINUTES, CALL_ANSWERED, CALL_SILENT)
