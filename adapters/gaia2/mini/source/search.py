"""Search: the whole candidate set, every filter, and the answer in the form that was asked for."""

from __future__ import annotations

from decimal import Decimal

from adapters.gaia2.mini.source import diary, mail
from adapters.gaia2.mini.source.people import PEOPLE, person
from adapters.gaia2.mini.source.places import FLATS
from adapters.gaia2.mini.source.scenario import Mini, Mistake, Step, act, ask, exactly, tell

_THANKS: Step = act(
    "x_mail",
    "Emails.send_email",
    {
        "recipients": [person("Hana Sato").email],
        "subject": "Question",
        "content": "Mira wants to know something.",
    },
    ("u_task",),
)

_TOTAL = sum((Decimal(item.amount) for item in mail.INVOICES), Decimal(0))
_FIRST_PAGE = Decimal(mail.INVOICES[0].amount) + Decimal(mail.INVOICES[1].amount)
INVOICE_TOTAL = Mini(
    id="mini_search_invoice_total",
    ability="Search",
    dataset="mini_train",
    steps=(
        ask(
            "u_task",
            "What do all the Fennel Energy invoices in my inbox add up to? Count every "
            "invoice once. Reply with the sum only, in the form 123.45.",
        ),
        tell("o_answer", str(_TOTAL), ("u_task",), exactly("content")),
    ),
    mistake=Mistake(
        "Counts a reminder as one more invoice.",
        args={"o_answer": {"content": str(_TOTAL + Decimal(mail.INVOICES[1].amount))}},
    ),
    extra=_THANKS,
)

_ARCHITECTS = sum(entry.job == "Architect" and entry.city == "Lisbon" for entry in PEOPLE)
LISBON_ARCHITECTS = Mini(
    id="mini_search_lisbon_architects",
    ability="Search",
    dataset="mini_test",
    steps=(
        ask(
            "u_task",
            "How many of my contacts are architects and live in Lisbon? Reply with the "
            "number only.",
        ),
        tell("o_answer", str(_ARCHITECTS), ("u_task",), exactly("content")),
    ),
    mistake=Mistake("Reads the first page of contacts only.", args={"o_answer": {"content": "2"}}),
    extra=_THANKS,
)

_FIT = [flat for flat in FLATS if flat.saved and flat.bedrooms == 2 and flat.pets == "Dogs allowed"]
_CHEAPEST = min(_FIT, key=lambda flat: flat.price)
SAVED_FLAT = Mini(
    id="mini_search_saved_flat",
    ability="Search",
    dataset="mini_train",
    steps=(
        ask(
            "u_task",
            "Among the flats that I have saved, which is the cheapest with two bedrooms "
            "where dogs are allowed? Reply with its name only.",
        ),
        tell("o_answer", _CHEAPEST.name, ("u_task",), exactly("content")),
    ),
    mistake=Mistake(
        "Searches all flats, not just the saved ones.",
        args={"o_answer": {"content": "Quarry Gate"}},
    ),
    extra=act(
        "x_save",
        "RentAFlat.remove_saved_apartment",
        {"apartment_id": FLATS[1].apartment_id},
        ("u_task",),
    ),
)

_AWAY = sorted(name.split()[-1] for name in diary.REVIEW_GUESTS if person(name).city != "Porto")
REVIEW_GUESTS = Mini(
    id="mini_search_review_guests",
    ability="Search",
    dataset="mini_test",
    steps=(
        ask(
            "u_task",
            "Which people invited to the Harbour design review do not live in Porto? "
            "Reply with their last names only, in alphabetical order, separated by a comma and a "
            "blank.",
        ),
        tell("o_answer", ", ".join(_AWAY), ("u_task",), exactly("content")),
    ),
    mistake=Mistake(
        "Looks up first names and takes the first match, so the wrong Alex.",
        args={"o_answer": {"content": "Kerbrat, Okafor"}},
    ),
    extra=_THANKS,
)

MINIS = (INVOICE_TOTAL, LISBON_ARCHITECTS, SAVED_FLAT, REVIEW_GUESTS)
