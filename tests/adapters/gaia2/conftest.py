"""Fixtures of the GAIA2 tests: ARE's own interpreter."""

import os
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def gaia2_python() -> Path:
    """ARE's interpreter."""
    path = os.environ.get("CONTRAMEM_GAIA2_PYTHON")
    if not path or not Path(path).is_file():
        pytest.fail("set CONTRAMEM_GAIA2_PYTHON to the interpreter of an environment with ARE")
    return Path(path)
