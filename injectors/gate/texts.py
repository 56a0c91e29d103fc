"""The sentences of an advisory. A user may pass others."""

from __future__ import annotations

from typing import Literal

from runtime.contracts import Value

__all__ = ["AdvisoryText", "Cause"]

Cause = Literal["unverified", "unnamed", "uncovered", "risk", "difference", "finish"]


class AdvisoryText(Value):
    """Why a call was stopped, and what to do next."""

    unverified: str = "It is the first write here and was not verified yet: nothing was written."
    unnamed: str = (
        "The code that runs does not name this function and was not stopped before, so it cannot "
        "confirm the call."
    )
    uncovered: str = "No advisory of this episode has covered this function."
    risk: str = "A high-confidence risk was found that no advisory has named for these arguments."
    difference: str = (
        "This code was stopped before and makes a write that is not on its record, while recorded "
        "writes are left: it reads something else than the first time."
    )
    finish: str = "Closing the task carries a high-confidence risk."
    exit_code_intent: str = (
        "stopped for a check before execution; not an error of the function, and no later call of "
        "this code reached the world"
    )
    high_risk: str = (
        "Do not send it unchanged: settle the high-confidence risk first with a fresh read. If it "
        "cannot be settled, report this branch as blocked and say what is missing."
    )
    clear: str = (
        "If it is still exactly right, send it again unchanged and it will run. Else revise it, "
        "gather what is missing, or report this branch as blocked."
    )
    resume: str = (
        "The executed_writes did execute. The same code sent again unchanged goes on behind them; "
        "other code must leave them out."
    )
    ledger: str = (
        "These writes were made before the code ended. Do not repeat those that are ok; read back "
        "those whose outcome is unknown."
    )

    def why(self, cause: Cause) -> str:
        """Return the sentence of a cause."""
        sentences: dict[str, str] = self.model_dump()
        return sentences[cause]

    def next_step(self, *, high_risk: bool, ledger: bool) -> str:
        """Return what the agent should do now."""
        step = self.high_risk if high_risk else self.clear
        return f"{step} {self.resume}" if ledger else step
