"""The kinds that imports use are those that ARE and our table give."""

from adapters.gaia2.benchmark import Gaia2
from adapters.gaia2.known_tools import READING, SAME_TOOLS, kind_in_a_file
from runtime.contracts import Kind


async def test_what_is_known_of_tools_is_what_the_world_describes(mini: Gaia2) -> None:
    catalogue = await mini.catalogue()
    reading: dict[str, set[str]] = {}
    for name, function in catalogue.functions.items():
        for arguments in ({}, {"mode": "rb"}, {"mode": "w"}):
            kind = mini.kind(name, arguments)
            for operation in ("", "WRITE"):
                assert kind_in_a_file(name, arguments, operation) == kind, (name, arguments)
        if function.kind is Kind.READ:
            app = SAME_TOOLS.get(function.app, function.app)
            reading.setdefault(app, set()).add(function.short)
    assert {app: set(names.split()) for app, names in READING.items()} == reading
