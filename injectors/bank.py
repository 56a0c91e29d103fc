"""A bank in memory: one global set of Function Cards, Skill Cards by ability, and its settings.

Immutable: an edit (`injectors.edits`) makes a new bank. `injectors.bank_files` reads and writes it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Annotated, Self

from pydantic import Field, StringConstraints, model_validator

from injectors.cards import (
    FunctionCard,
    SkillCard,
    canonical_json,
    function_card_id,
    limits_for,
    over_limits,
)
from runtime.contracts import Json, Value
from runtime.errors import UnknownName, UsageError

__all__ = ["FUNCTIONS", "GLOBAL", "Bank", "BankSettings", "Card", "Placed", "RetrievalConstants"]

GLOBAL = "global"
"""The skill set that every ability shares; AppWorld's only one."""
FUNCTIONS = "functions"
"""Where Function Cards lie; no ability may have this name."""

Card = FunctionCard | SkillCard


class RetrievalConstants(Value):
    """The constants of `injectors.retrieve`. The method paper gives none: these are ours."""

    k1: float = Field(default=1.5, ge=0, allow_inf_nan=False)
    b: float = Field(default=0.75, ge=0, le=1)
    app_bonus: float = Field(default=2.0, ge=0, allow_inf_nan=False)
    """λ: for a shared app; with app families, for each shared family."""
    family_bonus_cap: float = Field(default=3.0, ge=0)
    """Most that shared families add up to."""
    family_mismatch: float = Field(default=1.0, ge=0)
    """Subtracted where card and task both name families and share none."""
    signature_hint: float = Field(default=0.5, ge=0)
    """For a card that is tagged with the task's runtime signature."""


class BankSettings(Value):
    """What the bank says about its cards, apart from the cards."""

    inactive: tuple[str, ...] = ()
    """Card ids that are kept but never delivered, in order of id."""
    universal_for_time: tuple[str, ...] = ()
    """Skill Cards that may take up to two of the three slots under Time."""
    finalisation_card: str | None = None
    """The Skill Card that may come once more close to the end, under Time."""
    app_families: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    """Apps by family. With families, retrieval compares these instead of apps."""
    retrieval: RetrievalConstants = RetrievalConstants()


class Placed(Value):
    """A card and the set it belongs to."""

    place: Annotated[str, StringConstraints(pattern=r"^[A-Za-z][A-Za-z0-9_\-]{0,40}$")]
    """`functions`, or the ability of a Skill Card."""
    card: FunctionCard | SkillCard
    provenance: dict[str, Json] = Field(default_factory=dict)
    """Where the card comes from. Lies beside it on disk; no agent ever sees it."""

    @property
    def generators(self) -> frozenset[str]:
        """Scenarios the card was built from, so that it can be kept from their tasks."""
        ids = self.provenance.get("generator_ids", [])
        return frozenset(str(item) for item in ids) if isinstance(ids, list) else frozenset()

    @model_validator(mode="after")
    def _right_place(self) -> Self:
        if isinstance(self.card, FunctionCard) is not (self.place == FUNCTIONS):
            raise ValueError(f"a card of this kind does not belong in {self.place!r}")
        return self


