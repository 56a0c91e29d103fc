"""Who was seen under which name and address, to tell when a name alone does not settle whom."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from injectors.gate.values import address_key, scalar_key
from runtime.contracts import Json

__all__ = ["People", "Person"]

_ADDRESS_FIELD = re.compile(r"(^|_)(email|email_address|phone|phone_number)$")
_PERSON_ID = re.compile(r"(^|_)(contact|user|person|friend|member)_id$")
_MOST = 5_000


@dataclass(eq=False)
class Person:
    """One person as one or more records showed them."""

    name: str
    addresses: set[str] = field(default_factory=set)

    @property
    def kinds(self) -> set[str]:
        """Whether emails or phone numbers are known, or both."""
        return {
            "email" if "@" in address else "phone"
            for address in self.addresses
            if "@" in address or address.isdecimal()
        }


class People:
    """Persons by address and by each word of their name."""

    def __init__(self) -> None:
        self._by_address: dict[str, Person] = {}
        self._by_word: dict[str, list[Person]] = {}
        self._count = 0

    def note(self, record: Mapping[str, Json]) -> None:
        """Learn from a record, if it holds a name and an address."""
        name = _name(record)
        addresses = _addresses(record) if name else set()
        if not addresses or self._count >= _MOST:
            return
        known = (self._by_address.get(address) for address in addresses)
        person = next((item for item in known if item and item.name == name), None)
        if person is None:
            person = Person(name)
            self._count += 1
            for word in set(name.split()):
                self._by_word.setdefault(word, []).append(person)
        person.addresses |= addresses
        for address in addresses:
            self._by_address.setdefault(address, person)

    def namesakes(self, address: str, text: str) -> list[str]:
        """Return the names that `text` may mean as well as this address's person.

        Nobody, where the text names the person in full and only one such person was seen, names the
        address itself, or does not name the person at all.
        """
        person = self._by_address.get(address)
        if person is None or address in text.casefold():
            return []
        if person.name in text.casefold():
            rivals = [item for item in self._sharing(person) if item.name == person.name]
        else:
            words = {word for word in person.name.split() if _names(text, word)}
            rivals = [item for item in self._sharing(person) if words & set(item.name.split())]
        return sorted({item.name.title() for item in rivals if not self._same(item, person)})

    def _sharing(self, person: Person) -> list[Person]:
        return [item for word in person.name.split() for item in self._by_word.get(word, ())]

    @staticmethod
    def _same(one: Person, other: Person) -> bool:
        """An email alone and a phone number alone, under one name, are one person's."""
        if one is other or one.name != other.name:
            return one is other
        return bool(one.addresses & other.addresses) or not one.kinds & other.kinds


def _names(text: str, word: str) -> bool:
    """Say whether a text holds the word as a name: capitalised, as a word of its own."""
    return re.search(rf"\b{re.escape(word.capitalize())}\b", text) is not None


def _name(record: Mapping[str, Json]) -> str:
    first, last = record.get("first_name"), record.get("last_name")
    if isinstance(first, str) and isinstance(last, str):
        return f"{first} {last}".strip().casefold()
    name = record.get("full_name") or record.get("name")
    return name.strip().casefold() if isinstance(name, str) and len(name) < 80 else ""


def _addresses(record: Mapping[str, Json]) -> set[str]:
    addresses = {
        address_key(value)
        for name, value in record.items()
        if isinstance(value, str) and _ADDRESS_FIELD.search(name)
    } - {""}
    if addresses:
        addresses |= {
            scalar_key(value)
            for name, value in record.items()
            if isinstance(value, str) and _PERSON_ID.search(name)
        }
    return addresses
