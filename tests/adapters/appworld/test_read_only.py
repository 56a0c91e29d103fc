"""A world open for reading only: tried with every function of the table, on the world's side."""

from typing import Any

from appworld_cells import LOG_IN, NOTE, executed, hashes, opened, text_of

from adapters.appworld.benchmark import AppWorld
from runtime.bridge.world import Route, SplitWorld
from runtime.contracts import Json, Kind

REFUSED = "This world is open for reading only: nothing was changed."


async def ask(world: SplitWorld, wiring: Any, row: Any) -> tuple[Kind, dict[str, Json]]:
    """Send a call of one function straight to the world process, past gate and cell."""
    arguments = dict.fromkeys(row.names, "1")
    frame = {"op": "call", "method": row.method, "url": "/" + row.canonical(arguments)}
    route = wiring.route(frame | {"params": {}, "json": {}, "data": {}})
    assert isinstance(route, Route), row.path
    assert route.function == row.function.name
    return route.kind, await world.ask({"op": "call", **route.frame})


async def test_every_function_is_refused_or_read(appworld: AppWorld) -> None:
    await appworld.catalogue()
    wiring: Any = await appworld._wiring()
    async with opened(appworld, read_only=True) as world:
        before = await hashes(world)
        wrong, seen = [], 0
        for row in wiring._endpoints:
            kind, reply = await ask(world, wiring, row)
            refused = reply.get("status") == 403 and REFUSED in str(reply.get("body"))
            seen += 1
            if refused is not (kind is not Kind.READ):
                wrong.append(row.function.name)
        assert (seen, wrong) == (457, [])
        assert await executed(world) == []
        assert await hashes(world) == before


async def test_agent_code_is_told_so(appworld: AppWorld) -> None:
    async with opened(appworld, read_only=True) as world:
        assert await text_of(world, LOG_IN) == "Execution successful."
        assert REFUSED in await text_of(world, NOTE)
        assert REFUSED in await text_of(world, "apis.supervisor.complete_task()")
        assert not (await world.execute("print(1)")).done


async def test_the_world_decides_by_the_function_it_is_told_not_by_the_path(
    appworld: AppWorld,
) -> None:
    """A parent that forwards a write under a read's name is a bug; the method still betrays it."""
    async with opened(appworld, read_only=True) as world:
        frame = {
            "op": "call",
            "function": "simple_note.nothing_known",
            "method": "POST",
            "path": "/simple_note/notes",
            "place": "json",
            "arguments": {},
            "auth": None,
            "url": "/simple_note/notes",
            "logged": {},
        }
        assert (await world.ask(frame))["status"] == 403
