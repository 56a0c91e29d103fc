"""Edits of a bank: pure, reversible, one log entry each.

An `Edit` holds the cards it touches before and after. The functions here plan one; `apply` makes it
on a bank in memory, `injectors.bank_files.BankFolder.commit` on disk.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from pydantic import Field

from injectors.bank import FUNCTIONS, Bank, BankSettings, Placed
from injectors.cards import FunctionCard, SkillCard, SkillDelta, skill_card_id
from runtime.contracts import Json, Value
from runtime.errors import UsageError

__all__ = [
    "Edit",
    "activate",
    "add_function",
    "add_skill",
    "apply",
    "configure",
    "deactivate",
    "merge",
    "narrow",
    "patch",
]

EditOperation = Literal[
    "ADD_CARD",
    "PATCH_CARD",
    "MERGE_CARD",
    "NARROW_TRIGGER",
    "ACTIVATE",
    "DEACTIVATE",
    "CONFIGURE",
    "UNDO",
]


class Edit(Value):
    """One change of a bank and its way back."""

    operation: EditOperation
    reason: str = ""
    before: dict[str, Placed | None] = Field(default_factory=dict)
    """By card id: the card, or None where there was none."""
    after: dict[str, Placed | None] = Field(default_factory=dict)
    settings_before: BankSettings
    settings_after: BankSettings

    def reversed(self, reason: str = "") -> Edit:
        """Return the edit that takes this one back."""
        return Edit(
            operation="UNDO",
            reason=reason or f"takes back {self.operation}",
            before=self.after,
            after=self.before,
            settings_before=self.settings_after,
            settings_after=self.settings_before,
        )


def apply(bank: Bank, edit: Edit) -> Bank:
    """Return the edited bank. Raises `UsageError` if it is frozen or not what the edit expects."""
    if bank.frozen:
        raise UsageError(
            "The bank is frozen: what was evaluated must stay as it was. To go on from it, copy "
            'its folder and set "frozen" to false in the copy\'s manifest.json.'
        )
    moved = sorted(
        card_id for card_id, was in edit.before.items() if bank.cards.get(card_id) != was
    )
    if moved or bank.settings != edit.settings_before:
        what = ", ".join(moved) or "its settings"
        raise UsageError(f"The bank has changed since the edit was planned ({what}). Plan it anew.")
    cards = {card_id: placed for card_id, placed in bank.cards.items() if card_id not in edit.after}
    cards |= {card_id: placed for card_id, placed in edit.after.items() if placed is not None}
    return Bank(
        benchmark=bank.benchmark, about=bank.about, cards=cards, settings=edit.settings_after
    ).checked()


def add_function(
    bank: Bank, card: FunctionCard, *, provenance: dict[str, Json] | None = None, reason: str = ""
) -> Edit:
    """Plan to add a function's card. Raises `UsageError` if the function has one."""
    placed = Placed(place=FUNCTIONS, card=card, provenance=provenance or {})
    return _add(bank, placed, reason)


def add_skill(
    bank: Bank,
    ability: str,
    delta: SkillDelta,
    *,
    provenance: dict[str, Json] | None = None,
    reason: str = "",
) -> Edit:
    """Plan to add a lesson. Its id comes from its content, so the same lesson is added once."""
    clash = [name for name in bank.abilities if name != ability and _folded(name, ability)]
    if clash:
        raise UsageError(f"{ability!r} differs from {clash[0]!r} in case only. Use {clash[0]!r}.")
    card = _with_id(skill_card_id(delta), delta)
    return _add(bank, Placed(place=ability, card=card, provenance=provenance or {}), reason)


def patch(
    bank: Bank,
    card_id: str,
    content: SkillDelta | FunctionCard,
    *,
    provenance: dict[str, Json] | None = None,
    reason: str = "",
) -> Edit:
    """Plan to replace a card's content; id and place stay. Raises `UnknownName`, `UsageError`."""
    was = bank.placed(card_id)
    placed = Placed(
        place=was.place,
        card=_same_kind(was, card_id, content),
        provenance=_joined(was.provenance, provenance or {}),
    )
    return _edit(bank, "PATCH_CARD", {card_id: placed}, reason)


def narrow(
    bank: Bank, card_id: str, applies_when: str, tags: Iterable[str], *, reason: str = ""
) -> Edit:
    """Plan to narrow a skill's trigger and tags, and nothing else."""
    was = bank.placed(card_id)
    if not isinstance(was.card, SkillCard):
        raise UsageError(f"{card_id} is no Skill Card: only a skill has a trigger to narrow.")
    card = was.card.model_dump() | {"applies_when": applies_when, "tags": tuple(tags)}
    placed = Placed(place=was.place, card=SkillCard.model_validate(card), provenance=was.provenance)
    return _edit(bank, "NARROW_TRIGGER", {card_id: placed}, reason)


