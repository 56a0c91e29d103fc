"""GAIA2's block: Runtime Skill and Function Memory (RTM).

Same opening and the same treatment of card text as AppWorld's block; its own parts and rules.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from injectors.block import CORE, Line, Section, fit
from injectors.cards import FunctionCard, SkillCard
from injectors.neutralise import plain
from injectors.task_start import OPENING
from injectors.tokens import count_tokens
from runtime.contracts import Injection

__all__ = ["RTM_HEADING", "gaia2_block", "response_contract", "runtime_prompt"]

RTM_HEADING = "Runtime Skill and Function Memory (RTM)"
CAP = 2000
RULES = """\
How to use RTM:
- Apply a note only when you now see the situation it waits for; what you see counts for more \
than what was stored. Take no value from a note: look each one up.
- Skills say when and why to act, function notes say how a call behaves; its description is still \
read before its first use.
- Keep a ledger of the task's branches: done, blocked, open.
- Before each write and each message to the user, check by a fresh read whom it concerns and what \
exactly, then the wording, the condition it depends on, and what is left to do.
- Words that belong to a product's name do not ask for a variant.
- A branch that cannot go on is reported as blocked, with what is missing.
- Examples lend their shape only, never their content.
- If several branches end together, say in one short clause what was done (if anything was) and \
ask one question.
- Name a few candidates by what tells them apart; if there are many, give their number.
- If nothing matches and later writes depend on it, ask for another date or filter.
- If a recipient is known by role only, ask who it is.
- Outgoing mail keeps the content and the audience it was given; a group is greeted as a group.
- If the task asks for an answer, finish as soon as the answer stands, with the bare value.
- Read back after the last write; do not repeat a read that brought nothing.
- Last messages are short and plain.
- If you apply a note, let the very next step show it."""
REPLY_MARKER = "- Begin every reply to the user with the marker {}."
_SENTENCES = re.compile(r"[.!?]+(?:\s|$)")


def gaia2_block(
    skills: Sequence[SkillCard],
    functions: Sequence[FunctionCard],
    *,
    scores: Mapping[str, float] | None = None,
    reply_marker: str = "",
    cap: int = CAP,
) -> Injection:
    """Write the block for cards in order of rank; no card, no text.

    `scores`: retrieval scores by card id. `reply_marker`: a host's own, trusted text.
    """
    found = scores or {}
    rules = RULES + ("\n" + REPLY_MARKER.format(reply_marker) if reply_marker else "")
    sections = [_skill_section(card, rank) for rank, card in enumerate(skills, start=1)]
    sections += [
        _function_section(card, rank, found.get(card.card_id))
        for rank, card in enumerate(functions, start=1)
    ]

    def write(kept: Sequence[Section]) -> str:
        return "\n".join((RTM_HEADING, OPENING, "", *(item.text for item in kept), "", rules))

    text, kept = fit(sections, write, cap)
    cards = tuple(section.card_id for section in kept)
    return Injection(text=text, cards=cards, tokens=count_tokens(text) if text else 0)


def runtime_prompt(card: SkillCard) -> str:
    """Return a skill as an agent reads it: derived from the card, never stored."""
    return _skill_section(card, 1).text


def response_contract(card: SkillCard) -> str:
    """Derive the shape of an answer from good and bad examples: length and question, no words.

    Empty unless the good examples agree on a trait that a bad example lacks.
    """
    good, bad = card.evidence.good_examples, card.evidence.bad_examples
    if not good or not bad:
        return ""
    words, sentences = max(map(_words, good)), max(map(_sentence_count, good))
    traits = []
    if any(_sentence_count(text) > sentences for text in bad):
        traits.append(f"at most {sentences} sentence{'s' if sentences > 1 else ''}")
    if any(_words(text) > words for text in bad):
        traits.append(f"at most {words} word{'s' if words > 1 else ''}")
    asks = {_asks(text) for text in good}
    if len(asks) == 1 and any(_asks(text) not in asks for text in bad):
        traits.append("ends with a question" if asks == {True} else "asks nothing")
    return "; ".join(traits)


def _skill_section(card: SkillCard, rank: int) -> Section:
    skill = card.skill
    lines = [
        Line(CORE, f"{rank}. [skill] {plain(card.title)}"),
        Line(CORE, f"   Trigger: {plain(card.applies_when)}"),
        Line(CORE, f"   Rule: {plain(skill.core_rule)}"),
    ]
    lines += [Line(CORE, f"   [ ] {plain(text)}") for text in skill.completion_condition]
    if skill.success_contrast:
        lines.append(Line("success", f"   Worked: {plain(skill.success_contrast[0])}"))
    if skill.failure_contrast:
        lines.append(Line("pitfall", f"   Failed: {plain(skill.failure_contrast[0])}"))
    if card.functions_used:
        lines.append(Line("functions", f"   Functions: {', '.join(card.functions_used)}"))
    contract = response_contract(card)
    if contract:
        lines.append(Line(CORE, f"   Response contract: {contract}"))
    return Section(card.card_id, rank, tuple(lines))


def _function_section(card: FunctionCard, rank: int, score: float | None) -> Section:
    mark = f" [score={score:.2f}]" if score is not None else ""
    lines = [Line(CORE, f"- {card.tool}{mark}: {plain(card.what_it_does)}")]
    lines += [Line(CORE, f"  Use: {plain(text)}") for text in card.usage_rules[:2]]
    lines += [Line("pitfall", f"  Avoid: {plain(text)}") for text in card.common_mistakes[:2]]
    lines += [Line(CORE, f"  Side effect: {plain(text)}") for text in card.side_effects[:1]]
    return Section(card.card_id, rank, tuple(lines))


def _words(text: str) -> int:
    return len(text.split())


def _sentence_count(text: str) -> int:
    return max(1, len(_SENTENCES.findall(text)))


def _asks(text: str) -> bool:
    return text.rstrip().endswith("?")
