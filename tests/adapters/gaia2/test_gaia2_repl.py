"""What a cell may not reach, how it is told so, and what comes back of a cell."""

from __future__ import annotations

from typing import Any

import pytest

from adapters.gaia2.repl import NOTHING_PRINTED, Session
from adapters.gaia2.stubs import Doc

DOCS: list[Doc] = [
    {
        "name": f"{app}.{function}",
        "signature": f"{function}(a: str, b: int = 0) -> str",
        "parameters": ["a", "b"],
        "text": f"Does {function}.",
    }
    for app, function in (
        ("Emails", "send_email"),
        ("Emails", "list_emails"),
        ("Calendar", "add_event"),
    )
]


class Recorder:
    def __init__(self) -> None:
        self.calls: list[tuple[str, dict[str, Any]]] = []

    def __call__(self, name: str, arguments: dict[str, Any]) -> Any:
        self.calls.append((name, arguments))
        return {"title": "Lunch", "people": ["Eve"]}


def run(source: str, *before: str) -> str:
    cells = Session(DOCS, Recorder())
    for cell in before:
        cells.execute(cell)
    return cells.execute(source)


INJECTED = (
    "from dataclasses import dataclass\n"
    "N = \"a,)\\n print('LE' 'AK')\\n def w():\\n  if 1:\\n   return (0\"\n"
)
FRAME_BY_POSITION = """
g = (x for x in [1])
class P(A, Sized): pass
P.register(type(g))
match g:
    case P(f): print('LE' 'AK', f)
"""
WAYS_OUT = {
    "dunder attribute": "().__class__.__base__.__subclasses__()",
    "globals of a function": "def f(): pass\nf.__globals__",
    "globals of a library function": "import json\njson.dumps.__globals__",
    "getattr with a built name": "getattr(print, '__se' + 'lf__')",
    "getattr with a str subclass": (
        "class S(str):\n    def startswith(self, *a):\n        return False\n"
        "getattr(print, S('__self__'))"
    ),
    "map over getattr": "list(map(getattr, [print], ['__self__']))",
    "attrgetter": "from operator import attrgetter\nattrgetter('__self__')(print)",
    "dotted attrgetter": "import operator\noperator.attrgetter('title.__self__')('a')",
    "methodcaller": "from operator import methodcaller\nmethodcaller('__subclasses__')(object)",
    "format string attribute": "'{0.__self__}'.format(print)",
    "format string through the class": "str.format('{0.__self__}', print)",
    "format_map": "'{p.__self__}'.format_map({'p': print})",
    "nested format field": "'{0:{1.__self__}}'.format(1, print)",
    "format of a str subclass": "class S(str): pass\nS('{0.__self__}').format(print)",
    "format by super": (
        "class S(str):\n    def f(self, *a):\n        return super().format(*a)\n"
        "S('{0.__self__}').f(print)"
    ),
    "format by map": "list(map(str.format, ['{0.__self__}'], [print]))",
    "format by a kind of super": (
        "class S(super): pass\nclass T(str): pass\nS(T, T('{0.__self__}')).format(print)"
    ),
    "format through a type": (
        "from typing import Annotated\nAnnotated[str, 1].format('{0.__self__}', print)"
    ),
    "format through a generic": "type(list[int])(str, int).format('{0.__self__}', print)",
    "percent format": "'%(p.__self__)s' % {'p': print}",
    "template": "import string\nstring.Template('${p.__self__}').substitute(p=print)",
    "reduce over getattr": "import functools\nfunctools.reduce(getattr, ['__self__'], print)",
    "partial of getattr": "import functools\nfunctools.partial(getattr, print)('__self__')",
    "sorted by attrgetter": (
        "from operator import attrgetter\nsorted([print, len], key=attrgetter('__self__'))"
    ),
    "json default": (
        "import json\nfrom operator import attrgetter\n"
        "json.dumps([print], default=attrgetter('__self__'))"
    ),
    "re.sub with a function": (
        "import re\nre.sub('__self__', lambda m: getattr(print, m.group()).x, '__self__')"
    ),
    "dataclasses.replace": (
        "from dataclasses import dataclass, replace\n@dataclass\nclass P:\n    n: int\n"
        "replace(P(1), __class__=int)"
    ),
    "copy.replace": "from copy import replace",
    "singledispatch": "from functools import singledispatch",
    "singledispatchmethod": "from functools import singledispatchmethod",
    "cached_property": (
        "from functools import cached_property\nclass C:\n"
        "    n = cached_property(lambda self: getattr(self, '__dict__'))\nC().n"
    ),
    "f-string with attributes": "f'{print.__self__}'",
    "string.Formatter": "import string\nstring.Formatter().format('{0.__self__}', print)",
    "__wrapped__": (
        "import functools\n@functools.lru_cache\ndef f(): pass\nf.__wrapped__.__globals__"
    ),
    "wraps that copies more": "import functools\nfunctools.wraps(print, ('__self__',))",
    "update_wrapper": "import functools\nfunctools.update_wrapper(print, print)",
    "generator frame": "g = (x for x in [1])\ng.gi_frame.f_globals",
    "generator frame by getattr": "g = (x for x in [1])\ngetattr(g, 'gi_' + 'frame')",
    "generator code": "g = (x for x in [1])\ngetattr(g, 'gi_code')",
    "traceback of an exception": (
        "try:\n    1 / 0\nexcept Exception as e:\n    e.__traceback__.tb_frame"
    ),
    "traceback in __exit__": (
        "class C:\n    def __enter__(self): pass\n    def __exit__(self, k, e, tb):\n"
        "        getattr(tb, 'tb_' + 'frame')\nwith C():\n    1 / 0"
    ),
    "object of an attribute error": (
        "try:\n    print.nope\nexcept AttributeError as e:\n    print('LE' 'AK', e.obj)"
    ),
    "class body with a dunder": "class C:\n    __getattribute__ = None",
    "method with a dunder": "class C:\n    def __getattr__(self, n): return n",
    "subclass hook": "class C:\n    def __init_subclass__(cls): pass",
    "metaclass": "class M: pass\nclass C(metaclass=M): pass",
    "type with three arguments": "type('C', (), {'__getattr__': None})",
    "type of a class": "type(int)('C', (), {})",
    "class of a class": "int.__class__",
    "decorator that reads": "import operator\n@operator.attrgetter('__globals__')\ndef f(): pass",
    "match on a dunder": "match print:\n    case object(__self__=s): print('LE' 'AK', s)",
    "match on a frame": (
        "from collections.abc import Generator\ng = (x for x in [1])\n"
        "match g:\n    case Generator(gi_frame=f): print('LE' 'AK', f)"
    ),
    "match on str.format": (
        "match '{0.__self__}':\n    case str(format=f): print('LE' 'AK', f(print))"
    ),
    "match on the wall clock": (
        "from datetime import datetime\nmatch datetime(2024, 1, 1):\n"
        "    case datetime(now=n): print('LE' 'AK', n())"
    ),
    "match on the object of an error": (
        "try:\n    print.nope\nexcept Exception as e:\n    match e:\n"
        "        case AttributeError(obj=o): print('LE' 'AK', o)"
    ),
    "match on a private value": "match 1:\n    case print.__self__: pass",
    "match on a private key": "match {}:\n    case {print.__self__: x}: pass",
    "match on the class of a private value": "match 1:\n    case apps._apps.X(): pass",
    "match on str.format as a value": "match 1:\n    case str.format: pass",
    "match by position on a frame": (
        "from collections import namedtuple\nfrom collections.abc import Sized\n"
        f"A = namedtuple('A', ['gi_frame'])\n{FRAME_BY_POSITION}"
    ),
    "match by position on a frame, renamed": (
        "from collections import namedtuple\nfrom collections.abc import Sized\n"
        f"A = namedtuple('A', ['gi_frame'], rename=True)\n{FRAME_BY_POSITION}"
    ),
    "match by position on a frame, typed": (
        "from typing import NamedTuple\nfrom collections.abc import Sized\n"
        f"A = NamedTuple('A', [('gi_frame', int)])\n{FRAME_BY_POSITION}"
    ),
    "match by position on the wall clock": (
        "from dataclasses import dataclass\nfrom datetime import datetime\n"
        "@dataclass(init=False)\nclass P(datetime):\n    now: int\n"
        "match P(2024, 1, 1):\n    case P(n): print('LE' 'AK', n())"
    ),
    "match args of an enum": (
        "from enum import Enum\nE = Enum('E', {'__match_args__': ('__class__',), 'A': 1})\n"
        "match E.A:\n    case E(c): print('LE' 'AK', c)"
    ),
    "match args by __slots__": "class C:\n    __slots__ = ('__match_args__',)",
    "computed __slots__": "class C:\n    __slots__ = '__match' + '_args__'",
    "virtual subclass": "from collections.abc import Sized\nSized.register(int)",
    "virtual subclass of one's own": (
        "from abc import ABC\nclass C(ABC): pass\ngetattr(C, 'register')(int)"
    ),
    "virtual subclass by match": (
        "from abc import ABC\nmatch ABC:\n    case object(register=r): print('LE' 'AK', r)"
    ),
    "code in a field's name": (
        f"{INJECTED}from typing import TypedDict\nT = TypedDict('T', {{N: int}})\n"
        "dataclass(init=False, repr=False, eq=True)(T)"
    ),
    "code in a field's name, of an enum": (
        f"{INJECTED}from enum import Enum\nE = Enum('E', {{'__annotations__': {{N: int}}}})\n"
        "dataclass(init=False, repr=False, eq=True)(E)"
    ),
    "code in a field's name, of a namedtuple": (
        f"{INJECTED}from collections import namedtuple\nnamedtuple('T', [N])"
    ),
    "code in a field's name, of a NamedTuple": (
        f"{INJECTED}from typing import NamedTuple\nNamedTuple('T', [(N, int)])"
    ),
    "code in a class's name": (f"{INJECTED}from collections import namedtuple\nnamedtuple(N, 'a')"),
    "a field's name that answers for itself": (
        f"{INJECTED}from typing import TypedDict\nclass S(str):\n"
        "    def isidentifier(self): return True\n"
        "dataclass(TypedDict('T', {S('a'): int}))"
    ),
    "field read as str.format": (
        "from dataclasses import dataclass, asdict\n"
        "@dataclass(init=False, repr=False, eq=False)\nclass P(str):\n    format: int\n"
        "print('LE' 'AK', asdict(P('{0.__self__}'))['format'](print))"
    ),
    "dataclass of a library's class": (
        "import json\nfrom dataclasses import dataclass\ndataclass(json.JSONEncoder)"
    ),
    "type of a field that evaluates": (
        "from dataclasses import dataclass, fields\nfrom typing import TypedDict\n"
        'class T(TypedDict):\n    a: \'print("LE" "AK")\'\n'
        "fields(dataclass(init=False)(T))[0].type.evaluate()"
    ),
    "dunder member of an enum": "from enum import Enum\nEnum('E', {'__reduce_ex__': 1})",
    "dunder member of an enum, in pairs": "from enum import Enum\nEnum('E', [('__copy__', 1)])",
    "dunder member of an enum, in words": "from enum import Flag\nFlag('E', names='A __copy__')",
    "dunder member of an enum, by a base": (
        "from enum import Enum\nclass Base(Enum): pass\nBase('E', {'__getattribute__': 1})"
    ),
    "dunder member of an enum, by its maker": (
        "from enum import Enum\nclass Base(Enum): pass\n"
        "getattr(Base, '_create_')('E', {'__copy__': 1})"
    ),
    "dunder member of an enum, by the library's own": (
        "from enum import Enum\nclass Base(Enum): pass\nBase.mro()[2]('E', {'__copy__': 1})"
    ),
    "built-ins as an enum": (
        "from enum import Enum\nclass Base(Enum): pass\n"
        "E = getattr(Base, '_convert_')('E', 'builtins', lambda n: n == 'open')\n"
        "print('LE' 'AK', E.open.value)"
    ),
    "a metaclass's private method": ("from abc import ABC\nclass P(ABC): pass\nP._dump_registry()"),
    "a library's private method": (
        "from enum import Enum\nclass E(Enum):\n    A = 1\ngetattr(E, '_new_member_')"
    ),
    "classes behind a class, by match": (
        "match int:\n    case object(mro=m): print('LE' 'AK', m())"
    ),
    "member's name that answers for itself": (
        "from enum import Enum\nclass S(str):\n    def startswith(self, *a): return False\n"
        "Enum('E', [(S('__copy__'), 1)])"
    ),
    "field named after a frame": (
        "from dataclasses import dataclass\n@dataclass\nclass P:\n    gi_frame: int"
    ),
    "make_dataclass": "from dataclasses import make_dataclass",
    "type hints that evaluate": "import typing\ntyping.get_type_hints",
    "submodule of json": "import json\njson.codecs",
    "submodule of re": "import re\nre.enum.sys",
    "submodule of collections": "import collections\ncollections.sys",
    "submodule of datetime": "from datetime import sys",
    "submodule of statistics": "import statistics\nstatistics.sys",
    "module dict": "import json\njson.__dict__",
    "import by name": "__import__('os')",
    "builtins": "__builtins__",
    "builtins by import": "import builtins",
    "eval": "eval('1')",
    "exec": "exec('x = 1')",
    "compile": "compile('1', 'a', 'eval')",
    "open": "open('/etc/passwd')",
    "globals": "globals()",
    "the guard itself": "_getattr_ = getattr",
    "the guard as a parameter": "def f(_getattr_): pass",
    "the guard by import": "import json as _getattr_",
    "the guard by match": "match 1:\n    case _write_: pass",
    "the guard by global": "def f():\n    global _getattr_\n    _getattr_ = 1",
    "the guard by except": "try:\n    1 / 0\nexcept Exception as _getattr_: pass",
    "the guard by for": "for _getattr_ in [1]: pass",
    "the guard by with": "from contextlib import nullcontext\nwith nullcontext(1) as _write_: pass",
    "the guard by class": "class _getattr_: pass",
    "inside of a stub": "apps.Emails.send_email._call",
    "inside of apps": "apps._apps",
    "class of a stub": "type(apps)",
    "change a stub": "apps.Emails.send_email = 1",
    "change a module": "import json\njson.dumps = None",
    "change a built-in class": "Exception.title = 1",
    "setattr of a dunder": "class C: pass\nsetattr(C, '__getattr__', 1)",
    "delete an attribute of a module": "import json\ndel json.dumps",
    "wall clock": "import datetime\ndatetime.datetime.now()",
    "wall clock by getattr": "from datetime import date\ngetattr(date, 'today')()",
    "wall clock by super": (
        "from datetime import datetime\nclass D(datetime):\n"
        "    def f(self): return super().now()\nD(2024, 1, 1).f()"
    ),
    "wall clock through a type": (
        "from datetime import datetime\nfrom typing import Annotated\nAnnotated[datetime, 1].now()"
    ),
    "sleep": "import time\ntime.sleep(1)",
    "async": "async def f(): pass",
    "except star": "try:\n    pass\nexcept* ValueError:\n    pass",
    "star import": "from json import *",
    "relative import": "from . import repl",
    "vars of a module": "import json\nvars(json)",
    "object.__setattr__": "object.__setattr__(apps, 'x', 1)",
    "inside of apps through a generic": (
        "class G(type(list[int])): pass\nprint('LE' 'AK', G(apps, ())._apps)"
    ),
    "inside of a module by a copy's memo": "import copy, json\ncopy.deepcopy(json, {})",
    "inside of a method by mangling": (
        "class App:\n    def f(self): return apps.Emails.__functions\nApp().f()"
    ),
    "metaclass by its base": "class M(type): pass",
    "metaclass by an annotation's base": "class M(type[int]): pass",
    "metaclass by a typing base": "from typing import Type\nclass M(Type): pass",
    "metaclass by a typing annotation's base": "import typing\nclass M(typing.Type[int]): pass",
    "classes behind a class, by typing": "from typing import Type\nType[int].mro(bool)",
    "type by its annotation": "type[int]('C', (), {})",
    "type by its typing annotation": "from typing import Type\nType[int]('C', (), {})",
    "slots by an annotation": "class C:\n    __slots__: tuple = ('__match_args__',)",
    "match args of a class": "class C:\n    __match_args__ = ('__class__',)",
    "dunder of a class, outside of one": "__getattr__ = print",
    "dunder method outside of a class": "__call__ = print",
    "globals of a cell's own function": "def f(): pass\ngetattr(f, '__globals__')",
    "wrapped function of a cell's own": (
        "from contextlib import contextmanager\n@contextmanager\ndef f(): yield\n"
        "getattr(f, '__wrapped__')"
    ),
    "class keyword beside total": "class C(total=False, metaclass=type): pass",
    "frame of a cause": (
        "try:\n    try:\n        1 / 0\n    except ArithmeticError as e:\n"
        "        raise ValueError from e\nexcept ValueError as e:\n"
        "    getattr(e.__cause__, '__traceback__').tb_frame"
    ),
    "cause of what is no exception": "getattr(print, '__context__')",
    "class of a copied stub": "import copy\ncopy.copy(apps).__class__",
}


