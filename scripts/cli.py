"""The `contramem` command: wires runtime, adapters and injectors together.

Each command lives in scripts/commands. Here they are listed, and errors become one sentence on
stderr and an exit code.
"""

from __future__ import annotations

import logging
import sys
from typing import Annotated

import typer
from rich.console import Console

from runtime.errors import ContramemError
from runtime.report.visible import visible
from scripts.lazy import LazyCommand, lazy_group

__all__ = ["COMMANDS", "app", "main"]

COMMANDS = {
    "setup": LazyCommand(
        "scripts.commands.setup",
        "setup_app",
        "Make a benchmark ready to run: its own Python environment and its data.",
    ),
    "doctor": LazyCommand(
        "scripts.commands.doctor",
        "doctor",
        "Say what is there, what is missing, which lock-down is in force, and what mends each.",
    ),
    "tasks": LazyCommand(
        "scripts.commands.tasks", "tasks", "List a benchmark's datasets, or the tasks of one."
    ),
    "run": LazyCommand("scripts.commands.run", "run", "Run agents on a benchmark's tasks."),
    "report": LazyCommand(
        "scripts.commands.report", "report", "Show the arms of runs in one table."
    ),
    "show": LazyCommand(
        "scripts.commands.show",
        "show",
        "Show an episode: turns, cells, calls with their decisions, observations, outcome.",
    ),
    "replay": LazyCommand(
        "scripts.commands.replay", "replay_command", "Play recorded episodes in a fresh world."
    ),
    "merge": LazyCommand(
        "scripts.commands.merge", "merge", "Join the run folders of shards into one."
    ),
    "bank": LazyCommand(
        "scripts.commands.bank",
        "app",
        "Look into a bank of cards, search it, switch cards on and off, freeze it.",
    ),
    "import": LazyCommand(
        "scripts.commands.import_",
        "app",
        "Read other harnesses' runs into traces, to look at.",
    ),
}

app = typer.Typer(
    cls=lazy_group(COMMANDS),
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Run code-writing agents on AppWorld and GAIA2, with procedural memory, a write gate and"
    " strict replay.\n\nStart with [bold]contramem setup appworld[/bold], then"
    " [bold]contramem run --bench appworld --dataset mini_test --model scripted:careful[/bold].",
)


@app.callback()
def common(
    verbose: Annotated[
        bool, typer.Option("--verbose", "-v", help="Show what the library logs.")
    ] = False,
) -> None:
    """Set logging up."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_VisibleFormatter("%(levelname)s %(name)s: %(message)s"))
    logging.basicConfig(
        level=logging.INFO if verbose else logging.WARNING,
        handlers=[handler],
    )


class _VisibleFormatter(logging.Formatter):
    """What servers say is logged, too."""

    def format(self, record: logging.LogRecord) -> str:
        return visible(super().format(record))


def main() -> None:
    """Run the command line. Never shows a stack trace for what a user can mend."""
    try:
        app(prog_name="contramem")
    except ContramemError as error:
        words = visible(f"Error: {error}")
        Console(stderr=True).print(words, highlight=False, markup=False, soft_wrap=True)
        sys.exit(error.exit_code)


if __name__ == "__main__":
    main()
