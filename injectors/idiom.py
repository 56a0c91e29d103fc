"""Code idioms: whether one keeps the rules, and its shape in words where it is too long to show."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator

from injectors.cards import FunctionCard

__all__ = ["idiom_problems", "idiom_shape"]

LINES = 5
_GENERIC = frozenset(
    """
    access_token acc batch found index item items n name page pages part record records result
    results row rows seen token total value values
    """.split()  # noqa: SIM905 - a list of words
)
_SHAPES: tuple[tuple[type[ast.AST], str], ...] = (
    (ast.While, "a loop that runs until told to stop"),
    (ast.For, "a loop over items"),
    (ast.If, "a check"),
    (ast.Break, "a way out of the loop"),
    (ast.Try, "a guarded call"),
    (ast.ListComp, "a list built from what matches"),
    (ast.AugAssign, "a value carried from round to round"),
)


def idiom_problems(card: FunctionCard) -> tuple[str, ...]:
    """Return a sentence for each rule that a card's idiom breaks (memory.md, section 2)."""
    if card.code_idiom is None:
        return ()
    try:
        tree = ast.parse(card.code_idiom)
    except SyntaxError as error:
        return (f"the idiom is no Python: {error.msg}",)
    return tuple(_problems(card, tree))


def idiom_shape(code: str) -> str:
    """Describe what an idiom does without showing it; "" if it is no Python."""
    try:
        nodes = list(ast.walk(ast.parse(code)))
    except SyntaxError:
        return ""
    parts = [words for kind, words in _SHAPES if any(isinstance(node, kind) for node in nodes)]
    return "; ".join((*parts, "the call with keyword arguments"))


def _problems(card: FunctionCard, tree: ast.Module) -> Iterator[str]:
    assert card.code_idiom is not None
    if len(card.code_idiom.splitlines()) > LINES:
        yield f"the idiom is longer than {LINES} lines"
    others = sorted({name for name in _calls(tree) if name != card.tool})
    if others:
        yield f"the idiom calls {', '.join(others)}, not only {card.tool}"
    if card.tool not in _calls(tree):
        yield f"the idiom does not call {card.tool}"
    words = card.model_dump_json(exclude={"code_idiom"})
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield "the idiom imports"
        elif isinstance(node, ast.Constant) and not _named(node.value, words):
            yield f"the literal {node.value!r} is not named by the card"
        elif isinstance(node, ast.Name) and not _allowed(node.id, card):
            yield f"the variable {node.id!r} is not a generic name"


def _calls(tree: ast.Module) -> list[str]:
    """Names of the form app.function in `apis.app.function`."""
    return [
        f"{node.value.attr}.{node.attr}"
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Attribute)
        and isinstance(node.value.value, ast.Name)
        and node.value.value.id == "apis"
    ]


def _named(value: object, words: str) -> bool:
    return value is None or isinstance(value, bool) or str(value) in words


def _allowed(name: str, card: FunctionCard) -> bool:
    arguments = {argument.name for argument in card.arguments}
    return name == "apis" or name in _GENERIC | arguments or hasattr(builtins, name)
