"""Tells apart what an endpoint means when it does not answer with a completion.

OpenAI-like servers agree on little here: the same refusal comes under several codes and in many
wordings. What is recognised was collected from what OpenAI, Azure, vLLM, SGLang, TGI, llama.cpp,
LM Studio, Anthropic, Gemini, Mistral, Groq, Bedrock and xAI are known to answer.
"""

from __future__ import annotations

import email.utils
import re
import time
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Literal

__all__ = ["Failure", "failure_of_body", "retry_after_s"]

LONGEST_QUOTE = 800
"""Characters quoted of what a server says: an HTML page would drown the sentence."""
LONGEST_WORDS = 20_000
"""Characters that are searched for what a server means."""

_REQUEST_REFUSED = frozenset({400, 413, 422, 500})
"""A request that cannot be served is mostly a 400; templates that raise end as a 500 in some."""
_PASSING = frozenset({408, 409, 425, 429})

_OUT_OF_CREDIT = frozenset({"insufficient_quota", "billing_hard_limit_reached"})
_OVERFLOW_CODES = frozenset(
    {
        "context_length_exceeded",
        "exceed_context_size_error",
        "context_exceeded",
        "request_too_large",
        "string_above_max_length",
    }
)
_OVERFLOW = re.compile(
    r"maximum context length|maximum prompt length|maximum allowed input length"
    r"|context[ _](length|size|window|limit)\b.{0,40}\bexceed"
    r"|exceeds?\b.{0,60}\bcontext[ _](length|size|window|limit)"
    r"|longer than the model'?s context"
    r"|context (the )?overflows"
    r"|(prompt|input) is too long|prompt too long|too large for model with"
    r"|input token count\b.{0,40}\bexceeds"
    r"|reduce the length of the (messages|prompt|input)"
    r"|too many tokens"
    r"|`?inputs`?( tokens)? (\+ `?max_new_tokens`? )?must (be|have) (<=|less than)",
    re.IGNORECASE | re.DOTALL,
)
_SYSTEM_ROLE = re.compile(
    r"system role (is )?not supported"
    r"|(does not|doesn't) support (the )?(system|developer) (role|mess)"
    r"|role'? (does not|doesn't) support 'system'"
    r"|(system|developer) (message|prompt)s? (is|are) not"
    r"|developer instruction is not enabled"
    r"|only user(,| and) (assistant|model)\b.{0,20}roles"
    r"|(unsupported|invalid|unknown) role:? ['\"`]?system"
    r"|conversation roles must alternate",
    re.IGNORECASE,
)
_NOT_SUPPORTED = re.compile(
    r"unsupported|not supported|does not support|doesn't support|unrecogni[sz]ed|is deprecated"
    r"|unknown (field|param)|(parameter|argument)\b.{0,40}\bnot allowed"
    r"|extra inputs? (is|are) not permitted|extra_forbidden",
    re.IGNORECASE,
)
_OTHER_VALUES = re.compile(r"supported values are", re.IGNORECASE)


@dataclass(frozen=True)
class Failure:
    """One attempt that brought no completion."""

    kind: Literal["refused", "unreachable", "timeout", "garbled"]
    """`refused`: the endpoint answered with an error; `garbled`: with something else entirely."""
    words: str
    """The server's words, or those of the connection."""
    status: int = 0
    """HTTP status of a refusal."""
    codes: frozenset[str] = frozenset()
    """The error's code and type."""
    parameter: str = ""
    """The request's field that the server blames."""
    retry_after_s: float | None = None
    waited_s: float = 0.0
    """How long was waited for the answer that did not come in time."""

    @property
    def quoted(self) -> str:
        """The words as a sentence can take them."""
        return self.words[:LONGEST_QUOTE]

    @property
    def passing(self) -> bool:
        """Whether the same request may succeed later."""
        if self.kind == "refused":
            return (self.status in _PASSING or self.status >= 500) and not self.out_of_credit
        return self.kind in {"unreachable", "timeout"}

    @property
    def out_of_credit(self) -> bool:
        """Whether the account is empty: a 429 in OpenAI's dialect, but no rate limit."""
        return bool(self.codes & _OUT_OF_CREDIT) or self.status == 402

    @property
    def context_overflow(self) -> bool:
        """Whether the conversation is longer than the model can take."""
        if self.status not in _REQUEST_REFUSED:
            return False
        return bool(self.codes & _OVERFLOW_CODES or _OVERFLOW.search(self.words))

    @property
    def system_role_rejected(self) -> bool:
        """Whether the model takes no system message."""
        if self.status not in _REQUEST_REFUSED:
            return False
        about_role = self.parameter.endswith(".role") and "system" in self.words
        return about_role or bool(_SYSTEM_ROLE.search(self.words))

    def rejected_parameter(self, sent: Collection[str]) -> str | None:
        """Return which of the sent parameters the model does not have; None if it is not that.

        A value that is out of range, or one of several that the server lists, is the user's to
        mend: dropping it would run another experiment than the one asked for.
        """
        stated = " ".join((*sorted(self.codes), self.words))
        if self.status not in {400, 422} or not _NOT_SUPPORTED.search(stated):
            return None
        if _OTHER_VALUES.search(self.words):
            return None
        if self.parameter in sent:
            return self.parameter
        named = (name for name in sent if re.search(rf"\b{re.escape(name)}\b", self.words))
        return min(named, key=self.words.index, default=None)


def failure_of_body(status: int, body: object, *, retry_after: float | None = None) -> Failure:
    """Read an error's body: `{"error": {...}}`, `{"error": "..."}`, `{"message": ...}` or text."""
    error = body.get("error", body) if isinstance(body, dict) else body
    if not isinstance(error, dict):
        words = str(error or "").strip() or "no reason given"
        return Failure("refused", words[:LONGEST_WORDS], status, retry_after_s=retry_after)
    return Failure(
        "refused",
        str(error.get("message") or error.get("detail") or error)[:LONGEST_WORDS],
        status,
        codes=frozenset(str(error[key]) for key in ("code", "type") if error.get(key)),
        parameter=str(error.get("param") or ""),
        retry_after_s=retry_after,
    )


def retry_after_s(headers: Mapping[str, str]) -> float | None:
    """Return how many seconds a server asks to wait; None where it does not say.

    Reads `retry-after-ms`, and `Retry-After` in seconds or as an HTTP date (RFC 9110, 10.2.3).
    """
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        try:
            seconds = float(headers.get(name, "")) * unit
        except ValueError:
            continue
        if 0 <= seconds < float("inf"):
            return seconds
    try:
        date = email.utils.parsedate_tz(headers.get("retry-after", ""))
        return max(0.0, email.utils.mktime_tz(date) - time.time()) if date else None
    except (ValueError, OverflowError):  # a date that no calendar has
        return None
