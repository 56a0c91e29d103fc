"""Reads the body of a chat completion as the many OpenAI-like servers write it."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from runtime.contracts import Usage

__all__ = ["Completion", "NotACompletion", "read_completion"]


class NotACompletion(ValueError):
    """A body that is not a chat completion, with what it is instead."""


class _Foreign(BaseModel):
    """Servers add fields of their own: what is not read here is left alone."""

    model_config = ConfigDict(extra="ignore")


class _Part(_Foreign):
    text: str | None = None


class _Message(_Foreign):
    content: str | list[_Part] | None = None
    refusal: str | None = None


class _Choice(_Foreign):
    message: _Message
    finish_reason: str | None = None


Count = Annotated[int, Field(ge=0, le=10**9)]
"""Tokens. More than the highest are no count of one completion."""


class _InputDetails(_Foreign):
    cached_tokens: Count | None = None


class _OutputDetails(_Foreign):
    reasoning_tokens: Count | None = None


class _Usage(_Foreign):
    prompt_tokens: Count
    completion_tokens: Count
    total_tokens: Count | None = None
    prompt_tokens_details: _InputDetails | None = None
    completion_tokens_details: _OutputDetails | None = None
    prompt_cache_hit_tokens: Count | None = None


class Completion(_Foreign):
    """A chat completion."""

    choices: list[_Choice]
    model: str | None = None
    usage: Any = None
    """Not validated with the rest: a reply with odd counts is a reply all the same."""

    @property
    def text(self) -> str:
        """The reply's text; "" where there is none. A refusal counts as the text it is."""
        message = self.choices[0].message
        if isinstance(message.content, list):
            return "".join(part.text or "" for part in message.content)
        return message.content or message.refusal or ""

    @property
    def finish_reason(self) -> str:
        """Why the reply ended, as the server names it; `unknown` where it does not say."""
        return self.choices[0].finish_reason or "unknown"

    def counted(self) -> Usage | None:
        """Return the usage; None where the server counts no tokens, or what cannot be counts."""
        try:
            usage = _Usage.model_validate(self.usage)
        except ValidationError:
            return None
        inside = usage.prompt_tokens_details or _InputDetails()
        thought = usage.completion_tokens_details or _OutputDetails()
        # Some providers leave reasoning out of completion_tokens, though they bill it as output;
        # their total gives it away.
        output = max(usage.completion_tokens, (usage.total_tokens or 0) - usage.prompt_tokens)
        cached = inside.cached_tokens or usage.prompt_cache_hit_tokens or 0
        return Usage(
            input=usage.prompt_tokens,
            cached=min(cached, usage.prompt_tokens),
            output=output,
            reasoning=min(thought.reasoning_tokens or 0, output),
        )


def read_completion(data: object) -> Completion:
    """Validate a parsed body. Raises `NotACompletion`."""
    try:
        completion = Completion.model_validate(data)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"]) or "body"
        raise NotACompletion(f"{where}: {first['msg']}") from None
    if not completion.choices:
        raise NotACompletion("choices is empty")
    return completion
