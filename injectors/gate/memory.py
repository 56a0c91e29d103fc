"""The cards that a gate may show: a bank without what was built from the running task."""

from __future__ import annotations

from typing import Literal

from injectors.bank import Bank
from injectors.cards import FunctionCard, SkillCard
from injectors.seen import SeenCards
from injectors.terms import terms
from runtime.contracts import Task, ToolCall

__all__ = ["GateMemory"]

CardKinds = Literal["function", "skill", "both"]


class GateMemory:
    """Looks cards up for one episode and keeps count of what was shown."""

    def __init__(
        self,
        bank: Bank | None = None,
        seen: SeenCards | None = None,
        task: Task | None = None,
        *,
        cards: CardKinds = "both",
    ) -> None:
        self.seen = seen or SeenCards()
        self._bank = bank
        self._scenario = task.scenario_id if task else None
        self._task_terms = frozenset(terms(task.instruction if task else ""))
        ability = task.ability if task else None
        self._functions = cards != "skill"
        skills = bank.skills(ability) if bank and cards != "function" else ()
        self._skills = tuple(card for card in skills if self._may_show(card.card_id))

    def function(self, name: str) -> FunctionCard | None:
        """Return the card of a function."""
        card = self._bank.function(name) if self._bank and self._functions else None
        return card if card and self._may_show(card.card_id) else None

    def skill(self, call: ToolCall) -> SkillCard | None:
        """Return the skill whose trigger shares most terms with the call and the task.

        It must share at least one with either. Ties go to the lower card id.
        """
        call_terms = frozenset(terms(f"{call.function} {' '.join(call.arguments)}"))
        best: tuple[int, SkillCard] | None = None
        for card in self._skills:
            trigger = frozenset(terms(card.applies_when))
            with_call, with_task = trigger & call_terms, trigger & self._task_terms
            named = call.function in card.functions_used
            if not with_task or not (with_call or named):
                continue
            score = len(with_call | with_task) + 2 * named
            if best is None or score > best[0]:
                best = (score, card)
        return best[1] if best else None

    def _may_show(self, card_id: str) -> bool:
        """A card that was built from this scenario may hold its solution."""
        if self._bank is None or self._scenario is None:
            return True
        return self._scenario not in self._bank.placed(card_id).generators
