"""The people of the small world: three pages of contacts, and first names that several share."""

from __future__ import annotations

from typing import NamedTuple

from adapters.gaia2.mini.source.basics import USER_EMAIL, USER_NAME, USER_PHONE, State, ident


class Person(NamedTuple):
    """One contact."""

    name: str
    gender: str
    age: int
    city: str
    job: str
    description: str = ""

    @property
    def email(self) -> str:
        """Their address."""
        return f"{self.name.lower().replace(' ', '.')}@mail.example"

    @property
    def phone(self) -> str:
        """Their number."""
        return f"+3519{int(ident('phone', self.name)[:8], 16) % 10**8:08d}"

    @property
    def user_id(self) -> str:
        """Their id in the Messages app."""
        return ident("user", self.name)

    @property
    def contact_id(self) -> str:
        """Their id in the Contacts app."""
        return ident("contact", self.name)


PEOPLE: tuple[Person, ...] = (
    Person("Alex Berg", "Male", 41, "Porto", "Engineer", "Colleague from the harbour project"),
    Person("Joana Pires", "Female", 36, "Lisbon", "Architect", "Met at the waterfront workshop"),
    Person("Tomas Lindqvist", "Male", 52, "Porto", "Teacher", "Neighbour on the second floor"),
    Person("Leila Haddad", "Female", 38, "Porto", "Lawyer", "Old friend from university"),
    Person("Bruno Salgado", "Male", 45, "Braga", "Architect", "Did the library extension"),
    Person("Nina Ortega", "Female", 33, "Porto", "Dentist", "Dental practice at the market square"),
    Person("Oskar Wren", "Male", 29, "Lisbon", "Designer", "Draws the exhibition posters"),
    Person("Teresa Mota", "Female", 57, "Lisbon", "Architect", "Heads the restoration office"),
    Person("Hana Sato", "Female", 44, "Porto", "Accountant", "Keeps the books of the studio"),
    Person("Rui Prata", "Male", 39, "Porto", "Chef", "Runs the canteen by the river"),
    Person(
        "Ines Carvalho", "Female", 31, "Coimbra", "Photographer", "Photographs finished buildings"
    ),
    Person("Alex Moreau", "Female", 35, "Lyon", "Engineer", "Structural engineer in Lyon"),
    Person("Samuel Okafor", "Male", 48, "Lisbon", "Surveyor", "Surveys the harbour quays"),
    Person("Vera Lacerda", "Female", 62, "Porto", "Librarian", "Book club"),
    Person("Duarte Neves", "Male", 27, "Lisbon", "Architect", "Junior at the restoration office"),
    Person("Tomas Reis", "Male", 47, "Porto", "Plumber", "Looks after the boiler"),
    Person("Priya Nair", "Female", 34, "Porto", "Engineer", "Leads the model workshop"),
    Person("Ines Duarte", "Female", 40, "Porto", "Florist", "Flower shop in the arcade"),
    Person("Gil Abrantes", "Male", 66, "Porto", "Printer", "Book club"),
    Person("Nina Falk", "Female", 30, "Aveiro", "Nurse", "My sister"),
    Person("Carla Fontes", "Female", 53, "Lisbon", "Architect", "Advises on old timber"),
    Person("Omar Benali", "Male", 50, "Porto", "Banker", "Handles the studio loan"),
    Person("Marta Quental", "Female", 42, "Lisbon", "Editor", "Edits the yearbook"),
    Person("Paulo Xavier", "Male", 37, "Porto", "Electrician", "Rewired the studio"),
    Person("Sofia Lemos", "Female", 46, "Lisbon", "Architect", "Teaches at the technical school"),
    Person("Yann Kerbrat", "Male", 55, "Nantes", "Shipwright", "Restores the old ferry"),
)

BY_NAME: dict[str, Person] = {person.name: person for person in PEOPLE}


def person(name: str) -> Person:
    """Return one contact by full name."""
    return BY_NAME[name]


def _contact(entry: Person, **changes: object) -> State:
    first, last = entry.name.split(" ", 1)
    return {
        "first_name": first,
        "last_name": last,
        "contact_id": entry.contact_id,
        "is_user": False,
        "gender": entry.gender,
        "age": entry.age,
        "nationality": "",
        "city_living": entry.city,
        "country": "France" if entry.city in {"Lyon", "Nantes"} else "Portugal",
        "status": "Employed",
        "job": entry.job,
        "description": entry.description,
        "phone": entry.phone,
        "email": entry.email,
        "address": f"{entry.age} Rua Nova, {entry.city}",
        **changes,
    }


def contacts() -> State:
    """Return the state of the Contacts app."""
    user = Person(USER_NAME, "Female", 37, "Porto", "Architect", "")
    listed = [_contact(entry) for entry in PEOPLE]
    own = _contact(user, is_user=True, phone=USER_PHONE, email=USER_EMAIL)
    return {
        "contacts": {entry["contact_id"]: entry for entry in [*listed, own]},
        "view_limit": 10,
    }
