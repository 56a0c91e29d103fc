"""Keeps to a provider's limits: requests in flight, and requests per minute."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, nullcontext

from runtime.models.config import Provider

__all__ = ["Sleep", "Throttle"]

Sleep = Callable[[float], Awaitable[None]]


class Throttle:
    """One per provider, shared by everything that talks to it within one event loop.

    Requests are spaced evenly (60 s / requests per minute) rather than let through in bursts:
    many providers enforce a rate per minute over far shorter windows.
    """

    def __init__(
        self,
        provider: Provider,
        *,
        sleep: Sleep = asyncio.sleep,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        rate = provider.requests_per_minute
        self._interval_s = 60.0 / rate if rate else 0.0
        self._in_flight = asyncio.Semaphore(provider.concurrency) if provider.concurrency else None
        self._sleep = sleep
        self._clock = clock
        self._next_start = 0.0

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[None]:
        """Wait for a turn; it lasts until the context is left."""
        async with self._in_flight or nullcontext():
            now = self._clock()
            start = max(now, self._next_start)
            self._next_start = start + self._interval_s
            if start > now:
                await self._sleep(start - now)
            yield
