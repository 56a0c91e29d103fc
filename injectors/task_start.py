"""The block that AppWorld's prompt gets before its task: retrieved cards and how to use them.

No model writes it: the same cards and task give the same bytes. The wording is ours; what it has
to say, its keys and its caps are specified (docs/memory.md).
"""

from __future__ import annotations

from collections.abc import Sequence

from injectors.block import CORE, Line, Section, fit, shortened
from injectors.cards import FunctionCard, SkillCard
from injectors.idiom import idiom_shape
from injectors.neutralise import plain
from injectors.tokens import count_tokens
from runtime.contracts import Injection, Value

__all__ = ["HEADING", "AppWorldCaps", "appworld_block", "function_section"]

HEADING = "## Retrieved procedural memory (soft guidance)"
OPENING = (
    "These notes were distilled from what earlier agents did on other tasks; they are not facts "
    "about the world you are in. Where a note and the live documentation or an output disagree, "
    "the documentation and the output are right."
)
RULES = """\
How to use these notes:
- Apply a note only when you now see the situation it waits for; what you see counts for more \
than what was stored.
- Take no name, id, amount or date from a note: look every value up in this world.
- Read an API's documentation before its first use, even if a note describes it; adapt idioms, \
do not copy them.
- Skills say when and why to act, tool memory says how a call behaves.
- Before a write, settle the exact target set by a fresh read; after the last write, read the \
state back; then complete the task.
- If the task asks for an answer, finish as soon as the answer stands, with the bare value.
- Do not repeat a read that brought nothing; change something about it.
- If you apply a note, let the very next cell show it."""
IDIOM_CHARS = 90


class AppWorldCaps(Value):
    """Bounds of the block, in o200k_base tokens."""

    total: int = 1200
    skill: int = 140
    function: int = 150


def appworld_block(
    skills: Sequence[SkillCard],
    functions: Sequence[FunctionCard],
    *,
    code_idiom: bool = True,
    when: bool = False,
    caps: AppWorldCaps | None = None,
) -> Injection:
    """Write the block for cards in order of rank; no card, no text.

    `when` adds each skill's trigger. A card whose core alone is over its cap is left out.
    """
    caps = caps or AppWorldCaps()
    sections: list[Section] = []
    for card in skills:  # numbered without gaps, though a card may be over its cap
        section = _skill_section(card, len(sections) + 1, when=when)
        sections += _within(section, caps.skill)
    for rank, tool in enumerate(functions, start=1):
        sections += _within(function_section(tool, rank, code_idiom=code_idiom), caps.function)
    text, kept = fit(sections, _write, caps.total)
    cards = tuple(section.card_id for section in kept)
    return Injection(text=text, cards=cards, tokens=count_tokens(text) if text else 0)


def function_section(card: FunctionCard, rank: int = 1, *, code_idiom: bool = True) -> Section:
    """Return what a block says of a function; also the form of a card that comes just in time."""
    lines = [Line(CORE, f"Tool memory for {card.tool}: {plain(card.what_it_does)}")]
    lines += [Line(CORE, f"- {plain(rule)}") for rule in card.usage_rules[:2]]
    if card.common_mistakes:
        mistakes = "; ".join(_bare(text) for text in card.common_mistakes[:2])
        lines.append(Line("pitfall", f"Known mistakes: {mistakes}"))
    if code_idiom and card.code_idiom:
        lines.append(Line("idiom", f"Idiom (adapt, never paste): {_idiom(card.code_idiom)}"))
    return Section(card.card_id, rank, tuple(lines))


def _skill_section(card: SkillCard, rank: int, *, when: bool) -> Section:
    skill = card.skill
    lines = [Line(CORE, f"{rank}. [skill] {_bare(card.title)} - {plain(skill.core_rule)}")]
    if when:
        lines.append(Line(CORE, f"   When: {plain(card.applies_when)}"))
    if skill.completion_condition:
        done = "; ".join(_bare(text) for text in skill.completion_condition)
        lines.append(Line(CORE, f"   Done when: {done}"))
    if skill.failure_contrast:
        lines.append(Line("pitfall", f"   Pitfall: {plain(skill.failure_contrast[0])}"))
    if skill.recovery:
        lines.append(Line("recovery", f"   Recovery: {plain(skill.recovery[0])}"))
    if skill.procedure_sketch:
        steps = " -> ".join(_bare(step) for step in skill.procedure_sketch)
        lines.append(Line("procedure", f"   Procedure: {steps}"))
    return Section(card.card_id, rank, tuple(lines))


def _within(section: Section, cap: int) -> list[Section]:
    short = shortened(section, cap)
    return [short] if short else []


def _write(sections: Sequence[Section]) -> str:
    return "\n".join((HEADING, OPENING, "", *(section.text for section in sections), "", RULES))


def _idiom(code: str) -> str:
    lines = code.splitlines()
    if any(line.startswith((" ", "\t")) for line in lines):
        return f"{plain(idiom_shape(code))}."
    joined = plain("; ".join(lines))
    return joined if len(joined) <= IDIOM_CHARS else f"{plain(idiom_shape(code))}."


def _bare(text: str) -> str:
    """A text that others are joined to: without its full stop."""
    return plain(text).removesuffix(".")
