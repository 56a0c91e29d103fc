"""Messages (people by id) and Chats (people by phone number), both with more than one page."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from adapters.gaia2.mini.source.basics import USER_NAME, USER_PHONE, State, ident, stamp
from adapters.gaia2.mini.source.people import PEOPLE, Person, person

USER_ID = ident("user", USER_NAME)


class Talk(NamedTuple):
    """One conversation: its title, the other people in it and who said what, oldest first."""

    title: str
    people: tuple[str, ...]
    days_ago: int
    said: tuple[tuple[str, str], ...]

    @property
    def conversation_id(self) -> str:
        """Its id."""
        return ident("conversation", self.title)


def _pair(name: str, days_ago: int, text: str) -> Talk:
    return Talk(name, (name,), days_ago, ((name, text),))


HANA = _pair("Hana Sato", 4, "The quarter is closed, we can talk about it on Tuesday.")
BOOK_CLUB = Talk(
    "Book club",
    ("Vera Lacerda", "Gil Abrantes", "Leila Haddad"),
    2,
    (("Vera Lacerda", "Who brings the cake?"), ("Gil Abrantes", "I will.")),
)
CREW = Talk(
    "Ferry crew",
    ("Yann Kerbrat", "Samuel Okafor", "Rui Prata"),
    1,
    (("Yann Kerbrat", "The deck planks are here."), ("Rui Prata", "I bring the soup.")),
)

MESSAGES: tuple[Talk, ...] = (
    HANA,
    _pair("Rui Prata", 3, "Table for how many?"),
    _pair("Priya Nair", 5, "The cutter is free on Monday."),
    _pair("Ines Carvalho", 6, "The photos of the library are online."),
    _pair("Ines Duarte", 7, "The dahlias are in."),
    _pair("Oskar Wren", 9, "New poster draft tonight."),
    Talk(
        "Studio",
        ("Priya Nair", "Alex Berg", "Hana Sato"),
        2,
        (("Alex Berg", "Plotter is fixed."), ("Hana Sato", "Receipts by Friday, please.")),
    ),
    _pair("Duarte Neves", 12, "Thank you for the reference."),
)
CHATS: tuple[Talk, ...] = (
    BOOK_CLUB,
    CREW,
    _pair("Leila Haddad", 3, "Shall we have lunch one of these days?"),
    _pair("Nina Falk", 2, "Moving day survived."),
    _pair("Tomas Reis", 20, "The boiler ran fine last winter."),
    _pair("Paulo Xavier", 22, "All sockets are live again."),
    _pair("Yann Kerbrat", 30, "Come and see the ferry."),
)


def _state(talks: tuple[Talk, ...], key: Callable[[Person], str], own: str, mode: str) -> State:
    keys = {entry.name: key(entry) for entry in PEOPLE} | {USER_NAME: own}
    conversations = {}
    for talk in talks:
        last = stamp(-talk.days_ago, 18)
        messages = [
            {
                "sender_id": keys[name],
                "message_id": ident("message", f"{talk.title}:{place}"),
                "timestamp": last - 300 * (len(talk.said) - 1 - place),
                "content": text,
            }
            for place, (name, text) in enumerate(talk.said)
        ]
        conversations[talk.conversation_id] = {
            "participant_ids": [own, *(keys[name] for name in talk.people)],
            "messages": messages,
            "title": talk.title,
            "conversation_id": talk.conversation_id,
            "last_updated": last,
        }
    return {
        "conversations": conversations,
        "messages_view_limit": 10,
        "conversation_view_limit": 5,
        "mode": mode,
        "name_to_id": keys,
        "id_to_name": {value: name for name, value in keys.items()},
        "current_user_id": own,
        "current_user_name": USER_NAME,
    }


def messages() -> State:
    """Return the state of the Messages app."""
    return _state(MESSAGES, lambda entry: entry.user_id, USER_ID, "NAME")


def chats() -> State:
    """Return the state of the Chats app."""
    return _state(CHATS, lambda entry: entry.phone, USER_PHONE, "PHONE_NUMBER")


def chat_number(name: str) -> str:
    """Return a person's id in the Chats app."""
    return person(name).phone
