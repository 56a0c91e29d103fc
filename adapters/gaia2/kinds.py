"""What each ARE tool does to the world: ARE's own tag, the exceptions to it, the reasons.

Standard library only: the parent builds its catalogue with it, and the world process refuses
writes of a read-only world by it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = ["ARE_APPS", "HIDDEN", "MODE_DECIDES", "kind_of", "kind_of_call"]

MODE_DECIDES = "writes unless its mode only reads"
"""The reason of file-opening tools: `kind_of_call` looks at the mode."""
NO_EVENT = "lists codes; ARE registers no event for it, and nothing changes"
EXCEPTIONS = {
    ("AgentUserInterface", "send_message_to_user"): (
        "FINISH",
        "hands the turn to the user and the judge",
    ),
    ("SystemApp", "wait_for_notification"): (
        "READ",
        "lets simulated time pass; changes no record of an app",
    ),
    ("Shopping", "get_all_discount_codes"): ("READ", NO_EVENT),
    ("ShoppingApp", "get_all_discount_codes"): ("READ", NO_EVENT),
    ("Files", "open"): ("WRITE", MODE_DECIDES),
    ("SandboxLocalFileSystem", "open"): ("WRITE", MODE_DECIDES),
    ("VirtualFileSystem", "open"): ("WRITE", MODE_DECIDES),
}
"""(class, tool) -> (kind, reason) where ARE's tag does not decide."""
READING_MODES = frozenset({"r", "rb", "rt"})
READING_VERBS = (
    "get", "list", "read", "search", "find", "show", "view", "count", "check", "calculate",
    "ls", "cat", "exists", "info", "tree", "display", "wait",
)  # fmt: skip
ARE_APPS = "are.simulation.apps"

HIDDEN = frozenset(
    {
        "get_last_message_from_user",
        "get_last_message_from_agent",
        "get_last_unread_messages",
        "get_all_messages",
    }
)
"""Tools of AgentUserInterface that ARE's own agents do not get: messages are notifications."""


def kind_of(class_name: str, function: str, operation: str | None, module: str) -> tuple[str, str]:
    """Return (READ | WRITE | FINISH, reason) for a tool.

    `operation`: ARE's tag, `read` or `write`; None for a tool that registers no event. `module`:
    where the app's class is defined.
    """
    if (class_name, function) in EXCEPTIONS:
        return EXCEPTIONS[class_name, function]
    if operation is None:
        return "WRITE", "registers no event, so nothing says that it only reads"
    if operation == "write":
        return "WRITE", "tagged WRITE by ARE"
    if not module.startswith(ARE_APPS) and not function.startswith(READING_VERBS):
        return "WRITE", "tagged READ, which is ARE's default, but not named like a read"
    return "READ", "tagged READ by ARE"


def kind_of_call(kind: str, reason: str, arguments: Mapping[str, Any]) -> str:
    """Return the kind of one call of a tool with this kind and reason."""
    if reason == MODE_DECIDES and str(arguments.get("mode", "rb")) in READING_MODES:
        return "READ"
    return kind
