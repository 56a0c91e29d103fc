"""Which state-changing functions a cell names, read from its syntax tree without running it.

Named means: as an attribute (`apis.shop.pay`), in a string constant (`getattr(shop, "pay")`,
`exec("...")`), or through a function, class, alias or container of an earlier cell that the
source uses. The scan errs towards naming too much: a function named too often makes an advisory
longer, one that was missed makes a second stop.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from runtime.catalogue import Catalogue
from runtime.contracts import Kind

__all__ = ["CellScan", "Named"]

_PATH = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*")
_LONGEST_SOURCE = 400_000
"""Characters; a longer cell is scanned as text."""
_LONGEST_TEXT = 20_000
_DEFINITIONS = 2_000
"""Names of earlier cells that are kept."""


@dataclass(frozen=True)
class Mentions:
    """What a piece of source says, as far as function names go."""

    members: frozenset[tuple[str, str]] = frozenset()
    """(owner, attribute); the owner is "" where it is no name."""
    words: frozenset[str] = frozenset()
    """Plain names."""
    texts: frozenset[str] = frozenset()
    """String constants."""

    def __or__(self, other: Mentions) -> Mentions:
        """Join two pieces."""
        return Mentions(
            self.members | other.members, self.words | other.words, self.texts | other.texts
        )


@dataclass(frozen=True)
class Named:
    """The writes that a cell's source names."""

    writes: frozenset[str] = frozenset()
    looped: frozenset[str] = frozenset()
    """Those inside a loop, a comprehension or a callable handed on (`map`)."""


@dataclass
class CellScan:
    """Scans the cells of one episode, remembering what earlier ones defined."""

    catalogue: Catalogue
    _defined: dict[str, Mentions] = field(default_factory=dict)

    def named(self, source: str) -> Named:
        """Return the writes that `source` names."""
        tree = _parse(source)
        if tree is None:
            return Named(writes=self._writes(_text_mentions(source)))
        writes = self._writes(self._closed(_mentions(tree)))
        repeated = Mentions()
        for part in _repeated(tree):
            repeated |= _mentions(part)
        return Named(writes=writes, looped=writes & self._writes(self._closed(repeated)))

    def remember(self, source: str, *, complete: bool) -> None:
        """Keep what the source defined. After an unfinished cell the older meaning stays too."""
        tree = _parse(source)
        fresh: dict[str, Mentions] = {}
        for name, part, adds in _definitions(tree.body if tree else ()):
            known = fresh.get(name, self._defined.get(name) if adds or not complete else None)
            fresh[name] = _mentions(part) | (known or Mentions())
        for name, mentions in fresh.items():
            self._defined.pop(name, None)
            self._defined[name] = mentions
        while len(self._defined) > _DEFINITIONS:
            del self._defined[next(iter(self._defined))]

    def _closed(self, mentions: Mentions) -> Mentions:
        """Add what the used names meant in earlier cells, and what those used in turn."""
        open_, seen = set(mentions.words), set[str]()
        while open_:
            name = open_.pop()
            seen.add(name)
            earlier = self._defined.get(name)
            if earlier is not None:
                mentions |= earlier
                open_ |= earlier.words - seen
        return mentions

    def _writes(self, mentions: Mentions) -> frozenset[str]:
        context = _context(mentions)
        found: set[str] = set()
        for owner, short in mentions.members:
            exact = self.catalogue.get(f"{owner}.{short}")
            found |= {exact.name} if exact else self._by_short(short, context)
        for text in mentions.texts:
            found |= self._in_text(text, context)
        return frozenset(name for name in found if self.catalogue.kind(name) is Kind.WRITE)

    def _by_short(self, short: str, context: frozenset[str]) -> set[str]:
        """Return the functions of that short name, of the apps in view where there are any."""
        candidates = self.catalogue.by_short(short)
        near = {item.name for item in candidates if item.app in context}
        return near or {item.name for item in candidates}

    def _in_text(self, text: str, context: frozenset[str]) -> set[str]:
        """One word names a function as code does, a longer text only by `app.function`.

        A word without an underscore ("open") is an everyday word unless its app is in view.
        """
        text = text.strip()
        if text.isidentifier():
            found = self._by_short(text, context)
            return found if "_" in text else {name for name in found if _app(name) in context}
        paths = (match.group() for match in _PATH.finditer(text[:_LONGEST_TEXT]))
        pairs = (".".join(path.split(".")[-2:]) for path in paths if "." in path)
        return {pair for pair in pairs if pair in self.catalogue.functions}


