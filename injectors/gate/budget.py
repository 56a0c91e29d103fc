"""Keeps an advisory within its tokens by leaving out what matters least, in a fixed order."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from functools import partial

from injectors.gate.shorten import short
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


def _shorter_arguments(longest: int, depth: int, advisory: Advisory) -> Advisory:
    """`depth`: how many containers an argument may hold inside each other."""
    changed = dict(advisory)
    for name in ("command_args_seen", "blocked_command"):
        if name in advisory:
            changed[name] = _shorter(advisory[name], longest, depth + 1)
    return changed


def _shorter_card(most: int, longest: int, advisory: Advisory) -> Advisory:
    card = advisory.get("function_memory")
    if not isinstance(card, dict):
        return advisory
    ids = {"card_id": card["card_id"]}
    parts = {k: v[:most] if isinstance(v, list) else v for k, v in card.items()}
    shorter = {k: _shorter(v, longest, 1) for k, v in parts.items()}
    return {**advisory, "function_memory": shorter | ids}


def _shorter_ledger(longest: int, advisory: Advisory) -> Advisory:
    """Fold a ledger's writes by function and outcome, with the last of each as the example."""
    folded: dict[tuple[str, str], dict[str, Json]] = {}
    for function, outcome, times, call in _ledger(advisory):
        before = folded.get((function, outcome), {}).get("times", 0)
        folded[function, outcome] = {
            "call": short(call, longest),
            "outcome": outcome,
            "times": times + (before if isinstance(before, int) else 0),
        }
    return _with_ledger(advisory, [*folded.values()])


def _ledger_by_outcome(longest: int, advisory: Advisory) -> Advisory:
    """Fold a ledger once more: the functions of each outcome."""
    functions: dict[str, list[str]] = {}
    count: dict[str, int] = {}
    for function, outcome, times, _ in _ledger(advisory):
        functions.setdefault(outcome, []).append(function)
        count[outcome] = count.get(outcome, 0) + times
    return _with_ledger(
        advisory,
        [
            {"call": short(", ".join(names), longest), "outcome": outcome, "times": count[outcome]}
            for outcome, names in functions.items()
        ],
    )


def _ledger(advisory: Advisory) -> Iterator[tuple[str, str, int, str]]:
    """Yield function, outcome, how many times and the call of each row."""
    rows = advisory.get("executed_writes")
    for row in rows if isinstance(rows, list) else ():
        if isinstance(row, dict):
            call, times = str(row["call"]), row.get("times", 1)
            function = call.partition("(")[0]
            yield function, str(row["outcome"]), times if isinstance(times, int) else 1, call


def _with_ledger(advisory: Advisory, rows: list[Json]) -> Advisory:
    return {**advisory, "executed_writes": rows} if "executed_writes" in advisory else advisory


def _fewer_covered(most: int, advisory: Advisory) -> Advisory:
    covered = advisory.get("also_covered")
    if not isinstance(covered, list) or len(covered) <= most:
        return advisory
    more: Json = {"function": f"and {len(covered) - most} more", "card_id": None, "checklist": []}
    return {**advisory, "also_covered": [*covered[:most], more]}


def _fewer_checks(most: int, longest: int, advisory: Advisory) -> Advisory:
    checks = advisory.get("write_checklist")
    if not isinstance(checks, list):
        return advisory
    return {**advisory, "write_checklist": [_shorter(item, longest, 1) for item in checks[:most]]}


def _named_arguments(advisory: Advisory) -> Advisory:
    """Name the arguments without their values."""
    arguments, function = advisory.get("command_args_seen"), advisory.get("function")
    if not isinstance(arguments, dict):
        return advisory
    named: Json = dict.fromkeys(arguments, "...")
    return {**advisory, "command_args_seen": named, "blocked_command": f"{function}(...)"}


def _shorter(value: Json, longest: int, depth: int) -> Json:
    if isinstance(value, dict | list) and depth == 0:
        return f"... {len(value)} items"
    if isinstance(value, dict):
        rest = len(value) - 12
        items = list(value.items())[:12]
        kept = {short(k, 40): _shorter(v, longest, depth - 1) for k, v in items}
        return {**kept, "...": f"{rest} more"} if rest > 0 else kept
    if isinstance(value, list):
        rest = len(value) - 5
        first = [_shorter(item, longest, depth - 1) for item in value[:5]]
        return [*first, f"... and {rest} more"] if rest > 0 else first
    if isinstance(value, str) or len(str(value)) > longest:
        return short(str(value), longest)
    return value


_CUTS: tuple[Callable[[Advisory], Advisory], ...] = (
    # the order that the specification fixes
    _without_skill,
    _without_covered_checklists,
    _without_contexts,
    partial(_shorter_arguments, 400, 2),
    partial(_shorter_arguments, 100, 2),
    partial(_shorter_arguments, 40, 1),
    # what an advisory can still do without
    partial(_shorter_card, 2, 300),
    partial(_fewer_checks, 6, 200),
    partial(_shorter_ledger, 100),
    partial(_fewer_covered, 6),
    partial(_shorter_card, 0, 100),
    partial(_fewer_checks, 2, 100),
    partial(_fewer_covered, 1),
    partial(_shorter_ledger, 40),
    _named_arguments,
    partial(_ledger_by_outcome, 200),
)
