"""The words in which a world tells an agent what happened. Standard library only."""

from __future__ import annotations

import re
from datetime import UTC, datetime

__all__ = [
    "CLOCK_MESSAGES",
    "OVER",
    "TURN_OVER",
    "clock_message",
    "moment",
    "notification",
    "weekday_and_moment",
]

CLOCK_MESSAGES = 10
"""Most clock messages in one episode of the Time ability."""
TURN_OVER = (
    "Your turn ended with send_message_to_user: nothing more of this cell was executed."
    " What happens next is told after the cell."
)
OVER = "The scenario has ended: nothing is executed any more."
USER_MESSAGE = re.compile(
    r"Received at: .*?\nMessage: (.*)\nAlready read: \w+(?:\nRead at: [^\n]*)?", re.DOTALL
)
"""How ARE words a message of the user: with sender and times around it, which are told anyway."""


def moment(seconds: float) -> str:
    """Return a simulated time, seconds since the epoch, as text."""
    return datetime.fromtimestamp(seconds, tz=UTC).strftime("%Y-%m-%d %H:%M:%S")


def weekday_and_moment(seconds: float) -> str:
    """Return a simulated time with the name of its day before it."""
    return f"{datetime.fromtimestamp(seconds, tz=UTC):%A}, {moment(seconds)}"


def notification(seconds: float, kind: str, text: str) -> str:
    """Return the text of one notification. `kind` is ARE's message type."""
    if kind != "USER_MESSAGE":
        return f"[notification, {moment(seconds)}] {text}"
    found = USER_MESSAGE.fullmatch(text)
    return f"[user, {moment(seconds)}] {found.group(1) if found else text}"


def clock_message(seconds: float) -> str:
    """Return the message that gives a turn while something is still due. Knows no task."""
    return (
        f"[clock, {moment(seconds)}] Something in this world is still due. Finish what is left to"
        " do, or let time pass with apps.SystemApp.wait_for_notification(timeout=seconds)."
    )
