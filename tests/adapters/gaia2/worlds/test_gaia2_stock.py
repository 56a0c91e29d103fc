"""The same actions in ARE's own threaded environment, second by real second, and in ours."""

from __future__ import annotations

import asyncio
import json
import os
import re
from pathlib import Path
from typing import Any

import pytest
from gaia2_scenarios import EVE, LATER, LUNCH, NOTE, write_scenarios
from gaia2_worlds import Opened, run

from adapters.gaia2.benchmark import Gaia2

STOCK = Path(__file__).with_name("are_stock.py")
STAMP = re.compile(r"^\[\w+, [^\]]+\] ")
AROUND = re.compile(r"Received at: [^\n]+\nSender: User\nMessage: |\nAlready read: (?s:.*)")
LOOSE_S = 6.0
"""Seconds by which event times may differ: the stock world ticks once a second, in real time."""


def step(name: str, function: str, **arguments: Any) -> dict[str, Any]:
    return {"name": name, "function": function, "arguments": arguments}


def tell(content: str) -> dict[str, Any]:
    return step("told", "AgentUserInterface.send_message_to_user", content=content)


BOOK = [
    step("lunch", "Calendar.add_calendar_event", **LUNCH),
    step("x", "Emails.send_email", **NOTE),
]
CANCEL = step("x", "Calendar.delete_calendar_event", event_id="{{lunch}}")
AGAIN = step("x", "Calendar.add_calendar_event", **LATER)
REPLY = step("x", "Emails.send_email", recipients=[EVE], subject="Re: Here", content="On my way")


def wait(seconds: int) -> dict[str, Any]:
    return step("x", "SystemApp.wait_for_notification", timeout=seconds)


TURNS = {
    "search": [[step("x", "Emails.list_emails"), tell("INV-44")]],
    "execution": [[*BOOK, tell("Done")], [CANCEL, tell("Cancelled")]],
    "time": [[wait(300)], [wait(60)], [REPLY, tell("Sent")]],
    "adaptability": [[*BOOK, tell("Booked")], [CANCEL, AGAIN, tell("Moved")]],
}
MISTAKES = {
    "execution": [[*BOOK, AGAIN, tell("Done")]],
    "time": [[wait(300)], [REPLY, tell("Sent")]],
}
TRIALS = [(key, turns) for table in (TURNS, MISTAKES) for key, turns in table.items()]


@pytest.fixture(scope="module")
async def stock(gaia2_python: Path, tmp_path_factory: pytest.TempPathFactory) -> list[Any]:
    folder = tmp_path_factory.mktemp("stock")
    root = write_scenarios(folder / "root")
    trials = [
        {
            "scenario": str(root / "small" / f"small_{key}.json"),
            "checks": str(root / "small" / "checks" / f"small_{key}.json"),
            "turns": turns,
        }
        for key, turns in TRIALS
    ]
    process = await asyncio.create_subprocess_exec(
        str(gaia2_python),
        str(STOCK),
        env={**os.environ, "PYTHONHASHSEED": "0", "DEMO_FS_PATH": str(folder)},
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    out, err = await asyncio.wait_for(process.communicate(json.dumps(trials).encode()), 600)
    assert process.returncode == 0, err.decode()[-3000:]
    played: list[Any] = json.loads(out)
    return played


def cell(turn: list[dict[str, Any]]) -> str:
    lines = []
    for item in turn:
        arguments = ", ".join(
            f"{name}={value[2:-2] if str(value).startswith('{{') else repr(value)}"
            for name, value in item["arguments"].items()
        )
        lines.append(f"{item['name']} = apps.{item['function']}({arguments})")
    return "\n".join(lines)


@pytest.mark.slow
@pytest.mark.parametrize("number", range(len(TRIALS)), ids=[key for key, _ in TRIALS])
async def test_events_verdicts_and_notifications_agree(
    number: int, stock: list[Any], opened: Opened, gaia2: Gaia2
) -> None:
    key, turns = TRIALS[number]
    theirs = stock[number]
    world = await opened(key)
    told: list[str] = []
    for turn in turns:
        told += (await run(world, cell(turn))).notifications
    outcome = await world.evaluate()
    events = sorted(await world.events(), key=lambda event: event["time"])

    assert outcome.passed is theirs["passed"]
    assert outcome.passed is (number < len(TURNS))
    assert [_without_time(text) for text in told] == [
        _without_time(text)
        for text in theirs["notifications"][1:]  # the first is in the prompt
    ]
    assert [(e["type"], e["app"], e["function"]) for e in events] == [
        (kind, app, function) for kind, app, function, _ in theirs["events"]
    ]
    start = events[0]["time"]
    for ours, (*_, seconds) in zip(events, theirs["events"], strict=True):
        assert ours["time"] - start == pytest.approx(seconds, abs=LOOSE_S)


def _without_time(text: str) -> str:
    return AROUND.sub("", STAMP.sub("", text))
