"""Fixtures of the tests that open GAIA2 worlds: warm benchmarks, one for each root."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from gaia2_worlds import Opened, small_setup

from adapters.gaia2.benchmark import Gaia2
from adapters.gaia2.setup import MINI, Gaia2Setup
from adapters.roots import Root


@pytest.fixture(scope="session")
async def gaia2(
    gaia2_python: Path, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Gaia2]:
    async with Gaia2(small_setup(gaia2_python, tmp_path_factory.mktemp("gaia2"))) as benchmark:
        yield benchmark


@pytest.fixture(scope="session")
async def mini(
    gaia2_python: Path, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Gaia2]:
    """The bundled scenarios, whatever other data this machine has."""
    scratch = tmp_path_factory.mktemp("mini")
    setup = Gaia2Setup(python=gaia2_python, scratch=scratch, roots=(Root("mini", MINI),))
    async with Gaia2(setup) as benchmark:
        yield benchmark


@pytest.fixture
async def opened(gaia2: Gaia2) -> AsyncIterator[Opened]:
    opener = Opened(gaia2)
    yield opener
    await opener.close()
