"""Fixtures of the GAIA2 tests: ARE's own interpreter."""

from pathlib import Path

import pytest

from adapters.environments import require


@pytest.fixture(scope="session")
def gaia2_python() -> Path:
    """ARE's interpreter, as `contramem setup gaia2` made it."""
    return require("gaia2").python
