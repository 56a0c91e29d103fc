"""Tells which reply wrote which cell. AppWorld logs both and ties neither to the other.

Either log may lack entries: a torn line, a reply without code, a cell that never ran. So both are
laid side by side as a whole, in order, by the code that they have in common.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from adapters.appworld.output_folder import LmCall
from adapters.importing.replies import ForeignReply
from adapters.importing.requests import Said
from runtime.cells import read_reply
from runtime.contracts import Reply

__all__ = ["mended", "writers"]

PYTHON = re.compile(r"```python\n(.*?)```", re.DOTALL)
"""How AppWorld's own agents find code: the first fence, or all of them joined."""
MOST_PAIRS = 1_000_000
"""Longer runs are told in order."""
SAME_CODE, OTHER_CODE, ONLY_WORDS = 10_000, 2, 1
"""How well a reply and a cell go together: equal code counts more than all else in a run.

A reply that cannot be read may hold other code.
"""


def mended(calls: Sequence[LmCall], cells: Sequence[str]) -> list[LmCall]:
    """Fill in the calls that cannot be read: the next call's conversation repeats their replies.

    What it repeats counts if it is the code of a cell, since a prompt holds examples too.
    """
    known = frozenset(map(_plain, cells))
    whole: list[LmCall] = []
    later: tuple[Said, ...] = ()
    for call in reversed(calls):
        whole.append(call if call.reply else _repeated(call, later, known))
        later = whole[-1].asked
    return whole[::-1]


def writers(calls: Sequence[LmCall], cells: Sequence[str]) -> dict[int, int]:
    """Return the place of each cell's reply by the cell's place, where there is one.

    It is the alignment of both orders with the greatest sum of weights; of equal ones the earliest.
    """
    if len(calls) * len(cells) > MOST_PAIRS:
        return {place: place for place in range(min(len(calls), len(cells)))}
    weights = _weights(calls, cells)
    best = [[0] * (len(cells) + 1) for _ in range(len(calls) + 1)]
    for call in reversed(range(len(calls))):
        for cell in reversed(range(len(cells))):
            paired = best[call + 1][cell + 1] + weights[call][cell]
            best[call][cell] = max(paired, best[call + 1][cell], best[call][cell + 1])
    pairs: dict[int, int] = {}
    call = cell = 0
    while call < len(calls) and cell < len(cells):
        if best[call][cell] == best[call + 1][cell + 1] + weights[call][cell]:
            pairs[cell] = call
            call, cell = call + 1, cell + 1
        elif best[call][cell] == best[call + 1][cell]:
            call += 1
        else:
            cell += 1
    return pairs


def _repeated(call: LmCall, later: tuple[Said, ...], known: frozenset[str]) -> LmCall:
    turns = [place for place, said in enumerate(later) if said.role == "assistant"]
    if not turns or not known & _codes(later[turns[-1]].text):
        return call
    asked, reply = later[: turns[-1]], later[turns[-1]]
    return replace(call, asked=call.asked or asked, reply=ForeignReply(reply.text))


def _weights(calls: Sequence[LmCall], cells: Sequence[str]) -> list[list[int]]:
    sources = list(map(_plain, cells))
    rows: list[list[int]] = []
    for call in calls:
        text = call.reply.text if call.reply else ""
        codes = _codes(text)
        otherwise = OTHER_CODE if "```" in text or not text else ONLY_WORDS
        rows.append([SAME_CODE if source in codes else otherwise for source in sources])
    return rows


def _codes(text: str) -> frozenset[str]:
    """Return what a harness may run of a reply: its first cell, all of its cells, or all of it."""
    fenced = PYTHON.findall(text)
    found = [*fenced[:1], "\n".join(fenced), read_reply(Reply(text=text)).source or "", text]
    return frozenset(map(_plain, found)) - {""}


def _plain(code: str) -> str:
    return "\n".join(line.rstrip() for line in code.strip().splitlines())
