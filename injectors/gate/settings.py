"""How strict one episode's gate is. Part of the run's manifest."""

from __future__ import annotations

from typing import Literal

from runtime.contracts import Value

__all__ = ["GateSettings", "Latch"]

Latch = Literal["call", "function", "cell"]


class GateSettings(Value):
    """Settings of the gate. Every combination keeps the log of one decision per write."""

    on: bool = True
    """Off: every call passes, and no advisory, ledger or risk is made."""
    latch: Latch = "call"
    """What a stop verifies: an equal call, the functions it covered, or the cell's source."""
    risk_stop: bool = True
    """Whether a new high-confidence risk stops a write that would pass, or a FINISH."""
    advisory_tokens: int = 700
    """Cap of one advisory, counted with o200k_base."""