@pytest.mark.parametrize("way", WAYS_OUT)
def test_a_way_out_is_refused(way: str) -> None:
    cells = Session(DOCS, Recorder())
    output = cells.execute(WAYS_OUT[way])
    assert cells.ended_by == "raised", output
    assert "LEAK" not in output


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("x = 1\nasync def f(): pass", ["Line 2", "async def", 'plain "def"']),
        ("a.__dict__\nclass C(metaclass=M): pass", ["Line 1", "__dict__", "Line 2", "metaclass"]),
        ("a.__dict__", ["vars(value)", "to read", "setattr(value, name, item)"]),
        ("class A: pass\nvars(A()).update(x=1)", ["a copy", "setattr(value, name, item)"]),
        ("class A: pass\nv = vars(A())\nv['x'] = 1", ["a copy", "setattr(value, name, item)"]),
        ("class A: pass\nv = vars(A())\nv |= {'x': 1}", ["a copy"]),
        ("object.__setattr__(a, 'x', 1)", ["setattr(value, name, item)", "frozen=True"]),
        ("max({}, key={}.__getitem__)", ["value.get", "lambda key: value[key]"]),
        ("import random\nrandom.Random(1)", ["random.seed(1)", "random.choice(...)"]),
        ("from random import Random\nRandom(1)", ["random.seed(1)"]),
        ("def f(): pass\nf._seen", ["private"]),
        ("a.__x", ["one underscore"]),
        ("class M(type): pass", ["class of classes", "class decorator"]),
        ("class C:\n    def __new__(cls): pass", ["__new__", "__init__"]),
        ("class C:\n    def __get__(self): pass", ["__get__", "Leave it out"]),
        ("match 1:\n    case int(format=f): pass", ["format", "case x if x.format"]),
        ("from apps import Emails", ["there already", "apps.Emails.send_email(...)"]),
        ("import apps", ["there already"]),
        ("'x' in globals()", ["globals()", "except NameError"]),
        ("dir()", ["dir()", "except NameError"]),
        ("vars()", ["vars()", "except NameError"]),
        ("Exception.__init__(1, 2)", ["__init__", "super().__init__(...)"]),
        ("exit()", ["exit()", "ends by itself"]),
        ("import sys\nsys.exit()", ["sys", "ends by itself"]),
        ("import types", ["dataclass"]),
        ("import hashlib", ["hashlib", "ids come from the world"]),
        ("from dateutil import parser", ["dateutil", "fromisoformat"]),
        ("import warnings", ["leave it out"]),
        ("import os", ["os", "apps.Files"]),
        ("import pandas as pd", ["pandas", "sorted()"]),
        ("import nothing_like_it", ["nothing_like_it", "Available: ", "json"]),
        ("from json import dump", ["json", "dump", "dumps"]),
        ("import time\ntime.sleep(5)", ["time.sleep()", "wait_for_notification(timeout"]),
        ("import datetime\ndatetime.datetime.now()", ["datetime.now()", "get_current_time()"]),
        ("open('notes.txt')", ["open()", "apps.Files"]),
        ("input('who?')", ["input()", "send_message_to_user"]),
        ("r = apps.Emails.send_email('a')\nr.title", ["value['title']", "value.title"]),
        ("[].get('a')", ["list", "Take an item"]),
        ("apps.Emails.send_mail('a')", ["apps.Emails", "send_mail", "send_email"]),
        ("apps.Email.send_email('a')", ["Email", "Nearest: Emails"]),
        ("apps.Emails.send_email('a', 1, 2)", ["send_email(a: str, b: int = 0)", "2 arguments"]),
        ("apps.Emails.send_email('a', a='b')", ["'a'", "twice"]),
        ("apps.Emails.send_email({1, 2})", ["a is a set", "convert it first"]),
        ("d = {}\nd.x = 1", ["dict", "value['key']"]),
    ],
)
def test_a_refusal_says_what_to_write_instead(source: str, words: list[str]) -> None:
    output = run(source)
    for word in words:
        assert word in output


