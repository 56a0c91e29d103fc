"""The modules a cell may import: sealed copies that show chosen public names and nothing else.

Runs in the cell process. A real module also shows what it imported itself (`json.codecs`,
`collections.sys`); a sealed one cannot. Names are listed, not filtered, where a module holds
functions that read attributes by name, evaluate text or touch the outside.
"""

from __future__ import annotations

import abc
import bisect
import calendar
import collections
import collections.abc
import contextlib
import copy
import csv
import dataclasses
import datetime as dt
import decimal
import difflib
import enum
import fractions
import functools
import heapq
import importlib
import io
import itertools
import json
import math
import operator
import pprint
import random
import re
import statistics
import string
import textwrap
import time
import typing
import unicodedata
from collections.abc import Callable
from types import ModuleType
from typing import Any

from adapters.gaia2.built_ins import TYPE, refusing
from adapters.gaia2.guards import NotAllowed, Sealed, read_attribute
from adapters.gaia2.makers import ENUMS, NAMED_TUPLE, dataclass, namedtuple

__all__ = ["SealedModule", "importer", "modules"]

_CLOCK = "The world's clock is apps.SystemApp.get_current_time()."
_SLEEP = "Simulated time passes with apps.SystemApp.wait_for_notification(timeout=seconds)."
_INSTEAD = {
    "apps": "`apps` is there already: write apps.Emails.send_email(...), with no import.",
    "os": "There are no files or processes here; apps.Files reads files, if it is there.",
    "sys": "print() writes the output, and a cell ends by itself after its last line.",
    "types": "Use a dict, a dataclass or a plain function.",
    "hashlib": "Compare the texts themselves; ids come from the world.",
    "warnings": "Nothing warns here: leave it out.",
    "dateutil": "Use datetime.datetime.fromisoformat() or .strptime(), and datetime.timedelta.",
    "pathlib": "Paths are plain strings here.",
    "subprocess": "There are no other programs here.",
    "threading": "Calls run one after another.",
    "asyncio": "Call functions directly, without await.",
    "requests": "There is no network; everything is reached through apps.",
    "urllib": "There is no network; everything is reached through apps.",
    "pandas": "Use lists, dicts, sorted() and statistics.",
    "numpy": "Use math and statistics.",
    "pytz": "Times of this world are UTC; use datetime.timezone.utc.",
    "zoneinfo": "Times of this world are UTC; use datetime.timezone.utc.",
    "uuid": "Ids come from the world; number your own with itertools.count().",
    "logging": "print() writes the output.",
}


class SealedModule(Sealed):
    """A module as cells see it: its names can be read, not changed."""

    __slots__ = ("__dict__", "__name__")

    def __init__(self, name: str, names: dict[str, Any]) -> None:
        self.__name__ = name
        self.__dict__.update(names)

    def __repr__(self) -> str:
        return f"<module {self.__name__!r}>"

    def __getattr__(self, name: str) -> Any:
        known = ", ".join(sorted(self.__dict__))
        raise AttributeError(f"module {self.__name__!r} has no {name!r} here. It has: {known}.")


def modules(seed: int, traceback_text: Callable[[], str]) -> dict[str, SealedModule]:
    """Return every module a cell may import, by dotted name.

    `random` is one generator seeded with `seed`, so that a cell run again gives the same result;
    `random.seed()` seeds it with that again.
    `traceback_text` words the exception that is being handled.
    """
    named = {name: _listed(module, words) for name, (module, words) in _LISTED.items()}
    named |= {name: _public(module) for name, module in _PUBLIC.items()}
    named["collections"]["abc"] = SealedModule("collections.abc", _public(collections.abc))
    named["collections"]["namedtuple"] = namedtuple
    named["copy"]["deepcopy"] = _deepcopy
    named["dataclasses"]["dataclass"] = dataclass
    named["enum"] |= ENUMS
    named["functools"]["wraps"] = _wraps
    named["typing"] |= {"NamedTuple": NAMED_TUPLE, "Type": TYPE}
    named["operator"] |= {"attrgetter": _attrgetter, "methodcaller": _methodcaller}
    named["random"] = _random(seed)
    named["time"] = {
        **_listed(time, "strptime struct_time"),
        "sleep": refusing("time.sleep()", _SLEEP),
        **{
            name: refusing(f"time.{name}()", _CLOCK)
            for name in ("time", "monotonic", "perf_counter", "time_ns", "localtime", "ctime")
        },
        "gmtime": _gmtime,
        "strftime": _strftime,
    }
    named["traceback"] = {
        "format_exc": lambda *_, **__: traceback_text(),
        "print_exc": lambda *_, **__: print(traceback_text(), end=""),  # noqa: T201 - the cell's
    }
    sealed = {name: SealedModule(name, names) for name, names in named.items()}
    return {**sealed, "collections.abc": named["collections"]["abc"]}


def importer(known: dict[str, SealedModule]) -> Callable[..., Any]:
    """Return `__import__` for cells. Refusals name what can be imported, or what to use instead."""

    def import_module(
        name: str,
        globals: Any = None,  # noqa: A002, ARG001 - the interpreter's signature
        locals: Any = None,  # noqa: A002, ARG001
        fromlist: Any = (),
        level: int = 0,  # noqa: ARG001
    ) -> Any:
        if type(fromlist) is list:  # not a statement: a library's C code, such as strptime's
            return importlib.import_module(name)
        if name == "__future__":
            return SealedModule(name, dict.fromkeys(fromlist or ()))
        if name not in known:
            top = name.partition(".")[0]
            words = _INSTEAD.get(top, f"Available: {', '.join(sorted(known))}.")
            raise ImportError(f"{name!r} cannot be imported here. {words}")
        if not fromlist:
            return known[name.partition(".")[0]]
        for item in fromlist:
            try:
                getattr(known[name], item)
            except AttributeError as error:
                raise ImportError(str(error)) from None
        return known[name]

    return import_module


