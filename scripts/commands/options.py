"""Types of options that several commands take."""

from __future__ import annotations

from enum import StrEnum

__all__ = ["OnOff"]


class OnOff(StrEnum):
    """A switch."""

    ON = "on"
    OFF = "off"