@pytest.mark.parametrize(
    "read",
    [
        "print, '__self__'",
        "(x for x in []), 'gi_frame'",
        "AttributeError(), 'obj'",
        "apps, '_apps'",
        "Tidy, '_dump_registry'",
        "run, '__globals__'",
    ],
)
def test_a_default_stands_in_for_what_a_cell_may_not_read(read: str) -> None:
    source = "from abc import ABC\nclass Tidy(ABC): pass\ndef run(): pass\n"
    assert run(f"{source}print(getattr({read}, 'nothing'))") == "nothing\n"


def test_a_refused_cell_has_not_run_at_all() -> None:
    recorder = Recorder()
    Session(DOCS, recorder).execute("apps.Emails.send_email('a')\nx.__dict__")
    assert recorder.calls == []


def test_positional_and_keyword_arguments_reach_the_world_by_name() -> None:
    recorder = Recorder()
    Session(DOCS, recorder).execute("apps.Emails.send_email('x', b=(1, 2))")
    assert recorder.calls == [("Emails.send_email", {"a": "x", "b": [1, 2]})]


def test_a_cell_that_prints_nothing_says_so() -> None:
    assert run("x = 1") == NOTHING_PRINTED


def test_a_traceback_shows_the_cells_own_lines_and_keeps_what_was_printed() -> None:
    output = run("print('before')\nf(0)", "def f(n):\n    return 1 / n")
    assert output == (
        "before\nTraceback (most recent call last):\n"
        '  File "<cell 2>", line 2, in <module>\n    f(0)\n'
        '  File "<cell 1>", line 2, in f\n    return 1 / n\n'
        "ZeroDivisionError: division by zero\n"
    )


