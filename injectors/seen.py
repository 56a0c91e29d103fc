"""Which cards an episode has shown already. Shared by the injector and the gate of one episode."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

__all__ = ["SeenCards"]


class SeenCards:
    """A card is written out once an episode and only named afterwards."""

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()

    def show(self, card_id: str) -> bool:
        """Count one more showing and say whether it is the first: then the card is written out."""
        self._counts[card_id] += 1
        return self._counts[card_id] == 1

    def show_all(self, card_ids: Iterable[str]) -> None:
        """Count one more showing of each card."""
        self._counts.update(card_ids)

    def count(self, card_id: str) -> int:
        """Return how often the card was shown or named."""
        return self._counts[card_id]

    def __contains__(self, card_id: object) -> bool:
        return card_id in self._counts
