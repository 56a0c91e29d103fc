"""Options that several commands take, each in the same words."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from runtime.contracts import Json

__all__ = [
    "Cards",
    "Gate",
    "Jit",
    "Latch",
    "ModelsFile",
    "OnOff",
    "PreTool",
    "RiskStop",
    "memory_option",
    "memory_settings",
]

MEMORY = "Memory and gate"


class OnOff(StrEnum):
    """A switch."""

    ON = "on"
    OFF = "off"


def memory_option(text: str, *names: str, metavar: str | None = None) -> object:
    """Describe an option of memory or gate."""
    return typer.Option(*names, help=text, rich_help_panel=MEMORY, metavar=metavar)


Gate = Annotated[
    OnOff | None,
    memory_option(
        "Whether a write is stopped once before it executes.", "--gate", metavar="on|off"
    ),
]
Latch = Annotated[
    str | None,
    memory_option("What a stop of the gate verifies.", "--latch", metavar="call|function|cell"),
]
RiskStop = Annotated[
    OnOff | None,
    memory_option(
        "Whether a new high-confidence risk stops again.", "--risk-stop", metavar="on|off"
    ),
]
Cards = Annotated[
    str | None,
    memory_option("Which cards are delivered.", "--cards", metavar="function|skill|both"),
]
Jit = Annotated[
    bool | None,
    memory_option("Whether a card comes with the cell that first used its API.", "--jit/--no-jit"),
]
PreTool = Annotated[
    str | None,
    memory_option(
        "all: a read's card comes with its first use.", "--pre-tool", metavar="writes|all"
    ),
]
ModelsFile = Annotated[
    Path | None, typer.Option("--models", metavar="FILE", help="Another models.toml.")
]


def memory_settings(
    *,
    cards: str | None,
    gate: OnOff | None,
    latch: str | None,
    risk_stop: OnOff | None,
    jit: bool | None,
    pre_tool: str | None,
) -> dict[str, Json]:
    """Return the settings as `injectors.profiles.settings_for` takes them; None was not given."""
    return {
        "cards": cards,
        "gate": None if gate is None else gate is OnOff.ON,
        "latch": latch,
        "risk_stop": None if risk_stop is None else risk_stop is OnOff.ON,
        "jit": jit,
        "pre_tool": pre_tool,
    }
