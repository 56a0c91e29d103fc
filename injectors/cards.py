"""The records of procedural memory: Function Cards, Skill Cards, and what models propose.

Field names, operations and card ids are an interface shared with other people's banks. Limits that
differ between benchmarks are data (`CardLimits`), checked by `over_limits`: a card itself does not
know its benchmark. docs/bank-format.md describes every field.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Annotated, Literal, Self

from pydantic import Field, StringConstraints, field_validator, model_validator

from runtime.contracts import Json, Value

__all__ = [
    "LIMITS",
    "SKILL_ID",
    "Argument",
    "CardLimits",
    "CuratorPatch",
    "Evidence",
    "FunctionCard",
    "Operation",
    "Skill",
    "SkillCard",
    "SkillDelta",
    "canonical_json",
    "function_card_id",
    "limits_for",
    "over_limits",
    "skill_card_id",
]

Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=4000)]
"""One statement. The bound is ours: it keeps a hostile bank from costing an episode its time."""
Texts = tuple[Text, ...]
Tag = Annotated[str, StringConstraints(pattern=r"^[^\sA-Z][^A-Z\r\n]*$", max_length=60)]
Tool = Annotated[str, StringConstraints(pattern=r"^[A-Za-z_]\w*\.[A-Za-z_]\w*$")]
SkillId = Annotated[str, StringConstraints(pattern=r"^skill::skill_[0-9a-f]{6,64}$")]
SKILL_ID = re.compile(r"skill::skill_[0-9a-f]{6,64}")


class Argument(Value):
    """One argument of a function, as it was observed."""

    name: Text
    meaning: str = ""
    value_form: str = ""
    """The form a value takes ("integer from 0", "email address"), never a value."""


class FunctionCard(Value):
    """The tool contract of one callable function, shared by all abilities."""

    card_id: str
    """`function::App.function`."""
    tool: Tool
    app: str
    function: str
    what_it_does: Text
    arguments: tuple[Argument, ...] = ()
    returns: str = ""
    usage_rules: Texts = ()
    common_mistakes: Texts = ()
    side_effects: Texts = ()
    doc_delta_notes: Texts = ()
    """What was observed and the live documentation does not say."""
    code_idiom: Text | None = None

    @model_validator(mode="after")
    def _one_identity(self) -> Self:
        if self.tool != f"{self.app}.{self.function}":
            raise ValueError(f"tool {self.tool!r} is not app.function ({self.app}.{self.function})")
        if self.card_id != function_card_id(self.tool):
            raise ValueError(f"card_id must be {function_card_id(self.tool)!r}")
        names = [argument.name for argument in self.arguments]
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise ValueError(f"arguments named twice: {', '.join(twice)}")
        return self


class Skill(Value):
    """What a Skill Card teaches: one rule, when it is fulfilled, and what tells runs apart."""

    core_rule: Text
    completion_condition: Texts = ()
    success_contrast: Texts = ()
    failure_contrast: Texts = ()
    recovery: Texts = ()
    efficiency: Texts = ()
    procedure_sketch: Texts = ()
    """Steps in words, only where the order itself is the lesson."""


class Evidence(Value):
    """What a skill rests on. GAIA2's response contract is derived from the examples' shape."""

    observed_feedback: Texts = ()
    state_transition: Texts = ()
    good_examples: Texts = ()
    bad_examples: Texts = ()


class Identified(Value):
    """Base that puts the id first in a card's file."""

    card_id: SkillId


class SkillDelta(Value):
    """A lesson as the Reflector proposes it: a Skill Card without an id."""

    title: Text
    applies_when: Text
    solves: Text
    tags: tuple[Tag, ...] = Field(min_length=3, max_length=8)
    skill: Skill
    evidence: Evidence = Evidence()
    functions_used: tuple[Tool, ...] = ()

    @property
    def apps(self) -> frozenset[str]:
        """Apps of the functions that the lesson was seen on."""
        return frozenset(tool.partition(".")[0] for tool in self.functions_used)


class SkillCard(SkillDelta, Identified):
    """A lesson in a bank. The bank gives the id, from the content at ADD; edits keep it."""

    @property
    def content(self) -> SkillDelta:
        """The card without its id."""
        return SkillDelta.model_validate(self.model_dump(exclude={"card_id"}))


Operation = Literal["ADD_CARD", "PATCH_CARD", "MERGE_CARD", "NARROW_TRIGGER", "NOOP"]
_SHORT: Mapping[str, Operation] = MappingProxyType(
    {
        "ADD": "ADD_CARD",
        "PATCH": "PATCH_CARD",
        "MERGE": "MERGE_CARD",
        "NARROW": "NARROW_TRIGGER",
    }
)


