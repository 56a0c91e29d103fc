"""Cards and banks for the tests of this folder."""

from __future__ import annotations

from injectors.bank import Bank
from injectors.cards import FunctionCard, Skill, SkillCard, SkillDelta, skill_card_id


def delta(title="Read every page", **changes) -> SkillDelta:
    fields = {
        "title": title,
        "applies_when": "a list of records has to be complete",
        "solves": "items on later pages are missed",
        "tags": ("paging", "search", "default"),
        "skill": Skill(core_rule="Ask for the next page until one comes back empty."),
    }
    return SkillDelta(**(fields | changes))


def skill(title="Read every page", **changes) -> SkillCard:
    content = delta(title, **changes)
    return SkillCard(card_id=skill_card_id(content), **content.model_dump())


def function(tool="music.show_songs", **changes) -> FunctionCard:
    app, _, name = tool.partition(".")
    fields = {
        "card_id": f"function::{tool}",
        "tool": tool,
        "app": app,
        "function": name,
        "what_it_does": f"Serves {name.replace('_', ' ')} of the {app} app.",
    }
    return FunctionCard(**(fields | changes))


def bank(skills=(), functions=(), benchmark="appworld", settings=None, ability="global") -> Bank:
    return Bank.of(benchmark, functions, {ability: skills} if skills else {}, settings)
