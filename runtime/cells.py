"""Between text and code: the cell in a reply, the observation in a message."""

from __future__ import annotations

import re

from runtime.contracts import Observation, Reply, Value

__all__ = ["Turn", "observation_message", "read_reply", "truncate"]

OPENING = re.compile(r"^[ \t]*```[ \t]*([\w+-]*)[^\n`]*\n", re.MULTILINE)
CLOSING = re.compile(r"^[ \t]*```|```[ \t]*$", re.MULTILINE)
CODE = frozenset({"", "py", "python", "python3"})

EMPTY = "Your reply was empty. Reply with a short thought and one fenced Python cell."
NO_CELL = "There is no Python cell in your reply. Put your code in one ```python fence."
CUT_OFF = (
    "Your reply was cut off before its cell ended, so nothing was run."
    " Send a shorter cell, if need be in several steps."
)


class Turn(Value):
    """What the harness makes of one reply."""

    said: str
    """The reply as it enters the conversation: up to the end of its first cell."""
    source: str | None = None
    """The cell to run, or None."""
    complaint: str = ""
    """What the model is told where there is no cell."""


def read_reply(reply: Reply) -> Turn:
    """Find the first fence that is Python (`python`, `py`) or names no language.

    What follows the cell is dropped: models go on to imagine its output. An unterminated fence is
    accepted, unless the provider says that the reply was cut off at its length limit: half a cell
    may write the half that matters.
    """
    text = reply.text.strip()
    if not text:
        return Turn(said="(empty reply)", complaint=EMPTY)
    for opening in OPENING.finditer(text):
        if opening.group(1).lower() not in CODE:
            continue
        closing = CLOSING.search(text, opening.end())
        if closing is not None:
            source = text[opening.end() : closing.start()]
            return Turn(said=text[: closing.start()].rstrip() + "\n```", source=source.strip("\n"))
        if reply.finish_reason == "length":
            return Turn(said=text, complaint=CUT_OFF)
        source = text[opening.end() :]
        return Turn(said=f"{text.rstrip()}\n```", source=source.strip("\n"))
    return Turn(said=text, complaint=CUT_OFF if reply.finish_reason == "length" else NO_CELL)


def truncate(text: str, most: int) -> str:
    """Keep head and tail of a text that is longer than `most` characters, and say what is gone."""
    if len(text) <= most:
        return text
    head, tail = (most + 1) // 2, most // 2
    gone = len(text) - most
    marker = f"\n... {gone} characters left out here: print less at once ...\n"
    return f"{text[:head]}{marker}{text[len(text) - tail :]}"


def observation_message(observation: Observation, most: int, injected: str = "") -> str:
    """Word an observation for the model: output, the gate's notes, memory, notifications."""
    text = truncate(observation.text, most).rstrip()
    fence = "```"
    while fence in text:
        fence += "`"
    parts = [f"Output:\n{fence}\n{text}\n{fence}"]
    if observation.notes:
        parts.append(observation.notes)
    if injected:
        parts.append(injected)
    if observation.notifications:
        listed = "\n".join(observation.notifications)
        parts.append(f"Notifications:\n{listed}")
    return "\n\n".join(parts)