class CuratorPatch(Value):
    """One edit as the Curator proposes it; whether it may be made is the validator's word."""

    delta_index: int | None = Field(default=None, ge=0)
    """Position of the delta from 0; may be missing when there is only one."""
    operation: Operation
    target_card_id: SkillId | None = None
    """The card that is edited, or that keeps its id in a merge (`retained_card_id` is read too)."""
    target_card_ids: tuple[SkillId, ...] = ()
    new_or_updated_card: SkillDelta | None = None
    reason: str = ""

    @model_validator(mode="before")
    @classmethod
    def _one_target(cls, data: object) -> object:
        if not isinstance(data, dict) or "retained_card_id" not in data:
            return data
        both = {data["retained_card_id"], data.get("target_card_id")} - {None}
        if len(both) > 1:
            raise ValueError("target_card_id and retained_card_id name different cards")
        rest = {key: value for key, value in data.items() if key != "retained_card_id"}
        return {**rest, "target_card_id": both.pop() if both else None}

    @field_validator("operation", mode="before")
    @classmethod
    def _long_form(cls, value: object) -> object:
        return _SHORT.get(value.upper(), value.upper()) if isinstance(value, str) else value

    @field_validator("new_or_updated_card", mode="before")
    @classmethod
    def _without_id(cls, value: object) -> object:
        """A model may repeat a card's id; ids are the bank's to give."""
        if isinstance(value, Mapping):
            return {key: item for key, item in value.items() if key != "card_id"}
        return value


class CardLimits(Value):
    """How many items each part of a card may hold on one benchmark."""

    arguments: int
    usage_rules: int = 5
    common_mistakes: int = 4
    side_effects: int = 4
    doc_delta_notes: int
    procedure_sketch: int
    code_idiom: bool


LIMITS: Mapping[str, CardLimits] = MappingProxyType(
    {
        "appworld": CardLimits(arguments=8, doc_delta_notes=3, procedure_sketch=5, code_idiom=True),
        "gaia2": CardLimits(arguments=12, doc_delta_notes=0, procedure_sketch=0, code_idiom=False),
    }
)
_OWN = CardLimits(arguments=12, doc_delta_notes=3, procedure_sketch=5, code_idiom=True)
_SENTENCE_END = re.compile(r"(?<!e\.g)(?<!i\.e)(?<!etc)[.!?]\s+(?=[A-Z])")


def limits_for(benchmark: str) -> CardLimits:
    """Return a benchmark's limits; a benchmark of one's own gets the wider of each."""
    return LIMITS.get(benchmark, _OWN)


def over_limits(card: FunctionCard | SkillDelta, limits: CardLimits) -> tuple[str, ...]:
    """Return a sentence for each limit that a card breaks."""
    if isinstance(card, FunctionCard):
        return tuple(_function_problems(card, limits))
    return tuple(_skill_problems(card, limits))


def _function_problems(card: FunctionCard, limits: CardLimits) -> Iterator[str]:
    parts = ("arguments", "usage_rules", "common_mistakes", "side_effects", "doc_delta_notes")
    for part in parts:
        yield from _too_many(part, len(getattr(card, part)), getattr(limits, part))
    if card.code_idiom is not None and not limits.code_idiom:
        yield "code_idiom is not part of this benchmark's cards"
    if _SENTENCE_END.search(card.what_it_does):
        yield "what_it_does is more than one sentence"


def _skill_problems(card: SkillDelta, limits: CardLimits) -> Iterator[str]:
    steps = len(card.skill.procedure_sketch)
    yield from _too_many("skill.procedure_sketch", steps, limits.procedure_sketch)


def _too_many(part: str, count: int, limit: int) -> Iterator[str]:
    if count > limit:
        yield f"{part} has {count} items, at most {limit} are allowed"


def function_card_id(tool: str) -> str:
    """Return the id of a function's card."""
    return f"function::{tool}"


def skill_card_id(delta: SkillDelta) -> str:
    """Return the id that a lesson gets when it is added: equal content, equal id."""
    content = delta.model_dump(mode="json", exclude={"card_id"})
    digest = hashlib.sha256(canonical_json(content).encode()).hexdigest()
    return f"skill::skill_{digest[:12]}"


def canonical_json(value: Json) -> str:
    """Return the one JSON text of a value, for hashing: sorted keys, no blanks, ASCII."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
