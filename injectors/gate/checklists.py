"""What to check before a write: from its kind, its arguments and its function's card.

There is no general list. A transfer is asked about amount and payee, a deletion about what goes,
and only for arguments that the call has.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from types import MappingProxyType

from injectors.cards import FunctionCard
from injectors.neutralise import plain
from runtime.catalogue import Function

__all__ = ["Checklists", "verb_class"]

_VERBS: tuple[tuple[str, re.Pattern[str]], ...] = tuple(
    (name, re.compile(rf"(^|_)({words})(_|$)"))
    for name, words in (
        ("delete", "delete|remove|rm|cancel|clear|leave|exit|unlike|unfollow|unlabel|deny|archive"),
        ("pay", "pay|purchase|buy|order|checkout|withdraw|transfer|transaction|payment|subscribe"),
        ("send", "send|reply|forward|share|invite|message|email|post|remind|notify|comment"),
        ("create", "create|add|new|record|write|upload|download|save|signup|mkdir|review|copy"),
        ("update", "update|edit|change|set|move|mv|mark|rename|assign|approve|accept|apply|label"),
    )
)
_FIRST_WORDS = {"update": "update", "edit": "update", "change": "update", "mark": "update"}

_BY_CLASS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "send": (
            "Content and tone are what the task asks for, and it was not sent before.",
            "Everyone it should reach is in the list, and nobody else.",
        ),
        "pay": (
            "Payee, amount and way of paying each come from the task or an output.",
            "It was not paid already.",
        ),
        "create": (
            "Nothing of the kind exists already.",
            "Every detail that the task states is set.",
        ),
        "update": (
            "It is the record that the task means, as it stands now.",
            "Only what the task asks to change changes.",
        ),
        "delete": (
            "It is the record that the task means: a deletion cannot be taken back.",
            "Nothing else goes with it that should stay.",
        ),
        "bulk": (
            "The set of targets is complete: every page was read and every condition applied.",
            "No target is in it twice, or was written before.",
        ),
        "finish": (
            "Every part of the task is done, or reported as blocked.",
            "The answer is the bare value asked for, or left out where none is asked for.",
        ),
    }
)
_BY_ARGUMENT: tuple[tuple[re.Pattern[str], str], ...] = (
    (
        re.compile(r"email|phone|recipient|receiver|attendee|(^|_)(to|cc|bcc)$"),
        "{name}: looked up for the person that the task means, not guessed from a name.",
    ),
    (
        re.compile(r"(^|_)(amounts?|price|tip|quantity)$"),
        "{name}: recomputed from what was read, in the right unit.",
    ),
    (
        re.compile(r"date|deadline|(^|_)(time|due|day)($|_)"),
        "{name}: the right day and year by the world's clock.",
    ),
    (re.compile(r"(^|_)ids?$"), "{name}: read in this episode, for exactly this record."),
    (re.compile(r"path$"), "{name}: the full path; what lies there is not overwritten by mistake."),
)
_MOST = 6


class Checklists:
    """Builds checklists. A user's own lists, by function or by class, replace ours."""

    def __init__(self, own: Mapping[str, Sequence[str]] | None = None) -> None:
        self._own = dict(own or {})

    def items(
        self,
        name: str,
        arguments: Sequence[str],
        *,
        card: FunctionCard | None = None,
        bulk: bool = False,
        finishing: bool = False,
    ) -> list[str]:
        """Return the checklist of one function, given the names of the arguments it is called with.

        `card`: given where its text is not shown beside the checklist.
        """
        if name in self._own:
            return list(self._own[name])
        classes = ["finish"] if finishing else [verb_class(name), *(["bulk"] if bulk else [])]
        items = [item for name_ in classes for item in self._own.get(name_, _BY_CLASS[name_])]
        items += () if finishing else _for_arguments(arguments)
        return [*_from_card(card), *items][:_MOST]

    def brief(self, function: Function | None, name: str, card: FunctionCard | None) -> list[str]:
        """Return a short checklist for a function that is covered besides the stopped one."""
        required = [item.name for item in function.parameters if item.required] if function else []
        return self.items(name, required, card=card)[:2]


def verb_class(name: str) -> str:
    """Return send, pay, create, update or delete for a function (`app.function`)."""
    short = name.rpartition(".")[2].lower()
    first = _FIRST_WORDS.get(short.partition("_")[0])
    if first:
        return first
    return next((class_ for class_, pattern in _VERBS if pattern.search(short)), "update")


def _for_arguments(arguments: Sequence[str]) -> list[str]:
    items = []
    for pattern, item in _BY_ARGUMENT:
        name = next((name for name in arguments if pattern.search(name)), None)
        if name:
            items.append(item.format(name=name))
    return items


def _from_card(card: FunctionCard | None) -> list[str]:
    if card is None:
        return []
    mistake = [f"Known mistake: {plain(text)}" for text in card.common_mistakes[:1]]
    return [*mistake, *(plain(rule) for rule in card.usage_rules[:1])]
