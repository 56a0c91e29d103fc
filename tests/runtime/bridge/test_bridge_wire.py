"""Frames on real sockets: whole, cut, hostile, cancelled."""

import asyncio
import json
import socket
import struct
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runtime.bridge.channel import Channel, readable
from runtime.bridge.wire import (
    DEEPEST,
    FROM_AGENT,
    BadFrame,
    Bounds,
    Closed,
    Wire,
    decode,
    encode,
)


@pytest.fixture
def pair() -> Iterator[tuple[Channel, socket.socket]]:
    ours, theirs = socket.socketpair()
    channel = Channel(ours, Bounds(bytes=100_000, items=100))
    yield channel, theirs
    channel.close()
    theirs.close()


def raw(body: bytes, length: int | None = None) -> bytes:
    return struct.pack("=I", len(body) if length is None else length) + body


frames = st.dictionaries(
    st.text(), st.recursive(st.none() | st.integers() | st.text(), st.lists, max_leaves=5)
)


@given(st.lists(frames, max_size=5), st.integers(1, 9))
def test_frames_come_out_as_they_went_in_however_they_are_cut(
    sent: list[dict[str, object]], step: int
) -> None:
    stream, buffer, got = b"".join(map(encode, sent)), bytearray(), []
    for at in range(0, len(stream), step):
        buffer += stream[at : at + step]
        while (frame := decode(buffer)) is not None:
            got.append(frame)
    assert got == sent
    assert not buffer


@given(st.binary(max_size=200))
def test_garbage_is_a_bad_frame_or_one_that_is_not_whole(garbage: bytes) -> None:
    try:
        frame = decode(bytearray(garbage))
    except BadFrame:
        return
    assert frame is None or isinstance(frame, dict)


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b"{", "not JSON"),
        (b"[]", "not an object"),
        (b"\xff", "not JSON"),
        (b"[" * 200_000, "nested deeper"),
        (b'{"a":' * 500 + b"1" + b"}" * 500, "nested deeper"),
        (b'{"n": 1' + b"0" * 5000 + b"}", "not JSON"),
    ],
)
def test_what_is_no_frame_says_why(body: bytes, said: str) -> None:
    with pytest.raises(BadFrame, match=said):
        decode(bytearray(raw(body)))


def test_a_text_without_end_after_deep_nesting_is_looked_at_once() -> None:
    endless = b"[" * (DEEPEST + 1) + b'"' + b'\\"' * 1_000_000
    with pytest.raises(BadFrame, match="nested deeper"):
        decode(bytearray(raw(endless)))
    shallow = b"[]" * (DEEPEST + 1) + b'"' + b'\\"' * 1_000_000
    with pytest.raises(BadFrame, match="not JSON"):
        decode(bytearray(raw(shallow)))


def test_agents_send_no_millions_of_items_and_worlds_may() -> None:
    frame = {"rows": [{}] * 100_001, "text": "one, two, [three]"}
    with pytest.raises(BadFrame, match="more than 100000 items"):
        decode(bytearray(encode(frame)), FROM_AGENT)
    assert decode(bytearray(encode(frame))) == frame
    prose = {"text": "one, two, [three]" * 100_000}
    assert decode(bytearray(encode(prose)), FROM_AGENT) == prose


def test_brackets_inside_of_texts_are_no_nesting() -> None:
    frame = {"text": '[{"' * 5000 + "\\", "rows": [{"a": [1]}] * 500}
    assert decode(bytearray(encode(frame))) == frame
    deep: object = 1
    for _ in range(DEEPEST - 1):
        deep = [deep]
    assert decode(bytearray(encode({"x": deep}))) == {"x": deep}


def test_lone_surrogates_become_question_marks_and_pairs_stay() -> None:
    body = json.dumps({"a": "x\ud800", "\udfff": "🙂", "c": ["\udc00\ud800"]}).encode()
    assert decode(bytearray(raw(body))) == {"a": "x?", "?": "🙂", "c": ["??"]}


def test_a_length_beyond_the_limit_is_refused_before_it_arrives() -> None:
    with pytest.raises(BadFrame, match="20000000 bytes"):
        decode(bytearray(raw(b"", 20_000_000)), FROM_AGENT)


async def test_a_cancelled_receive_loses_nothing(pair: tuple[Channel, socket.socket]) -> None:
    channel, theirs = pair
    whole = encode({"n": 1})
    theirs.send(whole[:5])
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(channel.recv(), 0.02)
    assert channel.partial
    theirs.send(whole[5:] + encode({"n": 2}))
    assert [await channel.recv(), await channel.recv()] == [{"n": 1}, {"n": 2}]


async def test_an_end_of_stream_is_closed(pair: tuple[Channel, socket.socket]) -> None:
    channel, theirs = pair
    theirs.send(encode({"n": 1})[:6])
    theirs.close()
    with pytest.raises(Closed):
        await channel.recv()
    channel.close()
    with pytest.raises(Closed):
        await readable([channel])
    with pytest.raises(Closed):
        await channel.send({"n": 2})


async def test_a_send_that_nobody_reads_can_be_cancelled(
    pair: tuple[Channel, socket.socket],
) -> None:
    channel, _ = pair
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(channel.send({"x": "y" * 5_000_000}), 0.05)


def test_the_childs_end_sees_closed_and_bad_frames() -> None:
    ours, theirs = socket.socketpair()
    wire = Wire(theirs)
    ours.send(raw(b"nonsense"))
    with pytest.raises(BadFrame):
        wire.recv()
    ours.close()
    with pytest.raises(Closed):
        wire.recv()
    with pytest.raises(Closed):
        wire.send({"n": 1})
    theirs.close()
