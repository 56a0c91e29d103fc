"""Chat models behind OpenAI-compatible endpoints: chat completions, not streamed.

Importing this module imports the `openai` package, which takes about a second: only
`runtime.models.resolve` does so, and only for a name that needs it.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

from openai import APIStatusError, APITimeoutError, AsyncOpenAI, Timeout

from runtime.contracts import Json, Message, Reply, Task
from runtime.errors import ContextOverflow, ModelError, NotReady
from runtime.masking import Masker
from runtime.models.completion import Completion, NotACompletion, read_completion
from runtime.models.config import Endpoint
from runtime.models.dialect import Dialect, Request
from runtime.models.failures import Failure, failure_of_body, retry_after_s
from runtime.models.retry import Retry
from runtime.models.throttle import Sleep, Throttle

if TYPE_CHECKING:
    from openai import AsyncAPIResponse
    from openai.types.chat import ChatCompletionMessageParam

__all__ = ["OpenAIModel", "OpenAISource"]

CONNECT_S = 10.0
CHECK_S = 20.0
LARGEST_BODY = 32 * 2**20
"""Bytes of one reply, unpacked. No model writes as much, and a server that never ends would fill
the memory long before its time is up."""
SHORTEST_KEY = 8
"""Local servers are given keys such as `none`: masking that word in every trace would harm."""


class OpenAISource:
    """One configured model. Its connections and what it learnt about the endpoint are shared."""

    def __init__(
        self,
        endpoint: Endpoint,
        key: str | None,
        throttle: Throttle,
        *,
        retry: Retry | None = None,
        sleep: Sleep = asyncio.sleep,
    ) -> None:
        """`sleep` waits between attempts, in seconds. Raises `NotReady`."""
        settings = endpoint.settings
        self._endpoint = endpoint
        self._key = key
        self._throttle = throttle
        self._retry = retry or Retry(settings.retries)
        self._sleep = sleep
        self._dialect = Dialect(endpoint.name, settings)
        self._client = _client(endpoint, key)

    @property
    def name(self) -> str:
        """The name on the command line."""
        return self._endpoint.name

    def describe(self) -> dict[str, Json]:
        """Return model id, endpoint, parameters and prices."""
        settings = self._endpoint.settings.model_dump(mode="json")
        kept = ("model", "parameters", "roles", "send_seed", "prices")
        return {
            "name": self.name,
            "base_url": self._endpoint.provider.base_url,
            **{key: settings[key] for key in kept},
        }

    def secrets(self) -> tuple[str, ...]:
        """Return the key, if there is one worth hiding."""
        return (self._key,) if self._key and len(self._key) >= SHORTEST_KEY else ()

    def for_episode(self, task: Task, seed: int) -> OpenAIModel:  # noqa: ARG002 - protocol
        """Return the model for one episode; every task will do."""
        return OpenAIModel(self, seed)

    async def close(self) -> None:
        """Close connections."""
        await self._client.close()

    async def check(self) -> None:
        """Ask the endpoint for its list of models. Raises `NotReady` if it is dead or refuses.

        An endpoint without such a list passes: that says nothing about its completions.
        """
        try:
            async with asyncio.timeout(CHECK_S):
                async with self._client.models.with_streaming_response.list():
                    pass  # Its body is not looked at.
        except APIStatusError as error:
            if error.status_code in {401, 403}:
                failure = self._without_key(_refusal(error))
                raise NotReady(self._sentence(failure, attempts=1)) from None
        except Exception as error:  # noqa: BLE001 - as in `_ask`
            waited_s = min(CHECK_S, self._endpoint.settings.timeout_s)
            failure = self._without_key(_connection_failure(error, waited_s))
            raise NotReady(self._sentence(failure, attempts=1)) from None

    async def complete(self, messages: Sequence[Message], seed: int) -> Reply:
        """Ask until there is a completion or no hope of one. Raises `ModelError` and its kinds."""
        attempts = retries = 0
        while True:
            attempts += 1
            request = self._dialect.request(messages, seed)
            async with self._throttle.turn():
                began = time.monotonic()
                answer = await self._ask(request)
                latency_s = time.monotonic() - began
            if isinstance(answer, Completion):
                return self._reply(answer, request, latency_s, attempts)
            failure = self._without_key(answer)
            if failure.context_overflow:
                raise ContextOverflow(self._sentence(failure, attempts))
            if self._dialect.learn(failure, request):
                continue
            wait_s = self._retry.wait_s(failure, retries)
            if wait_s is None:
                raise ModelError(self._sentence(failure, attempts))
            retries += 1
            await self._sleep(wait_s)

    async def _ask(self, request: Request) -> Completion | Failure:
        form = [
            {"role": each.role, "content": _sendable(each.content)} for each in request.messages
        ]
        timeout_s = self._endpoint.settings.timeout_s
        try:
            # The client's time-outs are per read: a server that drips would never end.
            async with asyncio.timeout(timeout_s):
                async with self._client.chat.completions.with_streaming_response.create(
                    model=self._endpoint.settings.model,
                    messages=cast("list[ChatCompletionMessageParam]", form),
                    # Merged into the body unseen, so that any server's parameter passes.
                    extra_body=request.parameters,
                ) as response:
                    return _read(await _body(response))
        except APIStatusError as error:
            return _refusal(error)
        except Exception as error:  # noqa: BLE001 - the client passes on what its transport raises
            return _connection_failure(error, timeout_s)

    def _reply(
        self, completion: Completion, request: Request, latency_s: float, attempts: int
    ) -> Reply:
        usage = completion.counted()
        return Reply(
            text=completion.text,
            usage=usage,
            cost_usd=self._endpoint.settings.prices.cost(usage),
            latency_s=latency_s,
            finish_reason=completion.finish_reason,
            served_model=completion.model or "",
            attempts=attempts,
            adaptations=request.adaptations,
        )

    def _without_key(self, failure: Failure) -> Failure:
        """Mask what the server's words echo, before they reach an error or a log."""
        masker = Masker((self._key,) if self._key else ())
        return replace(failure, words=masker.mask_text(failure.words))

    def _sentence(self, failure: Failure, attempts: int) -> str:
        after = f" after {attempts} attempts" if attempts > 1 else ""
        return f"Model {self.name!r}{after}: {self._explain(failure)}"

    def _explain(self, failure: Failure) -> str:
        provider, settings = self._endpoint.provider, self._endpoint.settings
        words = failure.quoted
        match failure.kind:
            case "unreachable":
                return (
                    f"no complete answer from {provider.base_url} ({words}). Check that the server "
                    "runs and that base_url is right: http or https, host, port, and the path, "
                    "mostly /v1."
                )
            case "timeout":
                raising = failure.waited_s >= settings.timeout_s
                return (
                    f"{provider.base_url} did not answer within {failure.waited_s:g} s. "
                    f"{'Raise timeout_s in models.toml, or check' if raising else 'Check'} the "
                    "server."
                )
            case "garbled":
                return (
                    f"{provider.base_url} does not answer like the OpenAI API ({words}). Check "
                    "that base_url ends where /chat/completions begins, mostly in /v1."
                )
            case "refused":
                return f"HTTP {failure.status}: {words}{self._advice(failure)}"

    def _advice(self, failure: Failure) -> str:
        provider, settings = self._endpoint.provider, self._endpoint.settings
        if failure.out_of_credit:
            return " - The account has no credit left."
        match failure.status:
            case 401 | 403 if provider.api_key_env:
                return f" - Check the key in the environment variable {provider.api_key_env}."
            case 401 | 403:
                return " - Name the variable that holds the key as api_key_env in models.toml."
            case 404:
                return f" - Check the model id {settings.model!r} and base_url {provider.base_url}."
            case 429:
                return " - Lower concurrency or requests_per_minute of this provider."
            case _:
                return ""


