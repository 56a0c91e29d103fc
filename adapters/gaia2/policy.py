"""What a cell may say: RestrictedPython's rules, widened to everyday Python.

Runs in the cell process. Three things stay refused, each with the line and what to write instead:
names that reach into the interpreter (dunders, frames), constructs that the process cannot honour
(async), and imports of anything that is not on the list (refused when the import runs).

Items, iteration, unpacking and calls are left to Python: the cell holds no object whose items are
secret. Reading an attribute becomes `_getattr_(a, "b")`, writing one `_write_(a).b = c`.
"""

# ruff: noqa: N802, N815 - visitors are named after the nodes they visit

from __future__ import annotations

import ast
import re
from types import CodeType
from typing import ClassVar

from RestrictedPython.transformer import INSPECT_ATTRIBUTES, RestrictingNodeTransformer

__all__ = ["NAMEDTUPLE_API", "READABLE_DUNDERS", "SUPER_METHODS", "NotPossible", "compile_cell"]

READABLE_DUNDERS = frozenset({"__class__", "__doc__", "__name__", "__qualname__"})
"""Dunder attributes that give away a name or a type and nothing else."""
SUPER_METHODS = frozenset(
    {"__init__", "__post_init__", "__str__", "__repr__", "__eq__", "__hash__", "__len__"}
    | {"__getitem__", "__setitem__", "__contains__", "__enter__", "__exit__"}
)
"""Dunder methods that may be called on `super()`."""
NAMEDTUPLE_API = frozenset({"_asdict", "_replace", "_fields", "_make"})

OWN_METHODS = frozenset(
    f"__{name}__"
    for names in (
        "init post_init str repr hash bool len iter next contains call enter exit reversed",
        "getitem setitem delitem eq ne lt le gt ge add radd iadd sub rsub isub mul rmul imul",
        "truediv rtruediv floordiv mod pow neg abs and or xor invert int float index round",
    )
    for name in names.split()
)
"""Dunder methods a class may define: none decides how attributes are found or classes are made."""

_INTERNAL = re.compile(r"^_\w*_$")

_INSTEAD = {
    "AsyncFunctionDef": '"async def" is not available. Write a plain "def": calls run in order.',
    "Await": '"await" is not available. Call the function directly.',
    "AsyncFor": '"async for" is not available. Write a plain "for".',
    "AsyncWith": '"async with" is not available. Write a plain "with".',
    "TryStar": '"except*" is not available. Write a plain "except".',
}


class NotPossible(SyntaxError):
    """A cell that was refused before it ran. Its text lists every refusal, a line each."""


