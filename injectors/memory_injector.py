"""Delivers a bank to one episode: at task start, just in time, and near the end under Time."""

from __future__ import annotations

from collections.abc import Sequence

from injectors.apps import apps_in
from injectors.bank import Bank
from injectors.block import fit
from injectors.cards import FunctionCard, SkillCard
from injectors.forms import BlockForm, plain_form
from injectors.gaia2_block import runtime_prompt
from injectors.profiles import MemorySettings
from injectors.retrieve import Bm25Retriever, Query, Ranked, Retriever
from injectors.seen import SeenCards
from injectors.signature import runtime_signature
from injectors.task_start import function_section
from injectors.time_rules import cap_universal, same_verb_family
from injectors.tokens import count_tokens
from runtime.contracts import CallResult, Injection, Kind, Task, ToolCall

__all__ = ["MemoryInjector", "query_for"]

JIT_HEADING = "Tool memory for what this cell used (soft guidance; what you see counts for more):"
JIT_CAP = 600
"""Tokens that may come with one observation, so that a cell with many APIs stays readable."""
END_HEADING = "Before you finish (soft guidance from memory; what you see counts for more):"


class MemoryInjector:
    """One episode's injector. `seen` is shared with the gate; `form` is the benchmark's."""

    def __init__(
        self,
        bank: Bank,
        settings: MemorySettings,
        seen: SeenCards | None = None,
        *,
        retriever: Retriever | None = None,
        form: BlockForm = plain_form,
    ) -> None:
        self._bank = bank
        self._settings = settings
        self._seen = seen if seen is not None else SeenCards()
        self._retriever = retriever or Bm25Retriever(bank)
        self._form = form
        self._barred = frozenset(settings.exclude_generator_ids)
        self._ended = False

    def task_start(self, task: Task) -> Injection:
        """Return the block of the cards that suit the task; nothing if none does."""
        query = query_for(task, self._bank, self._settings)
        self._barred = query.exclude_generator_ids
        skills, functions = self._skills(query), self._functions(query)
        block = self._block(skills, functions)
        self._seen.show_all(block.cards)
        return block

    def after_cell(self, source: str, calls: Sequence[tuple[ToolCall, CallResult]]) -> Injection:  # noqa: ARG002 - protocol
        """Return the cards, not shown yet, of functions that the cell used or failed on."""
        if self._settings.cards == "skill":
            return Injection()
        wanted = dict.fromkeys(
            call.function for call, result in calls if self._comes_with(call, result)
        )
        cards = [card for tool in wanted if (card := self._bank.function(tool))]
        idiom = self._settings.render_code_idiom
        sections = [
            function_section(card, rank, code_idiom=idiom)
            for rank, card in enumerate(cards, start=1)
            if card.card_id not in self._seen and self._may_show(card.card_id)
        ]
        text, kept = fit(
            sections, lambda some: "\n".join((JIT_HEADING, *(item.text for item in some))), JIT_CAP
        )
        self._seen.show_all(section.card_id for section in kept)
        return _injection(text, tuple(section.card_id for section in kept))

    def near_end(self) -> Injection:
        """Return Time's finalisation card, once."""
        card_id = self._bank.settings.finalisation_card
        if self._ended or not self._settings.time_rules or self._settings.cards == "function":
            return Injection()
        if card_id is None or not self._may_show(card_id):
            return Injection()
        card = self._bank.card(card_id)
        assert isinstance(card, SkillCard)
        self._ended = True
        self._seen.show(card_id)
        return _injection(f"{END_HEADING}\n{runtime_prompt(card)}", (card_id,))

    def _may_show(self, card_id: str) -> bool:
        barred = self._barred & self._bank.placed(card_id).generators
        return self._bank.active(card_id) and not barred

    def _comes_with(self, call: ToolCall, result: CallResult) -> bool:
        if self._settings.jit:
            return call.kind is not Kind.FINISH or not result.ok  # nothing follows a good finish
        return self._settings.pre_tool == "all" and call.kind is Kind.READ

    def _skills(self, query: Query) -> tuple[Ranked, ...]:
        topk = self._settings.skill_topk
        if self._settings.cards == "function":
            return ()
        if not self._settings.time_rules:
            return self._retriever.skills(query, topk)
        universal = self._bank.settings.universal_for_time
        return cap_universal(self._retriever.skills(query), universal, topk)

    def _functions(self, query: Query) -> tuple[Ranked, ...]:
        topk = self._settings.function_topk_start
        if self._settings.cards == "skill":
            return ()
        if not self._settings.time_rules:
            return self._retriever.functions(query, topk)
        found = self._retriever.functions(query)
        tool = {item.card_id: item.card_id.partition("::")[2] for item in found}
        return tuple(
            item for item in found if same_verb_family(tool[item.card_id], query.instruction)
        )[:topk]

    def _block(self, skills: Sequence[Ranked], functions: Sequence[Ranked]) -> Injection:
        found = [self._bank.card(item.card_id) for item in (*skills, *functions)]
        lessons = [card for card in found if isinstance(card, SkillCard)]
        tools = [card for card in found if isinstance(card, FunctionCard)]
        scores = {item.card_id: item.score for item in functions}
        return self._form(lessons, tools, scores, self._settings)


def query_for(task: Task, bank: Bank, settings: MemorySettings) -> Query:
    """Return what retrieval may know of a task: its instruction and its ability's name.

    The task's own signature is not used: it may come from the reference solution.
    """
    known = {card.app for card in bank.functions}
    apps = task.apps or apps_in(task.instruction, task.benchmark, known)
    return Query(
        instruction=task.instruction,
        apps=apps,
        signature=runtime_signature(task.instruction, apps),
        ability=task.ability,
        exclude_generator_ids=frozenset({*settings.exclude_generator_ids, task.scenario_id}),
    )


def _injection(text: str, cards: tuple[str, ...]) -> Injection:
    return Injection(text=text, cards=cards, tokens=count_tokens(text) if text else 0)
