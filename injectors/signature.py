"""The runtime signature: what kind of task an instruction looks like, before anything has happened.

A hint for retrieval that never filters. Precedence, first match wins: `answer_extraction` (asks
for a value and for no change), `cross_app` (names two or more apps), `bulk_or_multi_write` (a
change to all, every or each of something), `state_write` (a change), `default`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

__all__ = ["SIGNATURES", "runtime_signature"]

SIGNATURES = ("answer_extraction", "cross_app", "bulk_or_multi_write", "state_write", "default")

_QUOTED = re.compile(r'"[^"]*"|“[^”]*”')
_ASKS = re.compile(
    r"\b(?:what|which|who|whose|when|where|how (?:many|much|long|often|old|far))\b[^.!]*(?:\?|$)"
    r"|\b(?:give|tell|show) me (?:the|how|what|which|who|when|a list|its|their)\b"
    r"|\b(?:find out|calculate|count|name)\b (?:the|how|what|which|who|when)\b",
    re.IGNORECASE,
)
_VERBS = (
    "accept|add|approve|archive|assign|buy|cancel|change|clear|comment|complete|copy|create|"
    "decline|delete|deny|disable|download|edit|empty|enable|follow|forward|invite|label|like|mark|"
    "message|move|order|pay|play|post|purchase|put|rate|rearrange|record|reject|remove|rename|"
    "repay|reply|request|reschedule|return|review|send|set|settle|share|split|star|subscribe|take|"
    "text|transfer|unfollow|unlike|unstar|update|upload|venmo"
)
_ORDERS = re.compile(
    r"(?:^|[.!?;:,] |\b(?:and|then|please|to|can you|could you|also|not|instead|just) )"
    rf"(?:{_VERBS})\b"
    r"|\b(?:mark|should|let)\b",
    re.IGNORECASE,
)
# "if all of them are done" is a condition, not the extent of a change.
_MANY = re.compile(r"(?<!\bif )\b(?:all|every|each|everyone|everything|any)\b", re.IGNORECASE)


def runtime_signature(instruction: str, apps: Sequence[str] = ()) -> str:
    """Return the signature of an instruction that names these apps."""
    text = _QUOTED.sub('""', instruction)
    orders = _ORDERS.search(text) is not None
    if _ASKS.search(text) and not orders:
        return "answer_extraction"
    if len(apps) > 1:
        return "cross_app"
    if orders and _MANY.search(text):
        return "bulk_or_multi_write"
    return "state_write" if orders else "default"
