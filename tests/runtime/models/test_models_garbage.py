"""Endpoints that answer with garbage, never, or without end: one sentence, within the limits."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress

import pytest

from runtime.contracts import Message, Task
from runtime.errors import ModelError, NotReady
from runtime.models import openai
from tests.support.chat_server import completion

TASK = Task(benchmark="b", id="t_1", scenario_id="t", dataset="d", instruction="do")
GOOD = json.dumps(completion("hello").body).encode()
HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n"
CHUNKED = HEAD + b"transfer-encoding: chunked\r\n\r\n"

Behave = Callable[[asyncio.StreamWriter], Awaitable[None]]


async def silence(writer: asyncio.StreamWriter) -> None:
    await asyncio.sleep(1)


@asynccontextmanager
async def serving(behave: Behave) -> AsyncIterator[str]:
    """Serve connections that behave so once a request has come, then close."""

    handlers: list[asyncio.Task[None]] = []
    writers: list[asyncio.StreamWriter] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        handlers.append(asyncio.current_task())
        writers.append(writer)
        with suppress(ConnectionError, asyncio.IncompleteReadError):
            head = await reader.readuntil(b"\r\n\r\n")
            length = re.search(rb"content-length: (\d+)", head, re.IGNORECASE)
            await reader.readexactly(int(length[1]) if length else 0)
            await behave(writer)
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
    for handler in handlers:
        handler.cancel()
    await asyncio.gather(*handlers, return_exceptions=True)
    for writer in writers:
        writer.transport.abort()
    await asyncio.sleep(0.01)  # transports close in the loop's next rounds


def sending(*parts: bytes) -> Behave:
    async def behave(writer: asyncio.StreamWriter) -> None:
        for part in parts:
            writer.write(part)
            await writer.drain()

    return behave


def whole(body: bytes, head: bytes = HEAD) -> Behave:
    return sending(head + b"content-length: %d\r\n\r\n" % len(body) + body)


async def answer(source, behave: Behave, **settings) -> str:
    """Return the reply's text, or the error in words."""
    async with serving(behave) as base_url:
        made = source(base_url=base_url, **{"retries": 0, "timeout_s": 30, **settings})
        try:
            model = made.for_episode(TASK, 0)
            return (await model.complete((Message(role="user", content="hi"),))).text
        except ModelError as error:
            return str(error)


@pytest.mark.parametrize(
    ("behave", "words"),
    [
        (sending(CHUNKED, b"ff\r\n" + GOOD[:20]), "no complete answer"),
        (sending(CHUNKED, b"zz\r\n" + GOOD), "no complete answer"),
        (sending(HEAD + b"content-length: 9999\r\n\r\n" + GOOD), "no complete answer"),
        (sending(), "no complete answer"),
        (sending(b"SSH-2.0-OpenSSH_9\r\n"), "no complete answer"),
        (sending(b"HTTP/1.1 200 OK\r\nx: " + b"a" * 300_000), "no complete answer"),
        (whole(b"abc", HEAD + b"content-encoding: gzip\r\n"), "no complete answer"),
        (whole(GOOD.replace(b"hello", b"\xff\xfe")), "not UTF-8; it begins with"),
        (whole(b"[" * 200_000), "not JSON; it begins with '[[["),
        (whole(b'{"choices":' + b"[" * 200_000), "not JSON; it begins with"),
        (whole(GOOD.replace(b'"created": 0', b'"created": ' + b"9" * 5000)), "not JSON"),
        (whole(b"[" * 200_000, b"HTTP/1.1 400 Bad\r\n"), "HTTP 400: [[["),
        (whole(b"", b"HTTP/1.1 302 Found\r\nlocation: http://127.0.0.1:1/v1\r\n"), "no complete"),
        (whole(b"", b"HTTP/1.1 302 Found\r\nlocation: http://h:99999/\r\n"), "no complete"),
        (whole(b"", b"HTTP/1.1 302 Found\r\nlocation: /v1\r\n"), "redirect"),
        (whole(b"", b"HTTP/1.1 302 Found\r\n"), "HTTP 302"),
        (whole(b'{"error": {"code": 99999, "message": "boo"}}'), "HTTP 400: boo"),
    ],
    ids=[
        *("chunk cut", "no chunk", "body cut", "closed", "no HTTP", "endless head", "no gzip"),
        *("no UTF-8", "deep", "deep choices", "digits", "deep refusal"),
        *("redirect to none", "redirect to no port", "redirect in a circle", "redirect nowhere"),
        "no status",
    ],
)
async def test_garbage_becomes_one_sentence(source, behave, words):
    assert words in await answer(source, behave)


