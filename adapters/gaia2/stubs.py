"""`apps` as a cell sees it: names that lead to the world, and their documentation.

Runs in the cell process. A stub knows names and texts only; each call goes to the parent, which
decides on it, and comes back as plain data: dicts, lists, strings, numbers, booleans and None.
"""

from __future__ import annotations

import difflib
import json
from collections.abc import Callable, Iterable
from typing import Any, TypedDict

from adapters.gaia2.guards import NotAllowed, Sealed

__all__ = ["Apps", "Call", "Doc", "document"]

Call = Callable[[str, dict[str, Any]], Any]
"""Sends `App.function` with its arguments to the parent; returns the answer or raises."""

LARGEST_ARGUMENTS = 4 << 20
"""Characters of one call's arguments: a quarter of what a frame may hold."""


class Doc(TypedDict):
    """What a cell is told about one function."""

    name: str
    """`App.function`."""
    signature: str
    """`function(a: str, b: int = 0) -> list[str]`."""
    parameters: list[str]
    text: str
    """What it does, its parameters and its result."""


class Function(Sealed):
    __slots__ = ("__name__", "_call", "_doc")

    def __init__(self, doc: Doc, call: Call) -> None:
        self.__name__ = doc["name"].partition(".")[2]
        self._doc = doc
        self._call = call

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        names = self._doc["parameters"]
        if len(args) > len(names):
            raise TypeError(f"{self._doc['signature']} takes {len(names)} arguments")
        arguments = dict(zip(names, args, strict=False))
        if twice := sorted(arguments.keys() & kwargs.keys()):
            raise TypeError(f"{self.__name__}() got {twice[0]!r} twice")
        return self._call(self._doc["name"], _plain(self._doc["signature"], arguments | kwargs))

    def __repr__(self) -> str:
        return f"<function {self._doc['name']}; help(apps.{self._doc['name']}) tells more>"

    @property
    def __doc__(self) -> str:  # type: ignore[override]
        return _full(self._doc)


class App(Sealed):
    """The functions of one app."""

    __slots__ = ("_functions", "_name")

    def __init__(self, name: str, functions: dict[str, Function]) -> None:
        self._name = name
        self._functions = functions

    def __getattr__(self, name: str) -> Function:
        if name in self._functions:
            return self._functions[name]
        raise AttributeError(_unknown(f"apps.{self._name} has no function", name, self._functions))

    def __dir__(self) -> list[str]:
        return list(self._functions)

    def __repr__(self) -> str:
        return f"<app {self._name}: {', '.join(self._functions)}>"


class Apps(Sealed):
    """All apps of the task, and `docs` about them."""

    __slots__ = ("_apps",)

    def __init__(self, docs: Iterable[Doc], call: Call) -> None:
        functions: dict[str, dict[str, Function]] = {}
        for doc in docs:
            app, _, short = doc["name"].partition(".")
            functions.setdefault(app, {})[short] = Function(doc, call)
        self._apps = {name: App(name, found) for name, found in functions.items()}

    def __getattr__(self, name: str) -> App:
        if name in self._apps:
            return self._apps[name]
        raise AttributeError(_unknown("There is no app", name, self._apps))

    def __dir__(self) -> list[str]:
        return [*self._apps, "docs"]

    def __repr__(self) -> str:
        return f"<apps: {', '.join(self._apps)}>"

    def docs(self, name: str = "") -> str:
        """Return the documentation of an app ("Emails") or a function ("Emails.send_email")."""
        app, _, function = name.removeprefix("apps.").replace("__", ".").partition(".")
        if not app:
            return "\n\n".join(document(item) for item in self._apps.values())
        found = getattr(self, app)
        return document(getattr(found, function) if function else found)


def document(value: Any) -> str:
    """Return what `help(value)` prints."""
    if isinstance(value, Apps):
        return value.docs()
    if isinstance(value, App):
        return "\n\n".join(_full(item._doc) for item in value._functions.values())  # noqa: SLF001
    return str(getattr(value, "__doc__", None) or "There is no documentation for this.")


def _full(doc: Doc) -> str:
    app = doc["name"].partition(".")[0]
    return f"apps.{app}.{doc['signature']}\n{doc['text']}".rstrip()


def _unknown(what: str, name: str, known: Iterable[str]) -> str:
    names = sorted(known)
    near = difflib.get_close_matches(name, names, n=3, cutoff=0.4)
    offer = f"Nearest: {', '.join(near)}." if near else f"There are: {', '.join(names)}."
    return f"{what} {name!r}. {offer}"


def _plain(signature: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments as JSON data: tuples become lists, anything else is refused by name."""
    plain: dict[str, Any] = {}
    room = LARGEST_ARGUMENTS
    for name, value in arguments.items():
        try:
            text = json.dumps(value, allow_nan=False)
            if (room := room - len(text)) < 0:
                raise NotAllowed(f"{signature}: the arguments are too long to send.")
            plain[name] = json.loads(text)
        except (TypeError, ValueError, RecursionError):
            raise NotAllowed(
                f"{signature}: {name} is a {type(value).__name__}. Arguments are text, numbers,"
                " True, False, None, and lists or dicts of these: convert it first."
            ) from None
    return plain
