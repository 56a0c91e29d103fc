"""Frames between processes: a 4-byte length and JSON. Standard library only: children import this.

Both ends treat a frame as hostile: its length is capped, and whatever does not parse is a
`BadFrame`, never a crash. The functions are bound as defaults when the module is imported, since
agent code that shares a process with one end may replace `json.dumps` or `struct.pack` later.
"""

from __future__ import annotations

import json
import re
import socket
import struct
from collections.abc import Callable
from typing import Any

__all__ = ["LARGEST", "BadFrame", "Closed", "Frame", "Wire", "decode", "encode"]

Frame = dict[str, Any]
LARGEST = 16 << 20
"""Bytes in one frame. A page of results is kilobytes; a cell's output is cut at 1 MiB."""
DEEPEST = 100
"""Nesting in one frame. Deeper ones would break those who walk over them later."""
HEADER = struct.Struct("=I")
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")
_BRACKETS = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"|[\[{]|[\]}]')


class Closed(Exception):
    """The other end is gone."""


class BadFrame(Exception):
    """The other end sent something that is no frame."""


def encode(
    frame: Frame,
    default: Callable[[Any], Any] | None = None,
    *,
    _dumps: Callable[..., str] = json.dumps,
    _pack: Callable[..., bytes] = HEADER.pack,
) -> bytes:
    """Return the frame's bytes. `default` turns values unknown to JSON into ones it knows."""
    body = _dumps(frame, default=default).encode("utf-8", "surrogatepass")
    return _pack(len(body)) + body


def decode(
    buffer: bytearray,
    largest: int = LARGEST,
    *,
    _loads: Callable[[str], Any] = json.loads,
    _dumps: Callable[..., str] = json.dumps,
    _unpack: Callable[..., tuple[int]] = HEADER.unpack_from,
) -> Frame | None:
    """Take one whole frame off the front of `buffer`, or return None if there is none yet.

    Lone surrogates, which no file or database takes, become "?". Raises `BadFrame` for a frame
    that is too long, no JSON, too deep, or no object.
    """
    if len(buffer) < HEADER.size:
        return None
    (length,) = _unpack(buffer)
    if length > largest:
        raise BadFrame(f"a frame of {length} bytes (at most {largest})")
    end = HEADER.size + length
    if len(buffer) < end:
        return None
    body = buffer[HEADER.size : end].decode("utf-8", "replace")
    del buffer[:end]
    if body.count("[") + body.count("{") > DEEPEST and _depth(body) > DEEPEST:
        raise BadFrame(f"JSON nested deeper than {DEEPEST}")
    try:
        frame = _loads(body)
        if _SURROGATE.search(body):
            plain = _dumps(frame, ensure_ascii=False).encode("utf-8", "replace")
            frame = _loads(plain.decode())
    except (ValueError, RecursionError) as error:
        raise BadFrame(f"not JSON ({type(error).__name__})") from None
    if not isinstance(frame, dict):
        raise BadFrame("not an object")
    return frame


def _depth(body: str) -> int:
    """Return how deep brackets nest outside of strings."""
    depth = deepest = 0
    for found in _BRACKETS.finditer(body):
        token = found.group()
        if token in {"[", "{"}:
            depth += 1
            deepest = max(deepest, depth)
        elif token in {"]", "}"}:
            depth -= 1
    return deepest


class Wire:
    """The blocking end of a socket, as children use it."""

    def __init__(self, sock: socket.socket, largest: int = LARGEST) -> None:
        self._sock = sock
        self._largest = largest
        self._buffer = bytearray()
        self._encode, self._decode = encode, decode

    def send(self, frame: Frame, default: Callable[[Any], Any] | None = None) -> None:
        """Send one frame. Raises `Closed`."""
        try:
            self._sock.sendall(self._encode(frame, default))
        except (BrokenPipeError, ConnectionResetError):
            raise Closed from None

    def recv(self) -> Frame:
        """Wait for one frame. Raises `Closed` or `BadFrame`."""
        while (frame := self._decode(self._buffer, self._largest)) is None:
            try:
                data = self._sock.recv(65536)
            except ConnectionResetError:
                raise Closed from None
            if not data:
                raise Closed
            self._buffer += data
        return frame
