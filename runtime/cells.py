"""Between text and code: the cell in a reply, the observation in a message."""

from __future__ import annotations

import re

from runtime.contracts import Observation, Reply, Value

__all__ = ["Turn", "observation_message", "read_reply", "truncate"]

FENCE = re.compile(
    r"^(?P<indent>[ \t]*)(?P<marks>`{3,}|~{3,})[ \t]*(?P<language>[\w+-]*)[^\n`]*$", re.MULTILINE
)
CODE = frozenset({"", "py", "python", "python3"})

EMPTY_REPLY = "(empty reply)"
"""Stands for an empty reply in the conversation: some endpoints refuse an empty message."""
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
    """Find the first fence with code in it that is Python (`python`, `py`) or names no language.

    What follows the cell is dropped: models go on to imagine its output. An unterminated fence is
    accepted, unless the provider says that the reply was cut off at its length limit: half a cell
    may write the half that matters. Reading what was `said` again gives the same turn.
    """
    sound = reply.text.encode("utf-8", "backslashreplace").decode()  # spells lone surrogates out
    text = sound.replace("\r\n", "\n").rstrip().lstrip("\n")
    if text in {"", EMPTY_REPLY}:
        return Turn(said=EMPTY_REPLY, complaint=EMPTY)
    cut_off = reply.finish_reason == "length"
    opening = FENCE.search(text)
    while opening is not None:
        closing = _closing(opening).search(text, opening.end())
        if opening["language"].lower() in CODE:
            if closing is None and cut_off:
                break
            end = len(text) if closing is None else closing.start()
            if source := _source(text[opening.end() : end], opening["indent"]):
                said = f"{text[:end].rstrip()}\n{opening['indent']}{opening['marks']}"
                return Turn(said=said, source=source)
        opening = FENCE.search(text, closing.end()) if closing is not None else None
    return Turn(said=text, complaint=CUT_OFF if cut_off else NO_CELL)


def _closing(opening: re.Match[str]) -> re.Pattern[str]:
    """Return what ends a fence: its own marks, alone at the begin or the end of a line."""
    marks = re.escape(opening["marks"])
    more = f"{re.escape(opening['marks'][0])}*"  # the whole run: its first marks end the cell
    return re.compile(rf"^[ \t]*{marks}|{marks}{more}[ \t]*$", re.MULTILINE)


def _source(body: str, indent: str) -> str:
    """Return a fence's body without the indentation that the fence itself has, as in a list."""
    lines = (line.removeprefix(indent) for line in body.split("\n"))
    return "\n".join(lines).strip("\n").rstrip()


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
