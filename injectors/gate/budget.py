"""Keeps an advisory within its tokens by leaving out what matters least, in a fixed order."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial

from injectors.tokens import count_tokens
from runtime.contracts import Json

__all__ = ["cut_to"]

Advisory = dict[str, Json]


def cut_to(cap: int, advisory: Advisory) -> Advisory:
    """Return the advisory, cut until it fits. Risks and the next step are never cut."""
    for cut in _CUTS:
        if count_tokens(json.dumps(advisory, ensure_ascii=False)) <= cap:
            break
        advisory = cut(advisory)
    return advisory


def _without_skill(advisory: Advisory) -> Advisory:
    """A skill that is not shown is not counted as seen either."""
    rest = {name: value for name, value in advisory.items() if name != "dynamic_skill_memory"}
    seen = rest.get("memory_seen")
    if isinstance(seen, dict):
        rest["memory_seen"] = {**seen, "skill_card_status": "none", "skill_card_id": None}
    return rest


def _without_covered_checklists(advisory: Advisory) -> Advisory:
    covered = advisory.get("also_covered")
    if not isinstance(covered, list):
        return advisory
    rows = [{**row, "checklist": []} if isinstance(row, dict) else row for row in covered]
    return {**advisory, "also_covered": rows}


def _without_contexts(advisory: Advisory) -> Advisory:
    return {
        name: None if name.startswith("observed_") else value for name, value in advisory.items()
    }


def _shorter_arguments(longest: int, advisory: Advisory) -> Advisory:
    changed = dict(advisory)
    for name in ("command_args_seen", "blocked_command"):
        if name in advisory:
            changed[name] = _shorter(advisory[name], longest)
    return changed


def _shorter_card(most: int, advisory: Advisory) -> Advisory:
    card = advisory.get("function_memory")
    if not isinstance(card, dict):
        return advisory
    parts = {k: v[:most] if isinstance(v, list) else v for k, v in card.items()}
    return {**advisory, "function_memory": parts}


def _shorter_ledger(longest: int, advisory: Advisory) -> Advisory:
    """Fold a ledger's writes by function and outcome, with the last of each as the example."""
    rows = advisory.get("executed_writes")
    if not isinstance(rows, list):
        return advisory
    folded: dict[tuple[str, str], dict[str, Json]] = {}
    for row in rows:
        if isinstance(row, dict):
            call, outcome = str(row["call"]), str(row["outcome"])
            function = call.partition("(")[0]
            times = folded.get((function, outcome), {}).get("times", 0)
            before = times if isinstance(times, int) else 0
            more = row.get("times", 1)
            folded[function, outcome] = {
                "call": _shorter(call, longest),
                "outcome": outcome,
                "times": before + (more if isinstance(more, int) else 1),
            }
    return {**advisory, "executed_writes": [*folded.values()]}


def _fewer_covered(most: int, advisory: Advisory) -> Advisory:
    covered = advisory.get("also_covered")
    if not isinstance(covered, list) or len(covered) <= most:
        return advisory
    more: Json = {"function": f"and {len(covered) - most} more", "card_id": None, "checklist": []}
    return {**advisory, "also_covered": [*covered[:most], more]}


def _fewer_checks(most: int, advisory: Advisory) -> Advisory:
    checks = advisory.get("write_checklist")
    return {**advisory, "write_checklist": checks[:most]} if isinstance(checks, list) else advisory


def _shorter(value: Json, longest: int) -> Json:
    if isinstance(value, str):
        return value if len(value) <= longest else f"{value[: longest - 3]}..."
    if isinstance(value, dict):
        rest = len(value) - 12
        kept = {k: _shorter(v, longest) for k, v in list(value.items())[:12]}
        return {**kept, "...": f"{rest} more"} if rest > 0 else kept
    if isinstance(value, list) and len(value) > 5:
        return [*(_shorter(item, longest) for item in value[:5]), f"... and {len(value) - 5} more"]
    return [_shorter(item, longest) for item in value] if isinstance(value, list) else value


_CUTS: tuple[Callable[[Advisory], Advisory], ...] = (
    # the order that the specification fixes
    _without_skill,
    _without_covered_checklists,
    _without_contexts,
    partial(_shorter_arguments, 400),
    partial(_shorter_arguments, 100),
    partial(_shorter_arguments, 40),
    # what an advisory can still do without
    partial(_shorter_card, 2),
    partial(_shorter_ledger, 100),
    partial(_fewer_covered, 6),
    partial(_shorter_card, 0),
    partial(_fewer_checks, 2),
    partial(_fewer_covered, 1),
    partial(_shorter_ledger, 40),
)
