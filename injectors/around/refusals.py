"""Why a call was not made, as an exception for code and as words for a model."""

from __future__ import annotations

import json

from runtime.contracts import Json
from runtime.errors import ContramemError

__all__ = ["UnfitCall", "WriteDenied", "WriteStopped", "failed", "not_made", "words_of"]


class WriteStopped(ContramemError):
    """A write did not run: it is to be verified first. The text is the advisory as JSON."""

    def __init__(self, advisory: dict[str, Json]) -> None:
        self.advisory = advisory
        super().__init__(json.dumps(advisory, ensure_ascii=False))


class WriteDenied(ContramemError):
    """A write did not run and will not: a person said no, or an equal call is undecided."""

    def __init__(self, function: str, reason: str) -> None:
        self.function, self.reason = function, reason
        super().__init__(f"{function} was denied: {reason or 'no reason was given'}")


class UnfitCall(ContramemError, TypeError):
    """A call that no tool can take: an unknown name, or arguments that do not fit."""


def not_made(why: Exception) -> dict[str, Json]:
    """Return what a model is told of a call that was not made."""
    if isinstance(why, WriteStopped):
        return why.advisory
    if isinstance(why, WriteDenied):
        return {"executed": False, "denied": True, "reason": why.reason}
    return {"executed": False, "error": str(why) if isinstance(why, UnfitCall) else words_of(why)}


def failed(error: Exception) -> dict[str, Json]:
    """Return what a model is told of a call that was made and raised."""
    return {"error": words_of(error)}


def words_of(error: BaseException) -> str:
    """Return an error's kind and text."""
    try:
        return f"{type(error).__name__}: {error}"
    except Exception:  # noqa: BLE001 - the error is a user's own, and so is its text
        return type(error).__name__
