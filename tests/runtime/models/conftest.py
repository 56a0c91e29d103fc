"""Fixtures for tests of chat models."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import pytest

from runtime.models.config import Endpoint, ModelSettings, Provider
from runtime.models.openai import OpenAISource
from runtime.models.throttle import Throttle
from tests.support.chat_server import ChatServer

KEY = "test-key-0123456789abcdef"


@pytest.fixture
def server() -> Iterator[ChatServer]:
    with ChatServer() as running:
        yield running


class Waits(list[float]):
    """Records waits instead of waiting."""

    async def __call__(self, seconds: float) -> None:
        self.append(seconds)


@pytest.fixture
def waits() -> Waits:
    return Waits()


@pytest.fixture
async def source(server: ChatServer, waits: Waits) -> AsyncIterator[Callable[..., OpenAISource]]:
    """Make sources on the server; keyword arguments are settings of the model."""
    made: list[OpenAISource] = []

    def make(*, base_url: str = server.base_url, key: str | None = KEY, **settings: Any):
        provider = Provider(base_url=base_url, api_key_env="TEST_KEY" if key else None)
        endpoint = Endpoint(
            name="mini",
            provider_name="test",
            provider=provider,
            settings=ModelSettings(model="mini-1", **settings),
        )
        made.append(OpenAISource(endpoint, key, Throttle(provider), sleep=waits))
        return made[-1]

    yield make
    for each in made:
        await each.close()
