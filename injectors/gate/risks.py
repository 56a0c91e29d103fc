"""Reasons to look twice at a write: deterministic, each with an id, a confidence and one sentence.

A risk sees the call, the task and what the episode has observed. High confidence is kept for what
correct runs practically never do, because it may stop a write that would otherwise pass.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from injectors.gate import risk_checks as checks
from injectors.gate.latch import CallKey
from injectors.gate.situation import Situation

__all__ = ["RISKS", "Detected", "Risk", "RiskLog", "detect"]

Confidence = Literal["high", "medium", "low"]


@dataclass(frozen=True)
class Risk:
    """One kind of risk. `check` returns the sentence where the risk is there, else None."""

    id: str
    confidence: Confidence
    check: Callable[[Situation], str | None]


@dataclass(frozen=True)
class Detected:
    """A risk found in one call."""

    id: str
    confidence: Confidence
    sentence: str

    def shown(self) -> dict[str, str]:
        """Return the form of an advisory."""
        return {"id": self.id, "confidence": self.confidence, "sentence": self.sentence}


RISKS: tuple[Risk, ...] = (
    Risk("id_never_observed", "high", checks.id_never_observed),
    Risk("address_never_observed", "high", checks.address_never_observed),
    Risk("identical_write_already_executed", "high", checks.identical_write_already_executed),
    Risk("completing_after_failed_write", "high", checks.completing_after_failed_write),
    Risk("date_in_the_past", "high", checks.date_in_the_past),
    Risk("recipient_name_ambiguous", "medium", checks.recipient_name_ambiguous),
    Risk("amount_not_observed", "medium", checks.amount_not_observed),
    Risk("date_not_observed", "medium", checks.date_not_observed),
    Risk("first_page_only", "medium", checks.first_page_only),
    Risk("calendar_overlap", "medium", checks.calendar_overlap),
    Risk("variant_not_stated", "medium", checks.variant_not_stated),
    Risk("ride_not_as_quoted", "medium", checks.ride_not_as_quoted),
    Risk("write_after_empty_read", "low", checks.write_after_empty_read),
)


def detect(risks: Iterable[Risk], situation: Situation) -> tuple[Detected, ...]:
    """Return the risks that are there, in the order of `risks`."""
    found = ((risk, risk.check(situation)) for risk in risks)
    return tuple(Detected(risk.id, risk.confidence, text) for risk, text in found if text)


class RiskLog:
    """Which risks an episode has been told of, so that none stops the same call twice."""

    def __init__(self) -> None:
        self._told: set[tuple[str, CallKey]] = set()
        self._times: dict[tuple[str, str], int] = {}

    def new(self, detected: Sequence[Detected], key: CallKey) -> tuple[Detected, ...]:
        """Return the risks that were not yet told of for these arguments."""
        return tuple(risk for risk in detected if (risk.id, key) not in self._told)

    def stopping(
        self, detected: Sequence[Detected], key: CallKey, *, most: int
    ) -> tuple[Detected, ...]:
        """Return the new high-confidence risks that may still stop this function."""
        return tuple(
            risk
            for risk in self.new(detected, key)
            if risk.confidence == "high" and self._times.get((risk.id, key.function), 0) < most
        )

    def tell(self, detected: Sequence[Detected], key: CallKey) -> None:
        """Note that an advisory named these risks."""
        for risk in self.new(detected, key):
            self._told.add((risk.id, key))
            name = (risk.id, key.function)
            self._times[name] = self._times.get(name, 0) + 1
