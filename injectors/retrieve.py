"""Which cards suit a task: BM25, re-ranked by shared apps and the runtime signature.

    score(card; task) = BM25(task, card) + app bonus + signature hint

The scores are BM25L's (rank-bm25): of that package's variants the one that is positive for every
shared term on a bank of any size and zero without one. A card that shares no term with the
instruction is not selected, whatever its bonus; no bonus ever removes a card. Ties go by card id.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol, TypeVar

from rank_bm25 import BM25L

from injectors.apps import families_of
from injectors.bank import Bank
from injectors.cards import FunctionCard, SkillCard
from injectors.terms import terms
from runtime.contracts import Value

__all__ = ["Bm25Retriever", "Query", "Ranked", "Retriever"]

DIGITS = 6
"""Scores are rounded, so that the last bit of a machine's arithmetic decides no rank."""

C = TypeVar("C", FunctionCard, SkillCard)


class Query(Value):
    """What retrieval may know of a task: nothing but its instruction and its label."""

    instruction: str
    apps: tuple[str, ...] = ()
    """Apps that the instruction names, lower case."""
    signature: str | None = None
    """The runtime signature, a hint."""
    ability: str | None = None
    """Selects the skill set; None searches all sets."""
    exclude_generator_ids: frozenset[str] = frozenset()
    """Scenarios whose cards are left out, so that no task is helped by itself."""


class Ranked(Value):
    """A card that was found, with the parts of its score."""

    card_id: str
    score: float
    bm25: float
    app_bonus: float = 0.0
    signature_hint: float = 0.0
    shared_terms: tuple[str, ...]


class Retriever(Protocol):
    """Finds cards for a task: the seam at which a dense retriever may stand beside BM25."""

    def skills(self, query: Query, topk: int | None = None) -> tuple[Ranked, ...]:
        """Return at most `topk` (None: all) Skill Cards, best first."""
        ...

    def functions(self, query: Query, topk: int | None = None) -> tuple[Ranked, ...]:
        """Return at most `topk` (None: all) Function Cards, best first."""
        ...


class Bm25Retriever:
    """Ranks a bank's active cards: skills within their set, functions over the global one."""

    def __init__(self, bank: Bank) -> None:
        self._bank = bank
        self._constants = bank.settings.retrieval
        self._apps = {card.app.lower() for card in bank.functions}

    def skills(self, query: Query, topk: int | None = None) -> tuple[Ranked, ...]:
        """Return at most `topk` (None: all) Skill Cards, best first."""
        cards = self._allowed(self._bank.skills(query.ability), query)
        return self._rank(cards, [_skill_terms(card) for card in cards], query)[:topk]

    def functions(self, query: Query, topk: int | None = None) -> tuple[Ranked, ...]:
        """Return at most `topk` (None: all) Function Cards, best first."""
        cards = self._allowed(self._bank.functions, query)
        return self._rank(cards, [_function_terms(card) for card in cards], query)[:topk]

    def _allowed(self, cards: Iterable[C], query: Query) -> list[C]:
        barred = query.exclude_generator_ids
        return [card for card in cards if not barred & self._bank.placed(card.card_id).generators]

    def _rank(
        self,
        cards: Sequence[FunctionCard | SkillCard],
        texts: list[tuple[str, ...]],
        query: Query,
    ) -> tuple[Ranked, ...]:
        asked = sorted(set(terms(query.instruction)))
        shared = [tuple(term for term in asked if term in text) for text in texts]
        if not any(shared):
            return ()
        index = BM25L(texts, k1=self._constants.k1, b=self._constants.b)
        scores = [float(score) for score in index.get_scores(asked)]
        found = [
            self._ranked(card, score, common, query)
            for card, score, common in zip(cards, scores, shared, strict=True)
            if common
        ]
        return tuple(sorted(found, key=lambda item: (-item.score, item.card_id)))

    def _ranked(
        self,
        card: FunctionCard | SkillCard,
        bm25: float,
        shared: tuple[str, ...],
        query: Query,
    ) -> Ranked:
        bonus = self._app_bonus(self._apps_of(card), query.apps)
        tagged = isinstance(card, SkillCard) and query.signature in card.tags
        hint = self._constants.signature_hint if tagged else 0.0
        return Ranked(
            card_id=card.card_id,
            score=round(bm25 + bonus + hint, DIGITS),
            bm25=round(bm25, DIGITS),
            app_bonus=bonus,
            signature_hint=hint,
            shared_terms=shared,
        )

    def _app_bonus(self, of_card: frozenset[str], of_task: Sequence[str]) -> float:
        """λ for a shared app; with families, λ for each shared one up to a cap, or a penalty."""
        if not of_card or not of_task:
            return 0.0
        constants, families = self._constants, self._bank.settings.app_families
        shared = families_of(of_card, families) & families_of(of_task, families)
        if not families:
            return constants.app_bonus if shared else 0.0
        if not shared:
            return -constants.family_mismatch
        return min(constants.family_bonus_cap, constants.app_bonus * len(shared))

    def _apps_of(self, card: FunctionCard | SkillCard) -> frozenset[str]:
        """Apps a card speaks of: its function's, or those a skill was seen on or is tagged with."""
        if isinstance(card, FunctionCard):
            return frozenset({card.app.lower()})
        return frozenset({app.lower() for app in card.apps} | self._apps.intersection(card.tags))


def _skill_terms(card: SkillCard) -> tuple[str, ...]:
    return terms(" ".join((card.title, card.applies_when, *card.tags, card.skill.core_rule)))


def _function_terms(card: FunctionCard) -> tuple[str, ...]:
    return terms(f"{card.app} {card.function} {card.what_it_does}")
