"""Prints tables: whole lines where nobody watches, so that names can be found and copied."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table

__all__ = ["print_table", "table_width"]

WIDE = 1000
"""Characters a line may have in a pipe or a file."""


def table_width() -> int:
    """Return how many characters a line of a table on stdout may have."""
    console = Console()
    return console.width if console.is_terminal else WIDE


def print_table(table: Table) -> None:
    """Print a table on stdout."""
    Console(width=table_width()).print(table)
