"""The people of the mini world and who they are to its two hosts.

First names repeat on purpose (two Noras, two Theos), and the namesake that comes first in every
listing is the wrong one for the tasks that name only a first name.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Person:
    """Someone with an account in every app."""

    first_name: str
    last_name: str
    phone_number: str
    birthday: str
    sex: str

    @property
    def name(self) -> str:
        """First and last name."""
        return f"{self.first_name} {self.last_name}"

    @property
    def email(self) -> str:
        """The address under which every app knows the person."""
        return f"{self.first_name}.{self.last_name}@mail.example.com".lower()

    def password(self, app: str) -> str:
        """Return the person's password for one app."""
        return f"{self.last_name.lower()}-{app}-{self.phone_number[-4:]}"


MARA = Person("Mara", "Ellison", "4155550101", "1991-06-14", "female")
JULIAN = Person("Julian", "Frost", "4155550102", "1987-02-27", "male")
NORA_WHITLOCK = Person("Nora", "Whitlock", "4155550103", "1979-10-03", "female")
NORA_VALE = Person("Nora", "Vale", "4155550104", "1993-12-19", "female")
THEO_LINDQVIST = Person("Theo", "Lindqvist", "4155550105", "1984-04-08", "male")
THEO_BRANDT = Person("Theo", "Brandt", "4155550106", "1990-08-30", "male")
INES = Person("Ines", "Carrow", "4155550107", "1992-01-11", "female")
CALEB = Person("Caleb", "Stroud", "4155550108", "1985-09-22", "male")
PRIYA = Person("Priya", "Nandakumar", "4155550109", "1989-05-05", "female")
SAM = Person("Sam", "Okafor", "4155550110", "1994-03-16", "male")
GWEN = Person("Gwen", "Ellison", "4155550111", "1995-07-28", "female")
RUTH = Person("Ruth", "Ellison", "4155550112", "1962-11-02", "female")
HUGO = Person("Hugo", "Frost", "4155550113", "1983-12-07", "male")
HELEN = Person("Helen", "Frost", "4155550114", "1959-08-21", "female")

PEOPLE = (
    MARA,
    JULIAN,
    NORA_WHITLOCK,
    NORA_VALE,
    THEO_LINDQVIST,
    THEO_BRANDT,
    INES,
    CALEB,
    PRIYA,
    SAM,
    GWEN,
    RUTH,
    HUGO,
    HELEN,
)
HOSTS = (MARA, JULIAN)
"""Those who hand out tasks: their accounts hold the data."""

CONTACTS: dict[Person, tuple[tuple[Person, tuple[str, ...]], ...]] = {
    MARA: (
        (NORA_WHITLOCK, ("coworker",)),
        (SAM, ("coworker",)),
        (THEO_LINDQVIST, ("friend",)),
        (RUTH, ("mother", "parent")),
        (CALEB, ("coworker",)),
        (GWEN, ("sister", "sibling")),
        (NORA_VALE, ("roommate",)),
        (THEO_BRANDT, ("roommate", "friend")),
        (INES, ("roommate",)),
        (PRIYA, ("neighbor", "friend")),
        (JULIAN, ("friend",)),
    ),
    JULIAN: (
        (THEO_LINDQVIST, ("coworker",)),
        (NORA_WHITLOCK, ("neighbor",)),
        (HELEN, ("mother", "parent")),
        (INES, ("friend",)),
        (NORA_VALE, ("coworker", "friend")),
        (CALEB, ("coworker",)),
        (HUGO, ("brother", "sibling")),
        (THEO_BRANDT, ("roommate",)),
        (PRIYA, ("roommate",)),
        (SAM, ("roommate",)),
        (MARA, ("friend",)),
    ),
}
"""Each host's phone contacts in the order in which they were added, with relationships."""
