"""What differs under GAIA2's Time ability: universal cards and verb families (docs/memory.md)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from injectors.retrieve import Ranked
from injectors.terms import terms

__all__ = ["cap_universal", "same_verb_family"]

UNIVERSAL_SLOTS = 2
_FAMILIES = tuple(
    frozenset(words.split())
    for words in (
        "send reply forward message mail email text write tell inform notify answer",
        "add create schedule book make plan set new save",
        "edit change update move reschedule rename shift postpone",
        "delete remove cancel drop clear",
        "order buy purchase checkout pay",
        "get search list show find read check look see view browse open",
        "wait remind wake pause watch",
    )
)


def cap_universal(
    ranked: Iterable[Ranked], universal: Sequence[str], slots: int
) -> tuple[Ranked, ...]:
    """Fill the slots in order of rank, with at most two of the universal cards."""
    chosen: list[Ranked] = []
    for item in ranked:
        taken = sum(card.card_id in universal for card in chosen)
        if item.card_id not in universal or taken < UNIVERSAL_SLOTS:
            chosen.append(item)
    return tuple(chosen[:slots])


def same_verb_family(tool: str, instruction: str) -> bool:
    """Say whether a function's verb, the first word of its name, has kin in the instruction."""
    verb, asked = terms(tool.partition(".")[2])[:1], set(terms(instruction))
    return any(asked & family for family in _FAMILIES if family.intersection(verb))
