"""Virtual environments for the benchmarks, which can share an interpreter neither with us nor
with each other. Made by uv from the pinned, hashed requirements beside each adapter.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import uv

from adapters.folders import Progress, home, make_whole
from runtime.bridge import child
from runtime.errors import NotReady

__all__ = ["Environment", "create", "environment", "last_words", "require"]

TESTED = ((3, 11), (3, 12), (3, 13))
"""Python versions on which both pinned sets install and import."""
STAMP = "contramem.json"
FROM_PIP = {"PIP_INDEX_URL": "UV_DEFAULT_INDEX", "PIP_CERT": "SSL_CERT_FILE"}
"""Where pip was told of a mirror or a certificate, uv needs it too. Hashes hold for both."""
UNTRUSTED = "invalid peer certificate"
ADVICE = (
    ("No space left", "Free space, or set CONTRAMEM_HOME to a folder on another disk."),
    ("Hash mismatch", "The package index serves other files than the pinned ones: use another."),
    (UNTRUSTED, "Name the file with your network's root certificate in SSL_CERT_FILE."),
    (
        "Failed to fetch",
        "Check the network, or name a reachable package index in UV_DEFAULT_INDEX.",
    ),
)


@dataclass(frozen=True)
class Environment:
    """A benchmark's virtual environment, made or not."""

    world: str
    folder: Path
    requirements: Path

    @property
    def python(self) -> Path:
        """Its interpreter. The only program in it to be used: the folder was renamed once."""
        return self.folder / "bin" / "python"

    @property
    def ready(self) -> bool:
        """Whether it was finished and its interpreter is still there."""
        return (self.folder / STAMP).is_file() and self.python.exists()

    def version(self, package: str) -> str | None:
        """Return a package's version in it, or None."""
        places = [str(path) for path in self.folder.glob("lib/python*/site-packages")]
        found = importlib.metadata.distributions(name=package, path=places)
        return next((item.version for item in found), None)

    def run(
        self, arguments: Sequence[str | Path], variables: Mapping[str, str], lock: int
    ) -> subprocess.CompletedProcess[str]:
        """Run its interpreter to the end; return exit code and output (errors included)."""
        kept = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
        command = [self.python, "-P", "-s", *arguments]
        return _run(command, {**kept, **variables}, self.folder.parent, lock)

    def run_ours(
        self, module: str, arguments: Sequence[str | Path], variables: Mapping[str, str], lock: int
    ) -> subprocess.CompletedProcess[str]:
        """Run `main(arguments)` of one of our child modules in it."""
        return self.run([child.__file__, module, *arguments], variables, lock)


def environment(world: str) -> Environment:
    """Return the environment of a benchmark: `appworld` or `gaia2`. Other pins, other folder."""
    requirements = Path(__file__).parent / world / "requirements.txt"
    pins = hashlib.sha256(requirements.read_bytes()).hexdigest()[:12]
    return Environment(world, home() / "envs" / f"{world}-{pins}", requirements)


def require(world: str) -> Environment:
    """Return a benchmark's environment. Raises `NotReady` if it is not there."""
    found = environment(world)
    if not found.ready:
        raise NotReady(
            f"The environment of {world} is not set up ({found.folder})."
            f" Run `contramem setup {world}`."
        )
    return found


def create(
    environment: Environment,
    *,
    progress: Progress,
    finish: Callable[[Environment, int], None] | None = None,
) -> None:
    """Make an environment unless it is there. May be interrupted, or run twice at once.

    `finish(environment, lock)` completes it before it counts as made. Raises `NotReady` with uv's
    last words and what to do about them.
    """

    def fill(folder: Path, lock: int) -> None:
        progress(f"installing the packages of {environment.world} into {environment.folder}")
        draft = replace(environment, folder=folder)
        _uv(["venv", "--python", _interpreter(folder.parent, lock), folder], folder.parent, lock)
        pinned = ["--require-hashes", "-r", str(environment.requirements)]
        _uv(["pip", "install", "--python", draft.python, *pinned], folder.parent, lock)
        if finish is not None:
            finish(draft, lock)
        stamp = {"world": environment.world, "uv": importlib.metadata.version("uv")}
        (folder / STAMP).write_text(json.dumps(stamp), encoding="utf-8")

    make_whole(environment.folder, fill, whole=lambda _: environment.ready, progress=progress)


def _interpreter(folder: Path, lock: int) -> str:
    if sys.executable and sys.version_info[:2] in TESTED:
        return sys.executable
    span = f">={'.'.join(map(str, TESTED[0]))},<3.{TESTED[-1][1] + 1}"
    try:
        found = _uv(["python", "find", "--no-python-downloads", span], folder, lock)
    except NotReady as error:
        raise NotReady(
            f"The benchmarks install on Python {span}; this is"
            f" {sys.version_info.major}.{sys.version_info.minor} and no other was found."
            " Install Python 3.11 beside it and run the same command again."
        ) from error
    return next(line for line in found.splitlines() if Path(line).is_file())  # warnings around it


def _uv(arguments: Sequence[str | Path], folder: Path, lock: int) -> str:
    told = {"UV_NO_PROJECT": "1", **os.environ}
    for pip, ours in FROM_PIP.items():
        if pip in told:
            told.setdefault(ours, told[pip])
    command = [uv.find_uv_bin(), "--no-progress", "--color", "never", *arguments]
    done = _run(command, told, folder, lock)
    if done.returncode and UNTRUSTED in done.stdout:  # by uv's own list; the system's may do
        done = _run(command, {"UV_SYSTEM_CERTS": "1", **told}, folder, lock)
    if done.returncode:
        advice = next((text for sign, text in ADVICE if sign in done.stdout), "Mend that.")
        raise NotReady(
            f"uv could not make the environment. Its last words:\n{last_words(done.stdout)}\n"
            f"{advice} Then run the same command again."
        )
    return done.stdout


def last_words(output: str) -> str:
    """Return the end of a program's output, without empty lines."""
    return "\n".join(line.rstrip() for line in output.splitlines() if line.strip())[-800:]


def _run(
    command: Sequence[str | Path], variables: Mapping[str, str], folder: Path, lock: int
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(  # noqa: S603 - uv and the interpreters it made
        [str(part) for part in command],
        env=dict(variables),
        cwd=folder,
        pass_fds=[lock],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        check=False,
    )
