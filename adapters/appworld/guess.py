"""Names the API behind a logged request, from the names that the code around it uses.

AppWorld's request log holds method and URL only, and its table of routes may not be shipped. The
function is one of those that the code names, so words decide: those of the path, and the verb
that fits the method. Given all the names of an app it finds nine of ten functions, and a cell
names few of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

__all__ = ["arguments_in_path", "best_name", "named_functions", "plain_name", "shape_of"]

CALLED = re.compile(r"\bapis\s*\.\s*(?P<app>[a-z_]\w*)\s*\.\s*(?P<name>[a-z]\w*)")
ATTRIBUTE = re.compile(r"\.\s*([a-z]\w*)")
VALUE = re.compile(r"[^a-z_]", re.IGNORECASE)
"""Marks a path segment as a value rather than a name: digits, addresses, hashes."""
FIXED = {
    ("post", "auth/token"): "login",
    ("post", "auth/logout"): "logout",
    ("post", "account"): "signup",
    ("post", "reset_password"): "reset_password",
}
FINISH = ("supervisor", "post", "message")
VERBS = {
    "get": {"show", "search", "download"},
    "post": {"create", "add", "send", "place", "write", "upload", "mark"},
    "patch": {"update", "mark"},
    "put": {"update", "set"},
    "delete": {"delete", "remove", "clear"},
}
LEAST = 0.5
"""A lower score is no answer: the path's words fit none of the names."""


def named_functions(code: str, app: str) -> frozenset[str]:
    """Return the names in a cell that may be functions of `app`.

    Those called as `apis.app.name`; and, for code such as `apis[app].login(...)`, every attribute
    name that the cell does not tie to another app.
    """
    called = CALLED.findall(code)
    own = {name for owner, name in called if owner == app}
    others = {name for owner, name in called if owner != app} | {owner for owner, _ in called}
    return frozenset(own | (set(ATTRIBUTE.findall(code)) - others))


def best_name(app: str, method: str, path: str, names: Iterable[str]) -> str | None:
    """Return the name that fits a request best, or None. `path`: behind the app's name."""
    method, path = method.lower(), path.strip("/")
    if (app, method, path) == FINISH:
        return "complete_task"
    if (method, path) in FIXED:
        return FIXED[method, path]
    scored = [(_score(method, path, name), name) for name in sorted(names)]
    score, name = max(scored, default=(0.0, ""))
    return name if score >= LEAST else None


def shape_of(path: str) -> str:
    """Return a path with a star in the place of each value."""
    return "/".join("*" if VALUE.search(word) else word for word in path.strip("/").split("/"))


def plain_name(method: str, path: str) -> str:
    """Return a name for a request whose function is not known: its words, without values."""
    words = [segment for segment in path.split("/") if segment and not VALUE.search(segment)]
    return "_".join([method, *words])


def arguments_in_path(path: str) -> dict[str, str]:
    """Return the values that stand in a path, named after the segment before them."""
    found: dict[str, str] = {}
    before = "item"
    for segment in path.strip("/").split("/"):
        if VALUE.search(segment):
            found[f"{_single(before)}_id"] = segment
        else:
            before = segment
    return found


def _score(method: str, path: str, name: str) -> float:
    segments = path.split("/")
    plain = [segment for segment in segments if not VALUE.search(segment)]
    in_path = {_single(word) for segment in plain for word in segment.split("_")}
    verb, _, rest = name.partition("_")
    words = {_single(word) for word in name.split("_")}
    undoes = method == "delete" and verb.startswith("un")
    if undoes:  # `unlike_song` is DELETE on `.../like`
        words = (words - {verb}) | {verb[2:]}
    common = in_path & words
    if not common:
        return 0.0
    likeness = 2 * len(common) / (len(in_path) + len(words))
    fits = undoes or verb in VERBS.get(method, ())
    wrong = not fits and any(verb in verbs for verbs in VERBS.values())
    ends_in_value = segments[-1] not in plain
    last = rest.rpartition("_")[2]
    plural = _single(last) != last
    return likeness + 0.25 * fits - 0.4 * wrong + 0.1 * (plural != ends_in_value)


def _single(word: str) -> str:
    if word.endswith("ies"):
        return word[:-3] + "y"
    if word.endswith("sses"):
        return word[:-2]
    return word[:-1] if word.endswith("s") and not word.endswith("ss") else word
