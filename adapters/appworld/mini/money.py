"""Venmo: balances, friends and half a year of payments between the hosts and the others."""

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
    PEOPLE,
    PRIYA,
    RUTH,
    SAM,
    THEO_BRANDT,
    THEO_LINDQVIST,
    Person,
)
from adapters.appworld.mini.records import add_records


@dataclass(frozen=True)
class Payment:
    """Money that went from one person to another."""

    sender: Person
    receiver: Person
    amount: float
    note: str
    at: datetime


_OTHERS = {
    MARA: (
        NORA_WHITLOCK,
        INES,
        THEO_BRANDT,
        GWEN,
        SAM,
        NORA_VALE,
        RUTH,
        THEO_LINDQVIST,
        CALEB,
        PRIYA,
    ),
    JULIAN: (
        THEO_LINDQVIST,
        HUGO,
        PRIYA,
        NORA_VALE,
        SAM,
        HELEN,
        CALEB,
        THEO_BRANDT,
        INES,
        NORA_WHITLOCK,
    ),
}
_NOTES = (
    "groceries",
    "concert tickets",
    "pizza night",
    "gas",
    "birthday gift",
    "coffee run",
    "museum entry",
    "brunch",
    "bike parts",
    "movie night",
    "taxi",
)
_FIRST = {MARA: datetime(2023, 1, 9, 18, 5), JULIAN: datetime(2023, 1, 6, 20, 40)}


_REQUESTS = (
    (NORA_WHITLOCK, MARA, 21.6, "team lunch"),
    (GWEN, MARA, 48.25, "mum's flowers"),
    (SAM, MARA, 13.1, "parking"),
    (HUGO, JULIAN, 72.4, "dad's present"),
    (THEO_LINDQVIST, JULIAN, 16.9, "sandwiches"),
    (PRIYA, JULIAN, 33.35, "light bulbs"),
)


def _payments_of(host: Person) -> list[Payment]:
    """Return payments every other day or so, two of three sent, plus last year's echo of March."""
    found = []
    for n in range(44):
        other = _OTHERS[host][n * 3 % 10]
        sender, receiver = (other, host) if n % 3 == 1 else (host, other)
        at = _FIRST[host] + timedelta(days=n * 3 - n // 4, minutes=37 * n % 240)
        amount = round(6 + n * 17 % 53 + (n * 29 % 100) / 100, 2)
        found.append(Payment(sender, receiver, amount, _NOTES[n % len(_NOTES)], at))
    for n in range(6):
        other = _OTHERS[host][n]
        at = datetime(2022, 3, 4, 12, 30) + timedelta(days=4 * n)
        found.append(Payment(other, host, round(11.4 + 3.15 * n, 2), _NOTES[n], at))
    return found


PAYMENTS = tuple(
    sorted((payment for host in HOSTS for payment in _payments_of(host)), key=lambda p: p.at)
)


def total(*, sender: Person | None = None, receiver: Person | None = None, month: str) -> float:
    """Return the sum of the payments of one month, written YYYY-MM."""
    return round(
        sum(
            payment.amount
            for payment in PAYMENTS
            if sender in (None, payment.sender)
            and receiver in (None, payment.receiver)
            and f"{payment.at:%Y-%m}" == month
        ),
        2,
    )


def card_number(host: Person) -> int:
    """Return the number of the host's one payment card."""
    return 4111111111110000 + int(host.phone_number[-4:])


def card(host: Person) -> dict[str, Any]:
    """Return the host's payment card as every app stores it."""
    return {
        "owner_name": host.name,
        "card_name": "Visa",
        "card_number": card_number(host),
        "expiry_year": 2026,
        "expiry_month": 5,
        "cvv_number": 321,
    }


def add_money(models: Any, users: dict[Person, Any]) -> None:
    """Store balances, cards, friendships, payments and some payment requests."""
    venmo = models.venmo
    for place, person in enumerate(PEOPLE):
        user = users[person]
        user.venmo_balance = 640 if person in HOSTS else 55 + 7 * place
        user.save()
    add_records(venmo.PaymentCard, ({"user_id": users[h].id, **card(h)} for h in HOSTS))
    add_records(venmo.Friendship, _friendships(users))
    add_records(
        venmo.Transaction,
        (
            {
                "sender_id": users[payment.sender].id,
                "receiver_id": users[payment.receiver].id,
                "amount": payment.amount,
                "description": payment.note,
                "created_at": payment.at,
                "updated_at": payment.at,
            }
            for payment in PAYMENTS
        ),
    )
    add_records(
        venmo.PaymentRequest,
        (
            {
                "sender_id": users[sender].id,
                "receiver_id": users[receiver].id,
                "amount": amount,
                "description": note,
                "created_at": datetime(2023, 5, 2 + day, 10, 0),
                "updated_at": datetime(2023, 5, 2 + day, 10, 0),
            }
            for day, (sender, receiver, amount, note) in enumerate(_REQUESTS)
        ),
    )


def _friendships(users: dict[Person, Any]) -> list[dict[str, Any]]:
    """Return both directions for each pair of a host and a contact, once a pair."""
    pairs = {
        frozenset((host, other)): (host, other) for host in HOSTS for other, _ in CONTACTS[host]
    }
    since = datetime(2021, 5, 2, 9, 0)
    return [
        {"user_id": users[one].id, "friend_id": users[other].id, "created_at": since}
        for pair in pairs.values()
        for one, other in (pair, pair[::-1])
    ]