class OpenAIModel:
    """An `OpenAISource` for one episode, with its seed."""

    def __init__(self, source: OpenAISource, seed: int) -> None:
        self._source = source
        self._seed = seed

    @property
    def name(self) -> str:
        """The name on the command line."""
        return self._source.name

    async def complete(self, messages: Sequence[Message]) -> Reply:
        """Complete a conversation.

        A reply may be empty, or cut off (`finish_reason` `length`): that is passed on as it is.
        `latency_s` is that of the attempt that brought the reply, without waits before it.
        """
        return await self._source.complete(messages, self._seed)


def _sendable(text: str) -> str:
    """Spell out lone surrogates, which a program can print but no UTF-8 body can hold."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def _client(endpoint: Endpoint, key: str | None) -> AsyncOpenAI:
    address, timeout_s = endpoint.provider.base_url, endpoint.settings.timeout_s
    try:
        return AsyncOpenAI(
            api_key=key or "none",  # the client insists; a server without keys does not look
            base_url=address,
            max_retries=0,
            timeout=Timeout(timeout_s, connect=min(CONNECT_S, timeout_s)),
        )
    except Exception as error:  # of any kind: it reads the environment's proxies and certificates
        raise NotReady(
            f"Model {endpoint.name!r}: {address} cannot be called ({_named(error)}). Check "
            "base_url, and the variables HTTP_PROXY, HTTPS_PROXY, ALL_PROXY and SSL_CERT_FILE."
        ) from error


def _connection_failure(error: Exception, waited_s: float) -> Failure:
    cause = error.__cause__ or error
    connecting = type(cause).__name__ == "ConnectTimeout"  # timeout_s would not help: CONNECT_S
    if isinstance(error, TimeoutError | APITimeoutError) and not connecting:
        return Failure("timeout", "no answer in time", waited_s=waited_s)
    return Failure("unreachable", _named(cause))


def _named(error: BaseException) -> str:
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return f"{type(error).__name__}: {error}".rstrip(": ")


def _refusal(error: APIStatusError) -> Failure:
    response = error.response
    try:
        body: object = json.loads(response.content)
    except (ValueError, RecursionError):
        body = response.text
    return failure_of_body(error.status_code, body, retry_after=retry_after_s(response.headers))


async def _body(response: AsyncAPIResponse[Any]) -> bytes:
    """Read a body, one byte past the largest at most."""
    body = bytearray()
    async for chunk in response.iter_bytes():
        body += chunk
        if len(body) > LARGEST_BODY:
            break
    return bytes(body)


def _read(body: bytes) -> Completion | Failure:
    """Read the body of a 200. Some gateways put an upstream's error into one."""
    if len(body) > LARGEST_BODY:
        return Failure("garbled", f"its reply is longer than {LARGEST_BODY >> 20} MB")
    try:
        data = json.loads(body)
    except (ValueError, RecursionError) as error:
        what = "not UTF-8" if isinstance(error, UnicodeDecodeError) else "not JSON"
        start = body[:1000].decode("utf-8", "replace").strip()[:80]
        return Failure("garbled", f"{what}; it begins with {start!r}")
    if isinstance(data, dict) and data.get("error") and not data.get("choices"):
        code = data["error"].get("code") if isinstance(data["error"], dict) else None
        return failure_of_body(code if isinstance(code, int) and 400 <= code < 600 else 400, data)
    try:
        return read_completion(data)
    except NotACompletion as problem:
        return Failure("garbled", str(problem))
