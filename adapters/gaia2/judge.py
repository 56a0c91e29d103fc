"""Puts the questions of ARE's judge to a chat model of ours."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from runtime.contracts import ChatModel, Message, Usage
from runtime.errors import EpisodeError, WorldError

__all__ = ["Judge"]

Role = Literal["system", "user", "assistant"]


class Judge:
    """The model behind one episode's judge, and what it used. Its tokens are not the agent's."""

    def __init__(self, model: ChatModel) -> None:
        self.model = model
        self.usage = Usage()
        self.questions = 0
        self.cost_usd: float | None = 0.0
        """None once a question's price is unknown."""

    async def answer(self, messages: Sequence[Mapping[str, str]]) -> str:
        """Return the model's answer. Raises `WorldError`: a verdict without it would be a guess."""
        question = [
            Message(role=_role(item.get("role")), content=str(item.get("content", "")))
            for item in messages
        ]
        try:
            reply = await self.model.complete(question)
        except EpisodeError as error:
            raise WorldError(f"The judge's model {self.model.name} failed: {error}") from error
        self.questions += 1
        self.usage += reply.usage or Usage()
        known = self.cost_usd is not None and reply.cost_usd is not None
        self.cost_usd = self.cost_usd + reply.cost_usd if known else None  # type: ignore[operator]
        if not reply.text.strip():
            raise WorldError(f"The judge's model {self.model.name} gave an empty answer.")
        return reply.text


def _role(name: object) -> Role:
    return name if name == "system" or name == "assistant" else "user"  # noqa: PLR1714 - narrows