class Bank(Value):
    """All cards of a benchmark, by id. Raises `UsageError` from `checked`, never from reading."""

    benchmark: str
    about: str = ""
    """One line on where the cards come from."""
    frozen: bool = False
    cards: dict[str, Placed] = Field(default_factory=dict)
    settings: BankSettings = BankSettings()

    @classmethod
    def of(
        cls,
        benchmark: str,
        functions: Iterable[FunctionCard] = (),
        skills: Mapping[str, Iterable[SkillCard]] | None = None,
        settings: BankSettings | None = None,
        *,
        about: str = "",
    ) -> Bank:
        """Build a bank from cards. Raises `UsageError` for a card twice or over its limits."""
        placed = [Placed(place=FUNCTIONS, card=card) for card in functions]
        for ability, cards in (skills or {}).items():
            placed += [Placed(place=ability, card=card) for card in cards]
        ids = [item.card.card_id for item in placed]
        twice = sorted({card_id for card_id in ids if ids.count(card_id) > 1})
        if twice:
            raise UsageError(f"Cards given twice: {', '.join(twice)}. Give each card once.")
        return cls(
            benchmark=benchmark,
            about=about,
            cards=dict(zip(ids, placed, strict=True)),
            settings=settings or BankSettings(),
        ).checked()

    def checked(self) -> Bank:
        """Return the bank if its cards keep their limits and its settings name cards it has."""
        limits = limits_for(self.benchmark)
        for card_id, placed in sorted(self.cards.items()):
            problems = over_limits(placed.card, limits)
            if problems:
                raise UsageError(f"{card_id}: {'; '.join(problems)}.")
        for card_id in self.settings.inactive:
            self.card(card_id)
        final = self.settings.finalisation_card
        for card_id in (*self.settings.universal_for_time, *((final,) if final else ())):
            if not isinstance(self.card(card_id), SkillCard):
                raise UsageError(f"{card_id} is no Skill Card: only skills serve Time.")
        return self

    def sealed(self) -> Bank:
        """Return the same bank as a frozen one."""
        return Bank(
            benchmark=self.benchmark,
            about=self.about,
            frozen=True,
            cards=self.cards,
            settings=self.settings,
        )

    @cached_property
    def hash(self) -> str:
        """SHA-256 over all that can decide what an agent sees, the same on every machine."""
        return _digest(
            {
                "benchmark": self.benchmark,
                "cards": {card_id: _visible(placed) for card_id, placed in self.cards.items()},
                "settings": self.settings.model_dump(mode="json"),
            }
        )

    def digests(self) -> dict[str, str]:
        """Return a short digest of each card."""
        return {key: _digest(_visible(placed))[:12] for key, placed in sorted(self.cards.items())}

    def card(self, card_id: str) -> Card:
        """Return a card, active or not. Raises `UnknownName`."""
        return self.placed(card_id).card

    def placed(self, card_id: str) -> Placed:
        """Return a card with its place. Raises `UnknownName`."""
        found = self.cards.get(card_id)
        if found is None:
            raise UnknownName("card", card_id, self.cards)
        return found

    def active(self, card_id: str) -> bool:
        """Say whether a card may be delivered."""
        return card_id in self.cards and card_id not in self.settings.inactive

    def function(self, tool: str) -> FunctionCard | None:
        """Return the active card of a function (`app.function`), if there is one."""
        card_id = function_card_id(tool)
        placed = self.cards.get(card_id) if self.active(card_id) else None
        return placed.card if placed and isinstance(placed.card, FunctionCard) else None

    @cached_property
    def functions(self) -> tuple[FunctionCard, ...]:
        """Active Function Cards, in order of id."""
        placed = (self.cards[card_id] for card_id in sorted(self.cards) if self.active(card_id))
        return tuple(item.card for item in placed if isinstance(item.card, FunctionCard))

    @property
    def abilities(self) -> tuple[str, ...]:
        """Names of the skill sets, in order."""
        return tuple(sorted({item.place for item in self.cards.values()} - {FUNCTIONS}))

    def skills(self, ability: str | None = None) -> tuple[SkillCard, ...]:
        """Return the active Skill Cards for an ability, in order of id.

        A label selects its own set and the `global` one; without a label every set counts.
        """
        wanted = None if ability is None else {ability, GLOBAL}
        return tuple(
            placed.card
            for card_id, placed in sorted(self.cards.items())
            if isinstance(placed.card, SkillCard)
            and self.active(card_id)
            and (wanted is None or placed.place in wanted)
        )

    def counts(self) -> dict[str, int]:
        """Return the number of cards by place, inactive ones included."""
        places = [placed.place for placed in self.cards.values()]
        return {place: places.count(place) for place in sorted({*places, FUNCTIONS})}


def _visible(placed: Placed) -> Json:
    return placed.model_dump(mode="json", exclude={"provenance"})


def _digest(content: Json) -> str:
    return hashlib.sha256(canonical_json(content).encode()).hexdigest()
