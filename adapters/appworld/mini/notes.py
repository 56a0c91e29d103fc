"""Simple Note and the file system: lists, shared costs, receipts."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from adapters.appworld.mini.people import HOSTS, JULIAN, MARA, PEOPLE, Person


@dataclass(frozen=True)
class Note:
    """One note."""

    title: str
    content: str
    tags: tuple[str, ...] = ()
    pinned: bool = False


NOTES: dict[Person, tuple[Note, ...]] = {
    MARA: (
        Note("Groceries", "- rice\n- lemons\n- coffee beans\n- dish soap", ("home",)),
        Note("Groceries for the cabin", "- pasta\n- matches\n- bin bags", ("trip",), pinned=True),
        Note("Sofa cushions", "Ines: 9.75\nNora: 18.40\nTheo: 22.15\nTotal: 50.30", ("home",)),
        Note("Team gift", "Nora 24.80, Sam 24.80, Caleb 24.80", ("work",)),
        Note("Books to lend", "- The Salt Path\n- Piranesi", ("books",)),
        Note("Wifi", "network: upstairs\nask Ines for the rest", ("home",), pinned=True),
        Note("Garden centre", "- twine\n- two bags of compost", ("home",)),
        Note("Offsite ideas", "- boat tour\n- pottery", ("work",)),
        Note("Gift ideas", "Gwen: headlamp\nRuth: tulip bulbs", ("family",)),
    ),
    JULIAN: (
        Note("Books to read", "- Middlemarch\n- The Peregrine\n- Stoner", ("books",)),
        Note(
            "Books to read aloud to Leo",
            "- The Owl Who Was Afraid of the Dark",
            ("family",),
            pinned=True,
        ),
        Note("Ferry weekend", "Theo: 41.20\nPriya: 38.65\nSam: 27.90\nTotal: 107.75", ("trip",)),
        Note("Glaze tests", "tile 4: too runny\ntile 7: keep", ("studio",)),
        Note("House rules", "- bins on Tuesday\n- no shoes upstairs", ("home",), pinned=True),
        Note("Running log", "Mon 6 km\nWed 8 km", ("sport",)),
        Note("Books lent out", "- Stoner: Hugo", ("books",)),
        Note("Dinner for eight", "- focaccia\n- fennel salad\n- tart", ("home",)),
    ),
}

_FILES: dict[Person, dict[str, str]] = {
    MARA: {
        "documents/lease.txt": "Lease of the flat, renewed every June.",
        "documents/insurance.txt": "Policy ends on 2023-11-30.",
        "documents/cv.txt": "Mara Ellison, data engineer.",
        "downloads/boarding_pass.txt": "Seat 14C",
        "downloads/manual_lamp.txt": "Do not use indoors when wet.",
        "bills/internet_2023_03.txt": "Internet, March: $42.00",
        "bills/internet_2023_04.txt": "Internet, April: $42.00",
        "bills/electricity_2023_03.txt": "Electricity, March: $71.35",
        "bills/electricity_2023_04.txt": "Electricity, April: $64.10",
        "photos/lake.txt": "a photo of the lake",
    },
    JULIAN: {
        "documents/studio_contract.txt": "Studio share, two months' notice.",
        "documents/passport_copy.txt": "A copy of the first page.",
        "downloads/race_number.txt": "Start number 2217",
        "downloads/tart.txt": "Line the tin, bake blind.",
        "bills/water_2023_03.txt": "Water, March: $18.60",
        "bills/water_2023_04.txt": "Water, April: $19.45",
        "bills/gas_2023_04.txt": "Gas, April: $51.20",
    },
}


def note(host: Person, title: str) -> Note:
    """Return one of the host's notes by its title."""
    return next(item for item in NOTES[host] if item.title == title)


def add_notes(models: Any, users: dict[Person, Any]) -> None:
    """Store the hosts' notes."""
    for host in HOSTS:
        for week, item in enumerate(NOTES[host]):
            at = datetime(2023, 2, 6, 19, 20) + timedelta(weeks=week)
            models.simple_note.Note.create_save(
                user_id=users[host].id,
                title=item.title,
                content=item.content,
                tags=list(item.tags),
                pinned=item.pinned,
                created_at=at,
                updated_at=at,
            )


def add_files(models: Any, users: dict[Person, Any]) -> None:
    """Give everyone a home folder, and the hosts what is in theirs."""
    storage = models.file_system
    for person in PEOPLE:
        user = users[person]
        home = user.home_directory_path
        files = _FILES.get(person, {})
        folders = sorted({path.partition("/")[0] for path in files} | {"documents", "downloads"})
        for path in ("/", home, *(f"{home}{folder}/" for folder in folders)):
            storage.Directory.create_save(user_id=user.id, path=path)
        for day, (path, content) in enumerate(files.items()):
            at = datetime(2023, 4, 11, 17, 0) + timedelta(days=day)
            storage.File.create_save(
                user_id=user.id, path=home + path, content=content, created_at=at, updated_at=at
            )
