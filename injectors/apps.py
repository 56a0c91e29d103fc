"""Which apps an instruction names.

A proper name (Venmo, Simple Note) always counts. An ordinary word counts only in a phrase that
belongs to the app: "my phone contacts" names the phone app, "his phone number" does not; "a text
message" does, "the text of the note" does not. What stands in double quotes is a value (a title,
a message to send) and names nothing. docs/memory.md lists the phrases with the reasons.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from types import MappingProxyType

__all__ = ["GAIA2_FAMILIES", "apps_in", "families_of"]

_APPWORLD: Mapping[str, str] = MappingProxyType(
    {
        "amazon": r"\bamazon\b(?! (?:river|rain ?forest|basin))",
        "file_system": r"\bfile[ _-]?system\b|(?<![\w/])~/|\b(?:my|the) (?:downloads?|documents?|"
        r"photos?|backups?) (?:folder|directory)\b",
        "gmail": r"\bgmail\b|\be-?mails?\b(?! (?:address|id\b|of\b))(?! is\b)|\binbox\b",
        "phone": r"\bphone(?:'s)? (?:app\b|contacts?\b|alarms?\b|messages?\b|address ?book\b)|"
        r"\balarms?\b|\bcontact (?:list|book)\b|\b(?:text|voice) messages?\b|"
        r"\btext(?:ed|s)? (?:me|him|her|them|my|back)\b|\bvoicemails?\b|"
        r"(?<!the )\btext(?:ed)? (?-i:[A-Z])",
        "simple_note": r"\bsimple[ _-]?notes?\b|\bnotes? app\b|\bnote-taking\b",
        "splitwise": r"\bsplitwise\b",
        "spotify": r"\bspotify\b|\bplaylists?\b|\b(?:music|song|album) librar(?:y|ies)\b|"
        r"\bliked (?:songs|albums)\b|\bmusic player\b",
        "todoist": r"\btodoist\b|\bto-?do (?:lists?|apps?)\b",
        "venmo": r"\bvenmo\b",
    }
)
_GAIA2: Mapping[str, str] = MappingProxyType(
    {
        "cabs": r"\bcabs?\b|\btaxis?\b|"
        r"\b(?:order|book|get|cancel)(?:ed)? (?:me )?(?:a|the|my) ride\b",
        "calendar": r"\bcalendar\b|\b(?:calendar )?events?\b|\bmeetings?\b|\bappointments?\b",
        "chats": r"\bchats?\b|\bgroup conversation\b",
        "contacts": r"\bcontacts\b|\bcontact (?:list|book|details|card)\b|\baddress book\b",
        "emails": r"\be-?mails?\b(?! (?:address|id\b))|\binbox\b",
        "files": r"\bfile ?system\b|\bfolders?\b|\bdirector(?:y|ies)\b|\battachments?\b",
        "messages": r"\bmessages\b(?! to me)|\bmessages app\b|\btext messages?\b",
        "reminder": r"\breminders?\b|\bremind me\b",
        "rentaflat": r"\brent ?a ?flat\b|\bapartments?\b|\bflats?\b",
        "shopping": r"\bshopping\b|\b(?:my|the) cart\b|\bproducts?\b|\bcheck ?out\b",
    }
)
_TABLES: Mapping[str, Mapping[str, str]] = MappingProxyType(
    {"appworld": _APPWORLD, "gaia2": _GAIA2}
)
_QUOTED = re.compile(r'"[^"]*"|“[^”]*”')
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|_")

GAIA2_FAMILIES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "mail": ("emails",),
        "chat": ("chats", "messages"),
        "people": ("contacts",),
        "planning": ("calendar", "reminder"),
        "travel": ("cabs",),
        "trade": ("shopping",),
        "housing": ("rentaflat",),
        "storage": ("files",),
    }
)
"""Families for the manifest of a GAIA2 bank."""


def apps_in(instruction: str, benchmark: str, known: Iterable[str] = ()) -> tuple[str, ...]:
    """Return the apps that an instruction names, lower case, in order of name.

    `known`: apps of a benchmark without a table of phrases; their names are looked for as words.
    """
    text = _QUOTED.sub('""', instruction)
    table = _TABLES.get(benchmark) or {name.lower(): _phrase(name) for name in known}
    found = (app for app, pattern in table.items() if re.search(pattern, text, re.IGNORECASE))
    return tuple(sorted(found))


def families_of(apps: Iterable[str], families: Mapping[str, Iterable[str]]) -> frozenset[str]:
    """Return the families of some apps; an app that the table leaves out is its own."""
    home = {app.lower(): family for family, members in families.items() for app in members}
    return frozenset(home.get(app.lower(), app.lower()) for app in apps)


def _phrase(name: str) -> str:
    words = _HUMP.sub(" ", name).split()
    return r"\b" + r"[ _-]?".join(re.escape(word) for word in words) + r"\b"
