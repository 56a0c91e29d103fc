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
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

__all__ = [
    "FROM_AGENT",
    "FROM_OURS",
    "BadFrame",
    "Bounds",
    "Closed",
    "Frame",
    "Wire",
    "decode",
    "encode",
]

Frame = dict[str, Any]
DEEPEST = 100
"""Nesting in one frame. Deeper ones would break those who walk over them later."""


@dataclass(frozen=True)
class Bounds:
    """What one frame may hold; more is a `BadFrame`."""

    bytes: int
    items: int | None
    """Commas and opening brackets outside of strings, each of which costs its reader some hundred
    bytes and ten microseconds. None: uncounted."""


FROM_AGENT = Bounds(bytes=16 << 20, items=100_000)
"""Of a process that agent code shares. A page of results is kilobytes; output is cut at 1 MiB."""
FROM_OURS = Bounds(bytes=512 << 20, items=None)
"""Of a process of ours: what it says may be as large as the world it holds."""
HEADER = struct.Struct("=I")
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")
_TOKENS = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*(?:"|\Z)|[\[{,]|[\]}]', re.DOTALL)
"""Strings (also one that does not end: without that, looking for its end takes quadratic time),
what begins an item, and what ends one."""


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
    bounds: Bounds = FROM_OURS,
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
    if length > bounds.bytes:
        raise BadFrame(f"a frame of {length} bytes (at most {bounds.bytes})")
    end = HEADER.size + length
    if len(buffer) < end:
        return None
    body = buffer[HEADER.size : end].decode("utf-8", "replace")
    del buffer[:end]
    openings = body.count("[") + body.count("{")
    most = bounds.items if bounds.items is not None else sys.maxsize
    if openings > DEEPEST or openings + body.count(",") > most:
        _measure(body, most)
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


def _measure(body: str, most: int) -> None:
    """Raise `BadFrame` if brackets outside of strings nest too deep, or there are too many items.

    Looks at each token once, and no further than the bound.
    """
    depth = items = 0
    for found in _TOKENS.finditer(body):
        mark = body[found.start()]
        if mark in "[{":
            depth += 1
        elif mark in "]}":
            depth -= 1
        items += mark in "[{,"
        if depth > DEEPEST:
            raise BadFrame(f"JSON nested deeper than {DEEPEST}")
        if items > most:
            raise BadFrame(f"JSON of more than {most} items")


class Wire:
    """The blocking end of a socket, as children use it. Its other end is a process of ours."""

    def __init__(self, sock: socket.socket) -> None:
        self._sock = sock
        self._buffer = bytearray()
        self._encode, self._decode = encode, decode

    def send(self, frame: Frame, default: Callable[[Any], Any] | None = None) -> None:
        """Send one frame. Raises `Closed`."""
        self.send_bytes(self._encode(frame, default))

    def send_bytes(self, encoded: bytes) -> None:
        """Send what `encode` made. Raises `Closed`."""
        try:
            self._sock.sendall(encoded)
        except (BrokenPipeError, ConnectionResetError):
            raise Closed from None

    def recv(self) -> Frame:
        """Wait for one frame. Raises `Closed` or `BadFrame`."""
        while (frame := self._decode(self._buffer)) is None:
            try:
                data = self._sock.recv(65536)
            except ConnectionResetError:
                raise Closed from None
            if not data:
                raise Closed
            self._buffer += data
        return frame
