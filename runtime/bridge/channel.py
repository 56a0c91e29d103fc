"""The parent's end of a wire, for the event loop. A receive that is cancelled loses nothing."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Sequence

from runtime.bridge.wire import FROM_OURS, Bounds, Closed, Frame, decode, encode

__all__ = ["Channel", "readable"]


class Channel:
    """One connected socket. One receiver and one sender at a time."""

    def __init__(self, sock: socket.socket, bounds: Bounds = FROM_OURS) -> None:
        sock.setblocking(False)
        self._sock = sock
        self._bounds = bounds
        self._buffer = bytearray()

    def fileno(self) -> int:
        """Return the socket's descriptor, -1 once closed."""
        return self._sock.fileno()

    @property
    def partial(self) -> bool:
        """Whether part of a frame has arrived and the rest has not."""
        return bool(self._buffer)

    async def send(self, frame: Frame) -> None:
        """Send one frame. Raises `Closed`."""
        try:
            await asyncio.get_running_loop().sock_sendall(self._sock, encode(frame))
        except (OSError, ValueError) as error:
            raise Closed(str(error)) from None

    async def recv(self) -> Frame:
        """Wait for one frame. Raises `Closed` or `BadFrame`."""
        while (frame := self.recv_waiting()) is None:
            await readable([self])
        return frame

    def recv_waiting(self) -> Frame | None:
        """Return a frame that has already arrived whole, without waiting, else None.

        Raises `Closed` or `BadFrame`.
        """
        while (frame := decode(self._buffer, self._bounds)) is None:
            try:
                data = self._sock.recv(1 << 16)
            except BlockingIOError:
                return None
            except (OSError, ValueError) as error:
                raise Closed(str(error)) from None
            if not data:
                raise Closed("end of stream")
            self._buffer += data
        return frame

    def close(self) -> None:
        """Close the socket."""
        self._sock.close()


async def readable(channels: Sequence[Channel], seconds: float | None = None) -> None:
    """Wait until one of the channels has something to read. Raises `TimeoutError` or `Closed`.

    Waiting for readiness and reading afterwards, rather than reading in a task, means that a
    cancellation can never swallow data that had just arrived.
    """
    loop = asyncio.get_running_loop()
    ready: asyncio.Future[None] = loop.create_future()

    def mark() -> None:
        if not ready.done():
            ready.set_result(None)

    descriptors = [channel.fileno() for channel in channels]
    if -1 in descriptors:
        raise Closed("closed on this side")
    for descriptor in descriptors:
        loop.add_reader(descriptor, mark)
    try:
        async with asyncio.timeout(seconds):
            await ready
    finally:
        for descriptor in descriptors:
            loop.remove_reader(descriptor)
