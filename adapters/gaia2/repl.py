"""Runs cells one after another in one namespace, and words what came of each.

Runs in the cell process. Only what a cell prints comes back. A cell that is refused has not run at
all; one that raises keeps what it printed and adds a traceback of its own lines.
"""

from __future__ import annotations

import contextlib
import io
import linecache
import sys
import traceback
from collections.abc import Iterable
from typing import Any

from adapters.gaia2.addresses import Identities, without_addresses
from adapters.gaia2.built_ins import BUILTINS
from adapters.gaia2.guards import CELL_MODULE, read_attribute, writable
from adapters.gaia2.modules import importer, modules
from adapters.gaia2.policy import NotPossible, compile_cell
from adapters.gaia2.stubs import Apps, Call, Doc, document
from runtime.bridge.caller import LONGEST_OUTPUT

__all__ = ["NOTHING_PRINTED", "Output", "Session"]

NOTHING_PRINTED = "The cell ran and printed nothing. Use print() to see a value."


class Output(io.TextIOBase):
    """Takes what a cell prints, up to a size, until it is told to stop listening."""

    def __init__(self, largest: int = LONGEST_OUTPUT) -> None:
        super().__init__()
        self._parts: list[str] = []
        self._room = largest
        self._lost = 0
        self._deaf = False

    def write(self, text: str) -> int:
        """Keep the text, or as much of it as there is room for."""
        if not self._deaf:
            text = without_addresses(text)
            self._parts.append(text[: self._room])
            self._lost += max(0, len(text) - self._room)
            self._room = max(0, self._room - len(text))
        return len(text)

    def writable(self) -> bool:
        """Say yes."""
        return True

    def stop_listening(self) -> None:
        """Drop everything that is written from now on."""
        self._deaf = True

    def text(self) -> str:
        """Return what was kept, as text that can be encoded."""
        whole = "".join(self._parts).encode("utf-8", "backslashreplace").decode()
        return f"{whole}\n... {self._lost} more characters cut" if self._lost else whole


class Session:
    """The namespace of one episode's cells."""

    def __init__(self, docs: Iterable[Doc], call: Call, *, seed: int = 0) -> None:
        """`docs`: the functions that `apps` offers. `call`: sends one to the world."""
        self.output = Output()
        self.ended_by: str = "finished"
        """How the last cell ended: `finished` or `raised`."""
        self._cells = 0
        apps = Apps(docs, call)
        known = modules(seed, lambda: _words(sys.exception()))
        identities = Identities()
        builtins = {
            **BUILTINS,
            "__import__": importer(known),
            "help": self._help,
            "id": identities.number,
            "hash": identities.hash,
        }
        self._globals: dict[str, Any] = {
            "__builtins__": builtins,
            "__name__": CELL_MODULE,
            "__annotations__": {},  # early 3.11 looks for it where a `match` holds an annotation
            "_getattr_": read_attribute,
            "_write_": writable,
            "apps": apps,
        }

    def execute(self, source: str) -> str:
        """Run one cell and return its output."""
        self._cells += 1
        self.output = Output()
        filename = f"<cell {self._cells}>"
        lines = source.splitlines(keepends=True)
        linecache.cache[filename] = (len(source), None, lines, filename)
        self.ended_by = "finished"
        with contextlib.redirect_stdout(self.output):
            try:
                exec(compile_cell(source, filename), self._globals)  # noqa: S102 - what this file is for
            except NotPossible as refused:
                self._fail(f"The cell was not run:\n{refused}\n")
            except BaseException as error:  # noqa: BLE001 - whatever agent code raises is its output
                self._fail(_words(error))
        return self.output.text() or NOTHING_PRINTED

    def _fail(self, words: str) -> None:
        self.ended_by = "raised"
        self.output.write(words)

    def _help(self, value: Any = None) -> None:
        print(document(self._globals["apps"] if value is None else value))  # noqa: T201 - the cell's


def _words(error: BaseException | None) -> str:
    """Return a traceback that shows cells' lines only."""
    if error is None:
        return "NoneType: None\n"
    told = traceback.TracebackException.from_exception(error, compact=True)
    _keep_cells(told)
    if isinstance(error, SyntaxError):  # of this very cell: it has no frame of its own
        return "".join(told.format_exception_only())
    return "".join(told.format())


def _keep_cells(told: traceback.TracebackException) -> None:
    told.stack = traceback.StackSummary.from_list(
        [
            traceback.FrameSummary(frame.filename, frame.lineno, frame.name, line=frame.line)
            for frame in told.stack
            if frame.filename.startswith("<cell ")
        ]
    )
    for linked in (told.__cause__, told.__context__):
        if linked is not None:
            _keep_cells(linked)
