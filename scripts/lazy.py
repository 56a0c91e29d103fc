"""Commands that are imported when they are called: help and completion do not wait for all."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

import typer
from typer.core import TyperCommand, TyperGroup

if TYPE_CHECKING:
    from typer._click import Command, Context

__all__ = ["LazyCommand", "lazy_group"]


@dataclass(frozen=True)
class LazyCommand:
    """Where a command lies, and its line in the list of commands."""

    module: str
    attribute: str
    """A function, or a `typer.Typer` with commands of its own."""
    help: str

    def load(self, name: str) -> Command:
        """Import the command."""
        found = getattr(import_module(self.module), self.attribute)
        whole = typer.Typer(add_completion=False, rich_markup_mode="rich")
        if isinstance(found, typer.Typer):
            whole.add_typer(found, name=name)
            return typer.main.get_group(whole).commands[name]
        whole.command(name)(found)
        return typer.main.get_command(whole)


def lazy_group(commands: Mapping[str, LazyCommand]) -> type[TyperGroup]:
    """Return a class of command groups with these commands, in this order."""

    class LazyGroup(TyperGroup):
        def __init__(self, **settings: Any) -> None:  # noqa: ANN401 - passed on as they are
            super().__init__(**settings)
            for name, command in commands.items():
                self.add_command(TyperCommand(name, help=command.help))

        def resolve_command(
            self, ctx: Context, args: list[str]
        ) -> tuple[str | None, Command | None, list[str]]:
            name, stub, rest = super().resolve_command(ctx, args)
            return name, commands[name].load(name) if name and stub else stub, rest

    return LazyGroup
