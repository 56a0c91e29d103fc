"""What tests of AppWorld's split share: opening a task under a gate, and cells that log in."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from adapters.appworld.benchmark import AppWorld
from runtime.bridge.world import SplitWorld
from runtime.contracts import AllowGate, Gate, Limits, Task

LOG_IN = """
me = apis.supervisor.show_profile()
rows = apis.supervisor.show_account_passwords()
passwords = {row["account_name"]: row["password"] for row in rows}
def log_in(app):
    name = me["phone_number"] if app == "phone" else me["email"]
    return getattr(apis, app).login(username=name, password=passwords[app])["access_token"]
venmo, notes, todo = log_in("venmo"), log_in("simple_note"), log_in("todoist")
songs, mail, files = log_in("spotify"), log_in("gmail"), log_in("file_system")
friend = next(
    user["email"]
    for user in apis.venmo.search_users(query="", access_token=venmo)
    if user["email"] != me["email"]
)
"""
"""Leaves a token for each app in a name of its own, and the address of somebody else."""

NOTE = 'apis.simple_note.create_note(title="t", content="c", access_token=notes)'
"""One write, after `LOG_IN`."""


def any_task(appworld: AppWorld) -> Task:
    """Return a task of the mini world; these tests do not care which."""
    return appworld.tasks("mini_test")[0]


@asynccontextmanager
async def opened(
    appworld: AppWorld, gate: Gate | None = None, *, read_only: bool = False, **limits: float
) -> AsyncIterator[SplitWorld]:
    """Open a task and close it whatever happens."""
    world = await appworld.open(
        any_task(appworld),
        gate or AllowGate(),
        Limits.model_validate(limits),
        read_only=read_only,
    )
    try:
        yield world
    finally:
        await world.close()


async def text_of(world: SplitWorld, source: str) -> str:
    """Run a cell and return what it printed."""
    return (await world.execute(source)).text.rstrip()


async def hashes(world: SplitWorld) -> dict[str, str]:
    """Return a digest per database of the world."""
    found = (await world.ask({"op": "hash"}))["hash"]
    assert len(found) > 5
    return dict(found)


async def executed(world: SplitWorld) -> list[tuple[str, int | None]]:
    """Return the writes that reached the engine, with their status, from the world's own log."""
    reply = await world.ask({"op": "executed"})
    return [(function, status) for function, status in reply["executed"]]


async def works(world: SplitWorld) -> bool:
    """Whether the next cell runs as if nothing had happened."""
    async with asyncio.timeout(60):
        observation = await world.execute('print(apis.supervisor.show_profile()["email"])')
    return observation.end.status == "finished" and "@" in observation.text
