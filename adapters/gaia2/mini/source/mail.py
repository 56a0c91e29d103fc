"""The inbox: more than two pages, senders whose mails look alike, one address that matters."""

from __future__ import annotations

from typing import NamedTuple

from adapters.gaia2.mini.source.basics import USER_EMAIL, State, ident, stamp
from adapters.gaia2.mini.source.people import person

ENERGY = "billing@fennel-energy.example"
PARCELO = "hello@parcelo.example"
NEW_ADDRESS = "14 Rua das Gaivotas, Aveiro"


class Mail(NamedTuple):
    """One received email."""

    days_ago: int
    sender: str
    subject: str
    content: str

    @property
    def email_id(self) -> str:
        """Its id."""
        return ident("email", f"{self.days_ago}:{self.subject}")


class Invoice(NamedTuple):
    """One invoice of the energy company."""

    days_ago: int
    number: str
    amount: str


INVOICES: tuple[Invoice, ...] = (
    Invoice(3, "FE-2210", "84.20"),
    Invoice(34, "FE-2144", "79.95"),
    Invoice(64, "FE-2078", "61.40"),
    Invoice(95, "FE-2011", "58.75"),
    Invoice(126, "FE-1946", "60.10"),
)

NEWSLETTERS: tuple[Mail, ...] = tuple(
    Mail(days, PARCELO, f"Parcelo newsletter: {topic}", f"This month: {topic.lower()}.")
    for days, topic in (
        (2, "Winter rates"),
        (31, "Lockers near you"),
        (59, "Greener vans"),
        (88, "Summer hours"),
        (119, "Returns made easy"),
    )
)

SISTER_MOVED = Mail(
    1,
    person("Nina Falk").email,
    "We have moved",
    f"Hi Mira, the boxes are in. Our new address is {NEW_ADDRESS}. Same phone. Hugs, Nina",
)

_OTHERS: tuple[Mail, ...] = (
    SISTER_MOVED,
    Mail(
        1,
        person("Nina Ortega").email,
        "Practice closed on Friday",
        "Dear patient, the practice at 2 Praca do Mercado, Porto is closed on Friday. Nina Ortega",
    ),
    Mail(
        4,
        PARCELO,
        "Your parcel is on its way",
        "Parcel 77120 will be at your door on Wednesday between 9 and 12.",
    ),
    Mail(5, person("Priya Nair").email, "Model workshop", "The foam boards have arrived."),
    Mail(6, person("Omar Benali").email, "Loan papers", "The papers are ready to be signed."),
    Mail(
        8,
        ENERGY,
        "Reminder: invoice FE-2144",
        "Our records show invoice FE-2144 over 79.95 EUR as unpaid. Ignore this if you have paid.",
    ),
    Mail(9, person("Samuel Okafor").email, "Quay survey", "The east quay is done, west follows."),
    Mail(12, person("Marta Quental").email, "Yearbook", "Could you send your text by December?"),
    Mail(15, person("Leila Haddad").email, "Concert", "I still have two tickets for the 22nd."),
    Mail(18, person("Carla Fontes").email, "Timber", "The beams in the north wing are sound."),
    Mail(21, person("Paulo Xavier").email, "Fuse box", "The new fuse box is fitted and labelled."),
    Mail(26, person("Yann Kerbrat").email, "Ferry", "The hull is dry, we start on the deck."),
    Mail(40, ENERGY, "How to save energy this winter", "Five tips for a warm home."),
    Mail(47, person("Joana Pires").email, "Workshop notes", "My notes from the waterfront day."),
    Mail(52, person("Gil Abrantes").email, "Proofs", "The proofs of the leaflet are ready."),
    Mail(70, person("Vera Lacerda").email, "Reading list", "Three novels for the autumn."),
    Mail(101, person("Teresa Mota").email, "Restoration day", "Thank you for coming."),
)


def _invoice(item: Invoice) -> Mail:
    text = f"Your invoice {item.number} is ready. Amount due: {item.amount} EUR."
    return Mail(item.days_ago, ENERGY, f"Invoice {item.number}", text)


INBOX: tuple[Mail, ...] = (*map(_invoice, INVOICES), *NEWSLETTERS, *_OTHERS)


def emails() -> State:
    """Return the state of the Emails app, newest first."""
    newest_first = sorted(enumerate(INBOX), key=lambda entry: (entry[1].days_ago, entry[0]))
    received: list[State] = [
        {
            "sender": mail.sender,
            "recipients": [USER_EMAIL],
            "subject": mail.subject,
            "content": mail.content,
            "email_id": mail.email_id,
            "parent_id": None,
            "cc": [],
            "attachments": {},
            "timestamp": stamp(-mail.days_ago, 20) - 60 * place,
            "is_read": mail.days_ago > 10,
        }
        for place, (_, mail) in enumerate(newest_first)
    ]
    folders: State = {
        name: {"folder_name": name, "emails": []} for name in ("SENT", "DRAFT", "TRASH")
    }
    inbox = {"folder_name": "INBOX", "emails": received}
    return {"user_email": USER_EMAIL, "view_limit": 5, "folders": {"INBOX": inbox, **folders}}