def _app(name: str) -> str:
    return name.partition(".")[0]


def _parse(source: str) -> ast.Module | None:
    if len(source) > _LONGEST_SOURCE:
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # "\d" in the agent's code is the agent's business
        try:
            return ast.parse(source)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return None


def _text_mentions(source: str) -> Mentions:
    """Mentions of a source that does not parse here (another Python, a shell magic)."""
    members = set()
    for path in _PATH.findall(source):
        parts = path.split(".")
        members |= {(parts[i], parts[i + 1]) for i in range(len(parts) - 1)}
    return Mentions(members=frozenset(members))


def _mentions(tree: ast.AST) -> Mentions:
    members: set[tuple[str, str]] = set()
    words: set[str] = set()
    texts: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            members.add((_last_name(node.value), node.attr))
        elif isinstance(node, ast.Name):
            words.add(node.id)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            texts.add(node.value)
    return Mentions(frozenset(members), frozenset(words), frozenset(texts))


def _last_name(node: ast.expr) -> str:
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def _context(mentions: Mentions) -> frozenset[str]:
    """Return every word that may name an app."""
    attributes = {name for pair in mentions.members for name in pair}
    return mentions.words | attributes | mentions.texts


_LOOPS = (ast.For, ast.AsyncFor, ast.While)


def _repeated(tree: ast.AST) -> Iterator[ast.AST]:
    """Yield the parts of a source that may run more than once."""
    for node in ast.walk(tree):
        if isinstance(node, _LOOPS):
            yield from node.body
        elif isinstance(node, ast.DictComp):
            yield from (node.key, node.value)
        elif isinstance(node, ast.ListComp | ast.SetComp | ast.GeneratorExp):
            yield node.elt
        elif isinstance(node, ast.Call):
            yield from (item for item in node.args if isinstance(item, ast.Lambda | ast.Attribute))


def _definitions(body: Iterable[ast.stmt]) -> Iterator[tuple[str, ast.AST, bool]]:
    """Yield (name, what it means, whether that adds to an older meaning) at module level."""
    for statement in body:
        if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield statement.name, statement, False
            yield from _globals_of(statement)
            continue
        yield from _bindings(statement)
        for block in ("body", "orelse", "finalbody"):
            yield from _definitions(getattr(statement, block, ()))
        for handler in getattr(statement, "handlers", ()):
            yield from _definitions(handler.body)
        for case in getattr(statement, "cases", ()):
            yield from _definitions(case.body)


def _globals_of(definition: ast.AST) -> Iterator[tuple[str, ast.AST, bool]]:
    for node in ast.walk(definition):
        if isinstance(node, ast.Global):
            yield from ((name, definition, True) for name in node.names)


def _bindings(statement: ast.stmt) -> Iterator[tuple[str, ast.AST, bool]]:
    if isinstance(statement, ast.Assign):
        yield from _targets(statement.targets, statement.value)
    elif isinstance(statement, ast.AnnAssign | ast.AugAssign) and statement.value is not None:
        adds = isinstance(statement, ast.AugAssign)
        yield from _targets([statement.target], statement.value, adds=adds)
    elif isinstance(statement, ast.For | ast.AsyncFor):
        yield from _targets([statement.target], statement.iter)
    elif isinstance(statement, ast.With | ast.AsyncWith):
        for item in statement.items:
            if item.optional_vars is not None:
                yield from _targets([item.optional_vars], item.context_expr)
    elif isinstance(statement, ast.Expr):
        yield from _mutated(statement.value)
    for node in ast.walk(statement):
        if isinstance(node, ast.NamedExpr):
            yield node.target.id, node.value, False


def _targets(
    targets: Iterable[ast.expr], value: ast.AST, *, adds: bool = False
) -> Iterator[tuple[str, ast.AST, bool]]:
    """A name is bound anew; `d[k] = v` and `o.a = v` add to what `d` and `o` mean."""
    for target in targets:
        for node in ast.walk(target):
            if isinstance(node, ast.Name):
                yield node.id, value, adds or isinstance(node.ctx, ast.Load)


def _mutated(value: ast.expr) -> Iterator[tuple[str, ast.AST, bool]]:
    """`actions.append(apis.shop.pay)` adds to what `actions` means."""
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute):
        owner = value.func.value
        if isinstance(owner, ast.Name) and (value.args or value.keywords):
            yield owner.id, value, True