@pytest.mark.parametrize(
    "behave",
    [
        sending(CHUNKED, b"%x\r\n" % len(GOOD) + GOOD + b"\r\n0\r\n\r\n"),
        sending(b"HTTP/1.0 200 OK\r\n\r\n" + GOOD),
        whole(GOOD, b"HTTP/1.1 200 OK\r\ncontent-type: text/html; charset=latin-1\r\n"),
        whole(b"\xef\xbb\xbf" + GOOD),
    ],
    ids=["chunked", "HTTP/1.0 until it closes", "wrong content type", "byte order mark"],
)
async def test_unusual_but_whole_replies_are_read(source, behave):
    assert await answer(source, behave) == "hello"


async def test_a_reply_without_end_does_not_fill_the_memory(source):
    sent = 0

    async def endless(writer: asyncio.StreamWriter) -> None:
        nonlocal sent
        writer.write(HEAD + b"\r\n")
        while sent < 10 * openai.LARGEST_BODY:
            writer.write(b" " * 2**20)
            sent += 2**20
            await writer.drain()

    assert "longer than 32 MB" in await answer(source, endless)
    assert sent < 2 * openai.LARGEST_BODY


async def test_a_drip_after_the_head_ends_with_the_time_out(source):
    async def drip(writer: asyncio.StreamWriter) -> None:
        writer.write(CHUNKED)
        while True:
            writer.write(b"1\r\n \r\n")
            await writer.drain()
            await asyncio.sleep(0.02)

    words = await answer(source, drip, timeout_s=0.3)
    assert "did not answer within 0.3 s. Raise timeout_s" in words


@pytest.mark.parametrize("date", ["Mon, 32 Jan 2999999 99:99:99 GMT", "Mon, 1 Jan 99999 0:0:0 GMT"])
async def test_a_retry_after_that_no_calendar_has_is_no_reason_to_give_up(source, waits, date):
    refusals = [b"HTTP/1.1 429 Slow\r\nretry-after: %s\r\n" % date.encode()]

    async def once(writer: asyncio.StreamWriter) -> None:
        await whole(GOOD, refusals.pop() if refusals else HEAD)(writer)

    assert await answer(source, once, retries=1) == "hello"
    assert len(waits) == 1


async def test_a_check_names_the_time_it_waited_and_no_setting_that_would_not_help(
    source, monkeypatch
):
    monkeypatch.setattr(openai, "CHECK_S", 0.2)
    async with serving(silence) as base_url:
        with pytest.raises(NotReady, match=r"did not answer within 0\.2 s\. Check the server"):
            await source(base_url=base_url).check()


async def test_https_on_a_plain_server_is_no_matter_of_timeout_s(source, monkeypatch):
    monkeypatch.setattr(openai, "CONNECT_S", 0.2)
    async with serving(silence) as base_url:
        made = source(base_url=base_url.replace("http:", "https:"))
        with pytest.raises(NotReady, match="http or https") as caught:
            await made.check()
    assert "timeout_s" not in str(caught.value)


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("HTTP_PROXY", "http://127.0.0.1:abc"),
        ("ALL_PROXY", "socks9://127.0.0.1:9"),
        ("SSL_CERT_FILE", "nowhere.pem"),
    ],
)
def test_an_environment_that_no_client_can_be_made_in_is_named(
    source, monkeypatch, variable, value
):
    monkeypatch.setenv(variable, value)
    with pytest.raises(NotReady, match=rf"cannot be called .*{variable}"):
        source()
