"""Fixtures of the tests that open GAIA2 worlds: one warm benchmark for all of them."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from gaia2_worlds import Opened, small_setup

from adapters.gaia2.benchmark import Gaia2


@pytest.fixture(scope="session")
async def gaia2(
    gaia2_python: Path, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Gaia2]:
    async with Gaia2(small_setup(gaia2_python, tmp_path_factory.mktemp("gaia2"))) as benchmark:
        yield benchmark


@pytest.fixture
async def opened(gaia2: Gaia2) -> AsyncIterator[Opened]:
    opener = Opened(gaia2)
    yield opener
    await opener.close()