def test_a_traceback_of_a_library_has_no_library_frames() -> None:
    output = run("import json\njson.loads('{')")
    assert output.count("File ") == 1
    assert "JSONDecodeError" in output


def test_a_chained_traceback_has_cell_frames_only() -> None:
    output = run(
        "try:\n    apps.Nope\nexcept AttributeError as e:\n    raise ValueError('x') from e"
    )
    assert "/adapters/" not in output
    assert "direct cause" in output


def test_a_syntax_error_shows_line_and_place() -> None:
    assert run("x = 1\ny = (") == (
        "  File \"<cell 1>\", line 2\n    y = (\n        ^\nSyntaxError: '(' was never closed\n"
    )


def test_exit_ends_the_cell_only() -> None:
    assert "SystemExit" in run("raise SystemExit(1)")
    assert run("print(1)", "raise SystemExit(1)") == "1\n"


def test_a_huge_output_is_cut_and_says_so() -> None:
    output = run("for _ in range(30):\n    print('x' * 100_000)")
    assert len(output) < 1_100_000
    assert output.endswith("more characters cut")


def test_lone_surrogates_can_be_sent_on() -> None:
    assert run("print('\\ud800')").encode() == b"\\ud800\n"


def test_output_after_a_stop_is_dropped() -> None:
    def stop(name: str, arguments: dict[str, Any]) -> Any:
        cells.output.stop_listening()
        raise RuntimeError("stopped")

    cells = Session(DOCS, stop)
    source = "print('a')\ntry:\n    apps.Emails.send_email('x')\nfinally:\n    print('b')"
    assert cells.execute(source) == "a\n"


def test_help_and_docs_tell_about_a_function_and_an_app() -> None:
    one = "apps.Emails.send_email(a: str, b: int = 0) -> str\nDoes send_email.\n"
    assert run("help(apps.Emails.send_email)") == one
    assert run("print(apps.docs('Emails.send_email'))") == one
    assert run("print(apps.Emails.send_email.__doc__)") == one
    assert "Does list_emails." in run("help(apps.Emails)")
    assert "add_event" not in run("print(apps.docs('Emails'))")
    assert run("print(dir(apps), dir(apps.Calendar))") == (
        "['Calendar', 'Emails', 'docs'] ['add_event']\n"
    )


def test_answers_are_plain_dicts_and_lists() -> None:
    source = "r = apps.Emails.list_emails('x')\nprint(type(r).__name__, r['people'][0])"
    assert run(source) == "dict Eve\n"
