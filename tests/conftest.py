"""What tests of every package share: the real worlds, set up once by `contramem setup`."""

import signal
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from adapters.appworld.benchmark import AppWorld
from adapters.appworld.setup import AppWorldSetup, appworld_paths


@pytest.fixture(scope="session", autouse=True)
def interruptible() -> None:
    """Let Ctrl-C reach the programs that tests start: a shell's background job ignores it."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def appworld_setup() -> AppWorldSetup:
    """AppWorld's environment and the bundled mini world. Fails, never skips, without them."""
    return appworld_paths("mini_test")


@pytest.fixture(scope="session")
async def appworld(appworld_setup: AppWorldSetup) -> AsyncIterator[AppWorld]:
    """One warm AppWorld for the whole session. Tokens are signed as the plain engine signs them."""
    async with AppWorld(appworld_setup, token_secret="SECRET") as benchmark:
        yield benchmark


@pytest.fixture(scope="session")
def appworld_python(appworld_setup: AppWorldSetup) -> Path:
    """The interpreter that can import `appworld`."""
    return appworld_setup.python


@pytest.fixture(scope="session")
def appworld_root(appworld_setup: AppWorldSetup) -> Path:
    """The data root of the mini world."""
    return appworld_setup.root
