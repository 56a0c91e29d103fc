"""The calendar: a full week ahead, two dentist visits, gym hours on both pages of next week."""

from __future__ import annotations

from typing import NamedTuple

from adapters.gaia2.mini.source.basics import State, ident, stamp


class Entry(NamedTuple):
    """One calendar event of whole hours."""

    title: str
    days: int
    """After the first day, a Tuesday."""
    hour: int
    hours: int = 1
    tag: str | None = None
    attendees: tuple[str, ...] = ()
    location: str | None = None

    @property
    def event_id(self) -> str:
        """Its id."""
        return ident("event", f"{self.title}:{self.days}:{self.hour}")


LOAN_MEETING = Entry("Loan meeting", 0, 15, 1, "Work", ("Omar Benali",), "Harbour Bank")
BOOKS_CALL = Entry("Bookkeeping call", 0, 11, 1, "Work", ("Hana Sato",))
DENTIST_FRIDAY = Entry("Dentist", 3, 10, 1, "Health", ("Nina Ortega",), "Praca do Mercado")
DENTIST_MONDAY = Entry("Dentist", 13, 16, 1, "Health", ("Nina Ortega",), "Praca do Mercado")
REVIEW_GUESTS = ("Alex Moreau", "Priya Nair", "Samuel Okafor", "Leila Haddad", "Yann Kerbrat")
REVIEW = Entry("Harbour design review", 2, 14, 2, "Work", REVIEW_GUESTS, "Studio")
GYM: tuple[Entry, ...] = (
    Entry("Rowing", 6, 7, 1, "Gym"),
    Entry("Stretching", 8, 7, 1, "Gym"),
    Entry("Rowing", 10, 7, 1, "Gym"),
    Entry("Climbing hall", 11, 17, 2, "Gym"),
)
GYM_OTHER_WEEKS = (Entry("Rowing", 1, 7, 1, "Gym"), Entry("Rowing", 15, 7, 1, "Gym"))

DIARY: tuple[Entry, ...] = (
    BOOKS_CALL,
    LOAN_MEETING,
    GYM_OTHER_WEEKS[0],
    Entry("Canteen menu", 1, 16, 1, "Work", ("Rui Prata",)),
    REVIEW,
    DENTIST_FRIDAY,
    Entry("Book club", 4, 19, 2, "Social", ("Vera Lacerda", "Gil Abrantes")),
    GYM[0],
    Entry("Site visit", 6, 9, 3, "Work", ("Samuel Okafor",), "East quay"),
    Entry("Model workshop", 6, 14, 2, "Work", ("Priya Nair",)),
    Entry("Fuse box check", 7, 9, 1, "Home", ("Paulo Xavier",)),
    Entry("Yearbook call", 7, 11, 1, "Work", ("Marta Quental",)),
    GYM[1],
    Entry("Climbing club dinner", 8, 20, 2, "Social", ("Oskar Wren",)),
    Entry("Timber advice", 9, 10, 1, "Work", ("Carla Fontes",)),
    Entry("Poster proofs", 9, 15, 1, "Work", ("Gil Abrantes",)),
    Entry("Studio lunch", 10, 13, 1, "Work"),
    GYM[2],
    GYM[3],
    Entry("Ferry visit", 12, 11, 3, "Social", ("Yann Kerbrat",)),
    DENTIST_MONDAY,
    GYM_OTHER_WEEKS[1],
    Entry("Restoration talk", 16, 18, 2, "Work", ("Teresa Mota",)),
)


def calendar() -> State:
    """Return the state of the Calendar app."""
    return {
        "events": {
            entry.event_id: {
                "event_id": entry.event_id,
                "title": entry.title,
                "start_datetime": stamp(entry.days, entry.hour),
                "end_datetime": stamp(entry.days, entry.hour + entry.hours),
                "tag": entry.tag,
                "description": None,
                "location": entry.location,
                "attendees": list(entry.attendees),
            }
            for entry in DIARY
        }
    }
