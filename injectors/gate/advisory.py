"""Builds what the agent sees in place of a stopped call: one JSON object with fixed keys."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from injectors.cards import FunctionCard, SkillCard
from injectors.gate.budget import cut_to
from injectors.gate.checklists import Checklists
from injectors.gate.memory import GateMemory
from injectors.gate.record import Write
from injectors.gate.render import command, ledger_rows, masked
from injectors.gate.risks import Detected
from injectors.gate.situation import Situation
from injectors.gate.texts import AdvisoryText, Cause
from injectors.neutralise import plain
from runtime.catalogue import Catalogue
from runtime.contracts import Json

__all__ = ["AdvisoryWriter", "Stop", "cards_in"]

NAME = "VERIFY_BEFORE_WRITE"


@dataclass(frozen=True)
class Stop:
    """One stop: what was about to happen, and why it did not."""

    situation: Situation
    cause: Cause
    risks: Sequence[Detected]
    new_risks: Sequence[Detected]
    covers: Iterable[str]
    """State-changing functions that the stopped source names."""
    executed: Sequence[Write] = ()
    """The ledger, of a stop after writes."""


class AdvisoryWriter:
    """Writes the advisories of one episode."""

    def __init__(
        self,
        catalogue: Catalogue,
        memory: GateMemory,
        *,
        checklists: Checklists,
        text: AdvisoryText,
        cap: int,
    ) -> None:
        self._catalogue = catalogue
        self._memory = memory
        self._checklists = checklists
        self._text = text
        self._cap = cap

    def write(self, stop: Stop) -> dict[str, Json]:
        """Return the advisory, within its cap, and count the cards that it shows."""
        call, seen = stop.situation.call, self._memory.seen
        card, skill = self._memory.function(call.function), self._memory.skill(call)
        new_card = card is not None and card.card_id not in seen
        new_skill = skill is not None and skill.card_id not in seen
        high = any(risk.confidence == "high" for risk in stop.risks)
        contexts = stop.situation.observed.contexts
        advisory: dict[str, Json] = {
            "rtm_pre_tool_memory": NAME,
            "executed": False,
            "blocked_command": command(call),
            "function": call.function,
            "also_covered": self._also_covered(stop),
            "memory_seen": self._seen(card, skill, new_card=new_card, new_skill=new_skill),
            "why": self._text.why(stop.cause),
            "exit_code_intent": self._text.exit_code_intent,
            "command_args_seen": masked(call.arguments),
            "detected_risks": [_shown(risk) for risk in stop.risks],
            "new_detected_risks": [risk.id for risk in stop.new_risks],
            "observed_candidate_context": contexts.shopping(call),
            "observed_calendar_context": contexts.calendar(call, stop.situation.now),
            "observed_cab_context": contexts.cab(call),
            "write_checklist": self._checklist(stop, None if new_card else card),
            "function_memory": _function_memory(card, new=new_card),
            "dynamic_skill_memory": _skill_memory(skill, new=new_skill),
            "next_step": self._text.next_step(high_risk=high, ledger=bool(stop.executed)),
        }
        if skill is None:
            del advisory["dynamic_skill_memory"]
        if stop.executed:
            advisory["executed_writes"] = ledger_rows(stop.executed)
        advisory = cut_to(self._cap, advisory)
        seen.show_all(item.card_id for item in (card, skill) if item and _names(advisory, item))
        return advisory

    def ledger_note(self, executed: Sequence[Write]) -> str:
        """Return what the observation of a cell says that ended early after writes."""
        note: dict[str, Json] = {
            "executed_writes": ledger_rows(executed),
            "next_step": self._text.ledger,
        }
        return json.dumps(cut_to(self._cap, note), ensure_ascii=False)

    def _also_covered(self, stop: Stop) -> list[Json]:
        """Return the other functions that this stop covers. Their cards are named, not shown."""
        rows: list[Json] = []
        for name in sorted(set(stop.covers) - {stop.situation.call.function}):
            card = self._memory.function(name)
            checklist = self._checklists.brief(self._catalogue.get(name), name, card)
            rows.append(
                {
                    "function": name,
                    "card_id": card.card_id if card else None,
                    "checklist": [*checklist],
                }
            )
        return rows

    def _seen(
        self, card: FunctionCard | None, skill: SkillCard | None, *, new_card: bool, new_skill: bool
    ) -> dict[str, Json]:
        seen = self._memory.seen
        return {
            "function_card_id": card.card_id if card else None,
            "function_card_status": _status(card, new=new_card),
            "function_card_seen_count": seen.count(card.card_id) + 1 if card else 0,
            "skill_card_status": _status(skill, new=new_skill),
            "skill_card_id": skill.card_id if skill else None,
        }

    def _checklist(self, stop: Stop, card: FunctionCard | None) -> list[Json]:
        situation = stop.situation
        return [
            *self._checklists.items(
                situation.call.function,
                tuple(situation.arguments),
                card=card,
                bulk=situation.looped,
                finishing=situation.finishing,
            )
        ]


def cards_in(advisory: dict[str, Json]) -> tuple[str, ...]:
    """Return the ids of the cards that an advisory writes out, for the trace."""
    seen = advisory.get("memory_seen")
    if not isinstance(seen, dict):
        return ()
    pairs = (
        (seen.get("function_card_status"), seen.get("function_card_id")),
        (seen.get("skill_card_status"), seen.get("skill_card_id")),
    )
    return tuple(str(card_id) for status, card_id in pairs if status == "shown_now")


def _names(advisory: dict[str, Json], card: FunctionCard | SkillCard) -> bool:
    seen = advisory["memory_seen"]
    return isinstance(seen, dict) and card.card_id in seen.values()


def _status(card: object, *, new: bool) -> str:
    if card is None:
        return "none"
    return "shown_now" if new else "already_shown"


def _function_memory(card: FunctionCard | None, *, new: bool) -> dict[str, Json]:
    if card is None:
        return {"status": "none", "card_id": None}
    known: dict[str, Json] = {"status": _status(card, new=new), "card_id": card.card_id}
    if not new:
        return known
    return known | {
        "what_it_does": plain(card.what_it_does),
        "usage_rules": _plain(card.usage_rules),
        "common_mistakes": _plain(card.common_mistakes),
        "side_effects": _plain(card.side_effects),
    }


def _skill_memory(card: SkillCard | None, *, new: bool) -> dict[str, Json] | None:
    if card is None:
        return None
    known: dict[str, Json] = {"status": _status(card, new=new), "card_id": card.card_id}
    known["title"] = plain(card.title)
    if not new:
        return known
    return known | {
        "core_rule": plain(card.skill.core_rule),
        "done_when": _plain(card.skill.completion_condition[:2]),
    }


def _plain(texts: Sequence[str]) -> list[Json]:
    return [plain(text) for text in texts]


def _shown(risk: Detected) -> dict[str, Json]:
    return {**risk.shown()}
