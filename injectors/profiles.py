"""Profiles: named settings of memory and gate, which single flags override.

    none              no memory, gate off
    appworld-start    block at task start; no gate (the method paper's AppWorld runs)
    gaia2-start-gate  block at task start, gate (the method paper's GAIA2 runs)
    time              block at task start under the rules of Time; no gate
    full              block at task start, gate

A bank that is named is delivered, whatever the profile. The result is recorded with each run.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal

from pydantic import Field, ValidationError

from runtime.contracts import Json, Value
from runtime.errors import UnknownName, UsageError

__all__ = ["PROFILES", "Latch", "MemorySettings", "Profile", "settings_for"]

Latch = Literal["call", "function", "cell"]
NO_BANK = "none"


class MemorySettings(Value):
    """Everything about memory and gate that can differ between two arms."""

    profile: str = "none"
    memory: str | None = None
    """Path of the bank, as it was given."""
    cards: Literal["function", "skill", "both"] = "both"
    skill_topk: int = Field(default=3, ge=0)
    function_topk_start: int = Field(default=2, ge=0)
    exclude_generator_ids: tuple[str, ...] = ()
    """Scenarios whose cards are left out. A task's own scenario always is."""
    render_code_idiom: bool = True
    render_when: bool = False
    """Whether a skill's trigger is shown (AppWorld's block)."""
    reply_marker: str = ""
    """A host's marker that starts replies (GAIA2's block)."""
    time_rules: bool = False
    jit: bool = False
    """Whether a function's card comes with the cell that first used it or failed on it."""
    gate: bool = False
    latch: Latch = "function"
    risk_stop: bool = True
    pre_tool: Literal["writes", "all"] = "writes"
    """`all`: a read's card comes with its first use; nothing is stopped for it."""

    def describe(self) -> dict[str, Json]:
        """Return the settings for a manifest."""
        return self.model_dump(mode="json")


class Profile(Value):
    """What a profile fixes; the rest are the defaults of `MemorySettings`."""

    about: str
    needs_bank: bool
    fixes: dict[str, Json] = Field(default_factory=dict)


PROFILES: Mapping[str, Profile] = MappingProxyType(
    {
        "none": Profile(about="no memory, gate off", needs_bank=False),
        "appworld-start": Profile(about="memory at task start", needs_bank=True),
        "gaia2-start-gate": Profile(
            about="memory at task start, gate", needs_bank=True, fixes={"gate": True}
        ),
        "time": Profile(
            about="memory at task start under the rules of Time",
            needs_bank=True,
            fixes={"time_rules": True},
        ),
        "full": Profile(about="memory at task start, gate", needs_bank=True, fixes={"gate": True}),
    }
)


def settings_for(
    profile: str, overrides: Mapping[str, Json] | None = None, *, latch: Latch = "function"
) -> MemorySettings:
    """Return a profile's settings with single ones overridden; an override of None is no override.

    `memory="none"` says that no bank is wanted. `latch` is the benchmark's default. Raises
    `UnknownName` for a profile or setting that does not exist and `UsageError` for a value that
    does not fit or a bank that is missing.
    """
    chosen = PROFILES.get(profile)
    if chosen is None:
        raise UnknownName("profile", profile, PROFILES)
    given: dict[str, Json] = {k: v for k, v in (overrides or {}).items() if v is not None}
    for key in given:
        if key not in MemorySettings.model_fields or key == "profile":
            raise UnknownName("memory setting", key, set(MemorySettings.model_fields) - {"profile"})
    if chosen.needs_bank and "memory" not in given:
        raise UsageError(
            f"Profile {profile!r} delivers memory. Name a bank with --memory BANK "
            "(or --memory none to run without)."
        )
    if given.get("memory") == NO_BANK:
        given["memory"] = None
    fixed = {"latch": latch, **chosen.fixes, "profile": profile}
    try:
        return MemorySettings.model_validate({**fixed, **given})
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        raise UsageError(f"Memory setting {where}: {first['msg']}.") from error
