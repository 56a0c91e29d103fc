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
from types import CodeType
from typing import ClassVar

from RestrictedPython.transformer import RestrictingNodeTransformer

from adapters.gaia2.names import (
    OWN_METHODS,
    attribute_refusal,
    mangled,
    method_refusal,
    name_refusal,
    pattern_refusal,
)

__all__ = ["NotPossible", "compile_cell"]

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
    _class: str | None = None
    """The class whose body is being visited."""

    def refuse(self, node: ast.AST, words: str) -> None:
        """Note a refusal with its line, once; no words are no refusal."""
        told = f"Line {getattr(node, 'lineno', '?')}: {words}"
        if words and told not in self.errors:
            self.errors.append(told)

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
        if name is not None:
            self.refuse(node, method_refusal(name) if allow_magic_methods else name_refusal(name))

    def visit_Name(self, node: ast.Name) -> ast.AST:
        """Check the name; `print` is an ordinary function here, and `__name__` may be read.

        A class may say `__repr__ = __str__` and `__hash__ = None`, as it may define the methods.
        """
        reads_own = isinstance(node.ctx, ast.Load) and node.id in self._module_level
        of_class = self._class is not None and node.id in OWN_METHODS
        if not (reads_own or of_class):
            self.check_name(node, node.id)
        return self.node_contents_visit(node)

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        """Turn reads into `_getattr_(a, "b")` and writes into `_write_(a).b`."""
        reading = isinstance(node.ctx, ast.Load)
        node.attr = mangled(node.attr, self._class)
        self.refuse(node, attribute_refusal(node.attr, reading=reading))
        node = self.node_contents_visit(node)
        guard = ast.Name("_getattr_" if reading else "_write_", ast.Load())
        if reading:
            read = ast.Call(guard, [node.value, ast.Constant(node.attr)], [])
            return ast.fix_missing_locations(ast.copy_location(read, node))
        node.value = ast.copy_location(ast.Call(guard, [node.value], []), node.value)
        return ast.fix_missing_locations(node)

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
        """Allow classes without a metaclass, which decides what attributes mean."""
        self.check_name(node, node.name)
        if any(keyword.arg != "total" for keyword in node.keywords):
            self.refuse(node, "class keywords (metaclass=...) are not available. Leave them out.")
        if any(isinstance(base, ast.Name) and base.id == "type" for base in node.bases):
            self.refuse(node, "a class of classes is not available. Write a class decorator.")
        body, node.body = node.body, []
        node = self.node_contents_visit(node)  # bases and decorators belong to the class around
        around, self._class = self._class, node.name
        node.body = [self._class_line(line) for line in body]
        self._class = around
        return node

    def _class_line(self, line: ast.stmt) -> ast.stmt:
        """Visit a line of a class; `__slots__` may name slots that may be attributes."""
        match line:
            case (
                ast.Assign(targets=[ast.Name(id="__slots__")], value=ast.expr() as value)
                | ast.AnnAssign(target=ast.Name(id="__slots__"), value=ast.expr() as value)
            ):
                if isinstance(line, ast.AnnAssign):
                    line.annotation = self.visit(line.annotation)
                slots = value.elts if isinstance(value, ast.Tuple | ast.List) else [value]
                for slot in slots:
                    self._check_slot(slot)
                return line
        visited: ast.stmt = self.visit(line)
        return visited

    def _check_slot(self, slot: ast.expr) -> None:
        if isinstance(slot, ast.Constant) and isinstance(slot.value, str):
            name = mangled(slot.value, self._class)
            self.refuse(slot, attribute_refusal(name, reading=False))
        else:
            self.refuse(slot, "__slots__ is a tuple of names in quotes here.")

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

    visit_match_case = visit_MatchSingleton = visit_Match
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
        """Check the keys and the name that takes the rest."""
        self.check_name(node, node.rest)
        node.keys = [self._in_pattern(key) for key in node.keys]
        node.patterns = [self.visit(pattern) for pattern in node.patterns]
        return node

    def visit_MatchValue(self, node: ast.MatchValue) -> ast.AST:
        """Check a value to compare with."""
        node.value = self._in_pattern(node.value)
        return node

    def visit_MatchClass(self, node: ast.MatchClass) -> ast.AST:
        """Check the class and the attributes that are read."""
        node.cls = self._in_pattern(node.cls)
        for name in node.kwd_attrs:
            self.refuse(node, pattern_refusal(name))
        node.patterns = [self.visit(pattern) for pattern in node.patterns]
        node.kwd_patterns = [self.visit(pattern) for pattern in node.kwd_patterns]
        return node

    def _in_pattern(self, node: ast.expr) -> ast.expr:
        """Check a dotted name, which Python wants as it is written: without `_getattr_`."""
        inner = node
        while isinstance(inner, ast.Attribute):
            self.refuse(inner, pattern_refusal(inner.attr))
            inner = inner.value
        visited: ast.expr = self.visit(inner)
        return visited if inner is node else node


def compile_cell(source: str, filename: str) -> CodeType:
    """Compile a cell. Raises `SyntaxError`, or `NotPossible` with every refusal."""
    tree = ast.parse(source, filename)
    policy = CellPolicy()
    tree = policy.visit(tree)
    if policy.errors:
        raise NotPossible("\n".join(policy.errors))
    code: CodeType = compile(tree, filename, "exec", dont_inherit=True)
    return code
