"""The import rules of CONTRIBUTING.md, read from the source, and imports without side effects."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
MAY_IMPORT = {
    "runtime": {"runtime"},
    "adapters": {"adapters", "runtime"},
    "injectors": {"injectors", "runtime"},
    "bank_builder": {"bank_builder", "injectors", "runtime"},
    "scripts": {"scripts", "adapters", "injectors", "bank_builder", "runtime"},
}
CELL = {"RestrictedPython"}
APPWORLD = {"appworld", "fastapi_login", "httpx", "pendulum", "yaml"}
ARE = {"are"}
CHILDREN = (
    ("runtime", "locking", set[str]()),
    ("runtime/bridge", "caller child lockdown served syscalls wire zygote", set[str]()),
    ("adapters/appworld", "cell kinds plain world zygote mini/**/*", APPWORLD),
    ("adapters/gaia2", "addresses built_ins cell guards makers", CELL),
    ("adapters/gaia2", "modules names policy repl stubs", CELL),
    ("adapters/gaia2", "clock download files kinds notifications patience scenario", ARE),
    ("adapters/gaia2", "tools turns values world zygote", ARE),
)
"""Code that runs in another process than the harness, mostly in a benchmark's interpreter, and what
it may import besides the standard library and other children. The one list of them."""
BRIDGE = {
    f"runtime/bridge/{name}.py" for name in ("caller", "lockdown", "served", "wire", "zygote")
}
"""What an adapter's child may use of the bridge."""


def sources(*packages: str) -> list[Path]:
    found = [path for package in packages for path in sorted((ROOT / package).rglob("*.py"))]
    assert found
    return found


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def module_of(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def executed(tree: ast.AST) -> Iterator[ast.AST]:
    """Walk a tree without what is under `if TYPE_CHECKING`."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING"):
            continue
        yield node
        yield from executed(node)


def imports(nodes: Iterator[ast.AST]) -> set[str]:
    """Return the modules that are imported; for `from a import b` also `a.b` if it is a module."""
    found = set()
    for node in nodes:
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            submodules = {f"{node.module}.{alias.name}" for alias in node.names}
            modules = {name for name in submodules if file_of(name) is not None}
            found |= modules or {str(node.module)}
    return found


def file_of(module: str) -> Path | None:
    path = ROOT.joinpath(*module.split("."))
    candidates = (path.with_suffix(".py"), path / "__init__.py")
    return next((file for file in candidates if file.is_file()), None)


@cache
def children() -> dict[str, set[str]]:
    """Children by name, with what each may import."""
    found = {}
    for folder, names, allowed in CHILDREN:
        for name in names.split():
            files = list((ROOT / folder).glob(f"{name}.py"))
            assert files, f"{folder}/{name} names no file any more"
            found.update({name_of(file): allowed for file in files})
    return found


@pytest.mark.parametrize("package", MAY_IMPORT)
def test_packages_import_only_what_lies_below_them(package: str) -> None:
    breaches = [
        f"{name_of(path)} imports {module}"
        for path in sources(package)
        for module in sorted(imports(ast.walk(tree_of(path))))
        if module.partition(".")[0] in MAY_IMPORT.keys() - MAY_IMPORT[package]
    ]
    assert breaches == []


@pytest.mark.parametrize(
    ("package", "other"), [("adapters/appworld", "gaia2"), ("adapters/gaia2", "appworld")]
)
def test_adapters_do_not_know_each_other(package: str, other: str) -> None:
    breaches = [
        f"{name_of(path)} imports {module}"
        for path in sources(package)
        for module in imports(ast.walk(tree_of(path)))
        if module.startswith(f"adapters.{other}")
    ]
    assert breaches == []


def test_children_import_only_what_their_interpreter_has() -> None:
    breaches = [
        f"{child} imports {module}"
        for child, allowed in children().items()
        for module in sorted(imports(executed(tree_of(ROOT / child))))
        if not child_may_import(child, module, allowed)
    ]
    assert breaches == []


def child_may_import(child: str, module: str, allowed: set[str]) -> bool:
    top = module.partition(".")[0]
    if top not in MAY_IMPORT:
        return top in sys.stdlib_module_names or top in allowed
    file = file_of(module)
    if file is None:
        return False
    name = name_of(file)
    if file.name == "__init__.py":
        return True
    in_bridge = name.startswith("runtime/bridge/")
    return name in children() and (
        not in_bridge or name in BRIDGE or child.startswith("runtime/bridge/")
    )


def test_a_module_that_is_named_by_a_string_is_a_listed_child() -> None:
    """That is how modules are started in other interpreters."""
    breaches = [
        f"{name_of(path)} starts {node.value}"
        for path in sources("runtime", "adapters")
        for node in ast.walk(tree_of(path))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
        if node.value.startswith(("runtime.", "adapters.")) and " " not in node.value
        if (file := file_of(node.value)) and file.name != "__init__.py"
        if name_of(file) not in children()
    ]
    assert breaches == []


def test_package_files_hold_a_docstring_and_nothing_else() -> None:
    breaches = [
        name_of(path)
        for path in sources(*MAY_IMPORT)
        if path.name == "__init__.py"
        if ast.get_docstring(tree_of(path)) is None or len(tree_of(path).body) != 1
    ]
    assert breaches == []


WATCHED_IMPORT = """
import importlib, json, logging, os, signal, sys, threading

WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC
ACTS = {"os.mkdir", "os.rename", "os.remove", "os.rmdir", "os.symlink", "os.link", "os.truncate",
        "os.fork", "os.forkpty", "os.posix_spawn", "os.exec", "os.system", "os.chdir",
        "subprocess.Popen", "_thread.start_new_thread", "socket.bind", "socket.connect"}
seen = []

def watch(event, arguments):
    if event in ACTS:
        seen.append(f"{event} {arguments}")
    elif event == "open" and isinstance(arguments[2], int) and arguments[2] & WRITING:
        seen.append(f"open for writing {arguments[0]}")

def state():
    return [dict(os.environ), os.getcwd(), threading.active_count(), logging.root.handlers[:],
            logging.root.level, signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM),
            sys.excepthook, sys.stdout, sys.stderr]

before = state()
sys.addaudithook(watch)
for name in json.loads(sys.argv[1]):
    importlib.import_module(name)
    seen, new = [], seen
    assert not new, (name, new)
    assert state() == before, (name, before, state())
"""


def test_no_import_has_a_side_effect(tmp_path: Path) -> None:
    elsewhere = {child for child, needed in children().items() if needed & (APPWORLD | ARE)}
    modules = [
        module_of(path)
        for path in sources(*MAY_IMPORT)
        if name_of(path) not in elsewhere and path.name != "__main__.py"
    ]
    done = subprocess.run(
        [sys.executable, "-B", "-W", "error", "-c", WATCHED_IMPORT, json.dumps(modules)],
        cwd=tmp_path,
        env={"HOME": str(tmp_path), "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout + done.stderr == ""
    assert done.returncode == 0
    assert list(tmp_path.iterdir()) == []
