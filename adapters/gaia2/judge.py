"""Puts the questions of ARE's judge to a chat model of ours."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Literal

from runtime.contracts import ChatModel, Message, Usage
from runtime.errors import EpisodeError, WorldError

__all__ = ["Judge"]

Role = Literal["system", "user", "assistant"]
VERDICTS = (("True", "False"), ("Success", "Failure"))
"""The pairs of words, in double brackets, of which a question that wants a verdict names one."""


class Judge:
    """The model behind one episode's judge, and what it used. Its tokens are not the agent's."""

    def __init__(self, model: ChatModel) -> None:
        self.model = model
        self.usage = Usage()
        self.questions = 0
        self.cost_usd: float | None = 0.0
        """None once a question's price is unknown."""

    async def answer(self, messages: Sequence[Mapping[str, str]]) -> str:
        """Return the model's answer: where a verdict is wanted, that alone, as ARE spells it.

        ARE takes every other wording for a rejection, so a model that gives no verdict is asked
        once more. Raises `WorldError`: a verdict without the model's would be a guess.
        """
        question = [
            Message(role=_role(item.get("role")), content=str(item.get("content", "")))
            for item in messages
        ]
        said = await self._ask(question)
        words = _wanted(question)
        if words is None:
            return said
        verdict = _verdict(said, words)
        if verdict is None:
            again = f"Answer with your verdict only: [[{words[0]}]] or [[{words[1]}]]."
            question += [
                Message(role="assistant", content=said),
                Message(role="user", content=again),
            ]
            said = await self._ask(question)
            verdict = _verdict(said, words)
        if verdict is None:
            raise WorldError(
                f"The judge's model {self.model.name} gave no verdict, asked twice for"
                f" [[{words[0]}]] or [[{words[1]}]]. It said: {said.strip()[:300]}"
            )
        return verdict

    async def _ask(self, question: Sequence[Message]) -> str:
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


def _wanted(question: Sequence[Message]) -> tuple[str, str] | None:
    """Return the words of the verdict that a question's rules ask for, None if they ask for none.

    Only the rules count: the rest quotes what the agent wrote.
    """
    rules = "".join(message.content for message in question if message.role == "system")
    return next((w for w in VERDICTS if all(f"[[{word}]]" in rules for word in w)), None)


def _verdict(said: str, words: tuple[str, str]) -> str | None:
    """Return the one verdict in an answer, None for none and for both."""
    marked = {found.lower() for found in re.findall(r"\[\[\s*(\w+)\s*\]\]", said)}
    named = [word for word in words if word.lower() in marked]
    return f"[[{named[0]}]]" if len(named) == 1 else None


def _role(name: object) -> Role:
    return name if name == "system" or name == "assistant" else "user"  # noqa: PLR1714 - narrows
