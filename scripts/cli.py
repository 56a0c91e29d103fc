"""The `contramem` command: wires runtime, adapters and injectors together.

Each command lives in scripts/commands. Here they are registered, and errors become one sentence
on stderr and an exit code.
"""

from __future__ import annotations

import logging
import sys
from typing import Annotated

import typer
from rich.console import Console

from runtime.errors import ContramemError
from scripts.commands.bank import app as bank_app
from scripts.commands.doctor import doctor
from scripts.commands.replay import replay_command
from scripts.commands.run import run
from scripts.commands.setup import setup_app
from scripts.commands.show import show
from scripts.commands.tasks import tasks

__all__ = ["app", "main"]

INTERRUPTED = 130

app = typer.Typer(
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Run code-writing agents on AppWorld and GAIA2, with procedural memory, a write gate and"
    " strict replay.\n\nStart with [bold]contramem setup appworld[/bold], then"
    " [bold]contramem run --bench appworld --dataset mini_test --model scripted:careful[/bold].",
)
app.add_typer(setup_app, name="setup")
app.command()(doctor)
app.command()(tasks)
app.command()(run)
app.command()(show)
app.command("replay")(replay_command)
app.add_typer(bank_app, name="bank")


@app.callback()
def common(
    verbose: Annotated[
        bool, typer.Option("--verbose", "-v", help="Show what the library logs.")
    ] = False,
) -> None:
    """Set logging up."""
    logging.basicConfig(
        level=logging.INFO if verbose else logging.WARNING,
        format="%(levelname)s %(name)s: %(message)s",
        stream=sys.stderr,
    )


def main() -> None:
    """Run the command line. Never shows a stack trace for what a user can mend."""
    try:
        app()
    except (ContramemError, KeyboardInterrupt) as error:
        _end(error)


def _end(error: BaseException) -> None:
    if isinstance(error, KeyboardInterrupt):
        _say("Interrupted. Finished episodes are kept: the same command goes on from here.")
        sys.exit(INTERRUPTED)
    if isinstance(error, ContramemError):
        _say(f"Error: {error}")
        sys.exit(error.exit_code)
    raise error


def _say(text: str) -> None:
    Console(stderr=True).print(text, highlight=False, markup=False, soft_wrap=True)


if __name__ == "__main__":
    main()