class CellPolicy(RestrictingNodeTransformer):
    """Checks and rewrites the tree of one cell."""

    _module_level: ClassVar[frozenset[str]] = frozenset({"__name__"})

    def refuse(self, node: ast.AST, words: str) -> None:
        """Note a refusal with its line."""
        self.errors.append(f"Line {getattr(node, 'lineno', '?')}: {words}")

    def not_allowed(self, node: ast.AST) -> None:
        """Refuse a construct as a whole."""
        kind = type(node).__name__
        self.refuse(node, _INSTEAD.get(kind, f"{kind} is not available. Write it in plain Python."))

    # names

    def check_name(
        self,
        node: ast.AST,
        name: str | None,
        allow_magic_methods: bool = False,
    ) -> None:
        """Refuse a name that the guards use or that a frame would answer to."""
        if name is None or name == "_":
            return
        if allow_magic_methods and name in OWN_METHODS:
            return
        if name.startswith("__") or (name.startswith("_") and name.endswith("_")):
            self.refuse(node, f'the name "{name}" is reserved. Choose one without "__".')
        elif name in INSPECT_ATTRIBUTES:
            self.refuse(node, f'the name "{name}" is reserved. Choose another.')

    def visit_Name(self, node: ast.Name) -> ast.AST:
        """Check the name; `print` is an ordinary function here, and `__name__` may be read."""
        if not (isinstance(node.ctx, ast.Load) and node.id in self._module_level):
            self.check_name(node, node.id)
        return self.node_contents_visit(node)

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        """Turn reads into `_getattr_(a, "b")` and writes into `_write_(a).b`."""
        reading = isinstance(node.ctx, ast.Load)
        self._check_attribute(node, node.attr, reading=reading)
        node = self.node_contents_visit(node)
        guard = ast.Name("_getattr_" if reading else "_write_", ast.Load())
        if reading:
            read = ast.Call(guard, [node.value, ast.Constant(node.attr)], [])
            return ast.fix_missing_locations(ast.copy_location(read, node))
        node.value = ast.copy_location(ast.Call(guard, [node.value], []), node.value)
        return ast.fix_missing_locations(node)

    def _check_attribute(self, node: ast.AST, name: str, *, reading: bool) -> None:
        if name in INSPECT_ATTRIBUTES:
            self.refuse(node, f'".{name}" reaches into the interpreter and is not available.')
        elif name.startswith("__"):
            if not (reading and name in READABLE_DUNDERS | SUPER_METHODS):
                self.refuse(node, f'".{name}" is not available. Use a public method or function.')
        elif _INTERNAL.match(name) and name != "_":
            self.refuse(node, f'the attribute name ".{name}" is reserved. Choose another.')

    # what RestrictedPython guards and we leave to Python

    def guard_iter(self, node: ast.AST) -> ast.AST:
        """Leave `for` and comprehensions as they are."""
        return self.node_contents_visit(node)

    def visit_Assign(self, node: ast.Assign) -> ast.AST:
        """Leave unpacking as it is."""
        return self.node_contents_visit(node)

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.AST:
        """Leave `x += 1`, `d[k] += 1` and (guarded) `a.x += 1`: each part is evaluated once."""
        return self.node_contents_visit(node)

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        """Leave items as they are."""
        return self.node_contents_visit(node)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        """Leave `*args` and `**kwargs` as they are."""
        return self.node_contents_visit(node)

    def visit_With(self, node: ast.With) -> ast.AST:
        """Leave `with ... as (a, b)` as it is."""
        return self.node_contents_visit(node)

    # what RestrictedPython refuses and we allow

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        """Allow annotated assignment, and so dataclasses."""
        return self.node_contents_visit(node)

    def visit_Nonlocal(self, node: ast.Nonlocal) -> ast.AST:
        """Allow `nonlocal` of names that may be written."""
        return self._check_names(node, node.names)

    def visit_Global(self, node: ast.Global) -> ast.AST:
        """Allow `global` of names that may be written."""
        return self._check_names(node, node.names)

    def _check_names(self, node: ast.AST, names: list[str]) -> ast.AST:
        for name in names:
            self.check_name(node, name)
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        """Check the names of a function and its parameters."""
        self.check_name(node, node.name, allow_magic_methods=True)
        self.check_function_argument_names(node)
        return self.node_contents_visit(node)

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        """Allow classes without class keywords: a metaclass decides what attributes mean."""
        self.check_name(node, node.name)
        if node.keywords:
            self.refuse(node, "class keywords (metaclass=...) are not available. Leave them out.")
        return self.node_contents_visit(node)

    def visit_Module(self, node: ast.Module) -> ast.AST:
        """Visit the cell."""
        return self.node_contents_visit(node)

    def check_import_names(self, node: ast.Import | ast.ImportFrom) -> ast.AST:
        """Check the names an import binds; which modules there are is decided when it runs."""
        if isinstance(node, ast.ImportFrom) and node.level:
            self.refuse(node, "relative imports are not available.")
        for alias in node.names:
            if alias.name == "*":
                self.refuse(node, '"import *" is not available. Name what you import.')
            else:
                self.check_name(node, alias.asname or alias.name.partition(".")[0])
        return node

    # match

    def visit_Match(self, node: ast.AST) -> ast.AST:
        """Allow `match`."""
        return self.node_contents_visit(node)

    visit_match_case = visit_MatchValue = visit_MatchSingleton = visit_Match
    visit_MatchSequence = visit_MatchOr = visit_Match

    def visit_MatchAs(self, node: ast.MatchAs) -> ast.AST:
        """Check the captured name."""
        self.check_name(node, node.name)
        return self.node_contents_visit(node)

    def visit_MatchStar(self, node: ast.MatchStar) -> ast.AST:
        """Check the captured name."""
        self.check_name(node, node.name)
        return node

    def visit_MatchMapping(self, node: ast.MatchMapping) -> ast.AST:
        """Check the name that takes the rest."""
        self.check_name(node, node.rest)
        return self.node_contents_visit(node)

    def visit_MatchClass(self, node: ast.MatchClass) -> ast.AST:
        """Check the attributes: a class pattern reads them without `_getattr_`."""
        for name in node.kwd_attrs:
            if name.startswith("_") or name in INSPECT_ATTRIBUTES:
                self.refuse(node, f'the pattern reads ".{name}", which is not available.')
        return self.node_contents_visit(node)


def compile_cell(source: str, filename: str) -> CodeType:
    """Compile a cell. Raises `SyntaxError`, or `NotPossible` with every refusal."""
    tree = ast.parse(source, filename)
    policy = CellPolicy()
    tree = policy.visit(tree)
    if policy.errors:
        raise NotPossible("\n".join(policy.errors))
    code: CodeType = compile(tree, filename, "exec", dont_inherit=True)
    return code