def merge(
    bank: Bank,
    retained: str,
    targets: Iterable[str],
    content: SkillDelta,
    *,
    provenance: dict[str, Json] | None = None,
    reason: str = "",
) -> Edit:
    """Plan to state the rule of several skills once: `retained` keeps its id, the others go.

    The retained card inherits where all of them come from. Raises `UnknownName`, `UsageError`.
    """
    ids = sorted({*targets, retained})
    if len(ids) < 2:
        raise UsageError("A merge needs at least two cards, the retained one among them.")
    sources = [bank.placed(card_id) for card_id in ids]
    places = sorted({placed.place for placed in sources})
    if len(places) > 1:
        raise UsageError(f"Only cards of one skill set can be merged, not of {', '.join(places)}.")
    origin: dict[str, Json] = {}
    for placed in sources:
        origin = _joined(origin, placed.provenance)
    origin = _joined(_joined(origin, bank.placed(retained).provenance), provenance or {})
    card = _same_kind(bank.placed(retained), retained, content)
    after: dict[str, Placed | None] = dict.fromkeys(ids)
    after[retained] = Placed(place=places[0], card=card, provenance=origin)
    gone = set(ids) - {retained}
    return _edit(bank, "MERGE_CARD", after, reason, _without(bank.settings, gone, retained))


def activate(bank: Bank, card_id: str, *, reason: str = "") -> Edit:
    """Plan to deliver a card again. Raises `UnknownName`, or `UsageError` if it is active."""
    bank.placed(card_id)
    if bank.active(card_id):
        raise UsageError(f"{card_id} is active already.")
    inactive = tuple(item for item in bank.settings.inactive if item != card_id)
    return _edit(bank, "ACTIVATE", {}, reason, _changed(bank.settings, inactive=inactive))


def deactivate(bank: Bank, card_id: str, *, reason: str = "") -> Edit:
    """Plan to keep a card but never deliver it. Raises `UnknownName`, `UsageError`."""
    bank.placed(card_id)
    if not bank.active(card_id):
        raise UsageError(f"{card_id} is inactive already.")
    inactive = tuple(sorted({*bank.settings.inactive, card_id}))
    return _edit(bank, "DEACTIVATE", {}, reason, _changed(bank.settings, inactive=inactive))


def configure(bank: Bank, settings: BankSettings, *, reason: str = "") -> Edit:
    """Plan to change what the bank says about its cards."""
    return _edit(bank, "CONFIGURE", {}, reason, settings)


def _add(bank: Bank, placed: Placed, reason: str) -> Edit:
    card_id = placed.card.card_id
    if card_id in bank.cards:
        raise UsageError(f"The bank has a card {card_id} already. Patch it instead of adding it.")
    return _edit(bank, "ADD_CARD", {card_id: placed}, reason)


def _edit(
    bank: Bank,
    operation: EditOperation,
    after: dict[str, Placed | None],
    reason: str,
    settings: BankSettings | None = None,
) -> Edit:
    return Edit(
        operation=operation,
        reason=reason,
        before={card_id: bank.cards.get(card_id) for card_id in after},
        after=after,
        settings_before=bank.settings,
        settings_after=settings or bank.settings,
    )


def _same_kind(
    was: Placed, card_id: str, content: SkillDelta | FunctionCard
) -> FunctionCard | SkillCard:
    if isinstance(was.card, FunctionCard):
        if isinstance(content, FunctionCard) and content.card_id == card_id:
            return content
        raise UsageError(f"{card_id} can only be replaced by a card of the same function.")
    if isinstance(content, FunctionCard):
        raise UsageError(f"{card_id} is a Skill Card and cannot become a Function Card.")
    return _with_id(card_id, content)


def _with_id(card_id: str, delta: SkillDelta) -> SkillCard:
    return SkillCard.model_validate({**delta.model_dump(), "card_id": card_id})


def _joined(first: dict[str, Json], second: dict[str, Json]) -> dict[str, Json]:
    """Join two origins: generator ids add up, of anything else the second one's word counts."""
    joined = {**first, **second}
    ids = {str(item) for part in (first, second) for item in _listed(part.get("generator_ids"))}
    return {**joined, "generator_ids": [*sorted(ids)]} if ids else joined


def _listed(value: Json) -> list[Json]:
    return value if isinstance(value, list) else []


def _without(settings: BankSettings, gone: set[str], retained: str) -> BankSettings:
    """Settings after cards have gone into `retained`, which takes over what Time says of them."""
    universal = dict.fromkeys(
        retained if card_id in gone else card_id for card_id in settings.universal_for_time
    )
    final = settings.finalisation_card
    return _changed(
        settings,
        inactive=tuple(card_id for card_id in settings.inactive if card_id not in gone),
        universal_for_time=tuple(universal),
        finalisation_card=retained if final in gone else final,
    )


def _changed(settings: BankSettings, **changes: object) -> BankSettings:
    return BankSettings.model_validate({**dict(settings), **changes})


def _folded(one: str, other: str) -> bool:
    """Two folders of these names would be one on a file system that ignores case."""
    return one.casefold() == other.casefold()