def _public(module: ModuleType) -> dict[str, Any]:
    """Return the names in `__all__`, or the public ones that are not modules."""
    names = getattr(module, "__all__", None) or [
        name for name in vars(module) if not name.startswith("_")
    ]
    found = {name: getattr(module, name) for name in names}
    return {name: item for name, item in found.items() if not isinstance(item, ModuleType)}


def _listed(module: ModuleType, names: str) -> dict[str, Any]:
    return {name: getattr(module, name) for name in names.split() if hasattr(module, name)}


_PUBLIC: dict[str, ModuleType] = {
    "bisect": bisect,
    "datetime": dt,
    "decimal": decimal,
    "fractions": fractions,
    "heapq": heapq,
    "itertools": itertools,
    "math": math,
    "statistics": statistics,
    "textwrap": textwrap,
    "unicodedata": unicodedata,
}
_LISTED: dict[str, tuple[ModuleType, str]] = {
    "abc": (abc, "ABC abstractmethod"),
    "calendar": (
        calendar,
        (
            "Calendar TextCalendar monthrange monthcalendar month weekday isleap leapdays timegm "
            "day_name day_abbr month_name month_abbr MONDAY TUESDAY WEDNESDAY THURSDAY FRIDAY "
            "SATURDAY SUNDAY"
        ),
    ),
    "collections": (collections, "Counter OrderedDict defaultdict deque ChainMap"),
    "contextlib": (contextlib, "contextmanager suppress nullcontext"),
    "copy": (copy, "copy"),
    "csv": (
        csv,
        "reader writer DictReader DictWriter Error QUOTE_ALL QUOTE_MINIMAL QUOTE_NONE",
    ),
    "dataclasses": (
        dataclasses,
        (
            "field fields asdict astuple replace is_dataclass FrozenInstanceError "
            "KW_ONLY MISSING InitVar"
        ),
    ),
    "difflib": (difflib, "SequenceMatcher get_close_matches ndiff unified_diff"),
    "enum": (enum, "auto unique"),
    "functools": (
        functools,
        "reduce partial lru_cache cache cached_property cmp_to_key total_ordering",
    ),
    "io": (io, "StringIO"),
    "json": (json, "loads dumps JSONDecodeError JSONEncoder JSONDecoder"),
    "operator": (
        operator,
        (
            "add sub mul truediv floordiv mod neg pos abs eq ne lt le gt ge and_ or_ xor not_ "
            "truth contains countOf indexOf concat getitem setitem delitem itemgetter index"
        ),
    ),
    "pprint": (pprint, "pprint pformat pp"),
    "re": (
        re,
        (
            "compile match fullmatch search findall finditer sub subn split escape error Pattern "
            "Match A ASCII I IGNORECASE M MULTILINE S DOTALL X VERBOSE U UNICODE NOFLAG RegexFlag"
        ),
    ),
    "string": (
        string,
        (
            "ascii_letters ascii_lowercase ascii_uppercase digits hexdigits octdigits punctuation "
            "printable whitespace capwords Template"
        ),
    ),
    "typing": (
        typing,
        (
            "Any Optional Union List Dict Set FrozenSet Tuple Iterable Iterator Sequence Mapping "
            "Callable Generator Literal TypedDict TypeVar Generic Final ClassVar "
            "Annotated NewType TypeAlias NoReturn Self Hashable Sized Collection Counter "
            "DefaultDict Deque cast TYPE_CHECKING overload"
        ),
    ),
}


def _random(seed: int) -> dict[str, Any]:
    names = "random randint randrange uniform choice choices sample shuffle gauss"
    random.seed(seed)  # the process's own generator, since statistics draws from it, too

    def reseed(a: Any = None, version: int = 2) -> None:
        random.seed(seed if a is None else a, version)

    generator = refusing("random.Random()", "Write random.seed(1), then random.choice(...).")
    return {**_listed(random, names), "seed": reseed, "Random": generator}


def _deepcopy(value: Any, /) -> Any:
    """`copy.deepcopy` without the memo, which would keep the insides of what is copied."""
    return copy.deepcopy(value)


def _gmtime(seconds: float | None = None) -> time.struct_time:
    if seconds is None:
        raise NotAllowed(f"time.gmtime() without a time is not available here. {_CLOCK}")
    return time.gmtime(seconds)


def _strftime(pattern: str, moment: Any = None) -> str:
    if moment is None:
        raise NotAllowed(f"time.strftime() without a time is not available here. {_CLOCK}")
    return time.strftime(pattern, moment)


def _wraps(wrapped: Callable[..., Any]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """`functools.wraps` that copies what a reader sees, and nothing that was asked for by name."""

    def decorate(wrapper: Callable[..., Any]) -> Callable[..., Any]:
        for name in ("__name__", "__qualname__", "__doc__"):
            setattr(wrapper, name, getattr(wrapped, name, None))
        return wrapper

    return decorate


def _attrgetter(*names: str) -> Callable[[Any], Any]:
    def read(value: Any, path: str) -> Any:
        for name in path.split("."):
            value = read_attribute(value, name)
        return value

    if len(names) == 1:
        return lambda value: read(value, names[0])
    return lambda value: tuple(read(value, name) for name in names)


def _methodcaller(name: str, /, *args: Any, **kwargs: Any) -> Callable[[Any], Any]:
    return lambda value: read_attribute(value, name)(*args, **kwargs)
