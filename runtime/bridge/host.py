"""The parent's side of a warm process: starts a zygote, has it fork children, ends them all."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import signal
import socket
import sys
import tempfile
from collections.abc import Coroutine, Mapping
from pathlib import Path
from typing import IO, Any, TypeVar

from runtime.bridge import child as bootstrap
from runtime.bridge.channel import Channel
from runtime.bridge.wire import FROM_OURS, BadFrame, Bounds, Closed, Frame
from runtime.errors import NotReady, WorldError

__all__ = ["Child", "Host"]

_T = TypeVar("_T")
_LOG = logging.getLogger(__name__)


class Child:
    """One forked process and its channels, in the order they were asked for."""

    def __init__(self, host: Host, pid: int, channels: tuple[Channel, ...]) -> None:
        self.pid = pid
        self.channels = channels
        self._host = host
        self._status: int | None = None
        # where there are such handles, a signal can never reach a stranger who got the same id
        # after the warm process, which keeps ids from being reused, had died itself
        self._handle = _handle(pid)

    def signal(self, number: signal.Signals) -> None:
        """Send a signal. Does nothing once the child has ended."""
        if self._status is not None or self._handle is None:
            return
        with contextlib.suppress(ProcessLookupError):
            if self._handle == _NO_HANDLES:
                os.kill(self.pid, number)
            else:
                signal.pidfd_send_signal(self._handle, number)

    def threads(self) -> int:
        """Count its threads as the kernel does (Linux; 1 elsewhere)."""
        if sys.platform != "linux":
            return 1
        try:
            return len(os.listdir(f"/proc/{self.pid}/task"))  # noqa: PTH208 - hot path
        except FileNotFoundError:
            return 0

    async def opened(self, what: str, seconds: float) -> Frame:
        """Wait for its word that it is ready, `{"ok": ...}`, and return what it says there.

        `what` names the process in errors. Raises `WorldError`, or `NotReady` if the interpreter
        that it was forked from is no longer there: no later child will open either.
        """
        try:
            async with asyncio.timeout(seconds):
                reply = await self.channels[0].recv()
        except (Closed, BadFrame, TimeoutError) as error:
            reply = {"error": type(error).__name__}
        if "ok" in reply:
            ready: Frame = reply["ok"]
            return ready
        self._host.require_python()
        _LOG.debug("%s did not open: %s", what, reply)
        lines = str(reply.get("error", reply)).strip().splitlines() or ["no reason given"]
        raise WorldError(f"{what} did not open: {lines[-1]}")

    async def end(self) -> int:
        """Kill it, close its channels, and return how it ended: exit code, or minus a signal."""
        if self._status is None:
            self.signal(signal.SIGKILL)
            for channel in self.channels:
                channel.close()
            status = await self._host.reap(self.pid)
            if self._status is None:
                self._status = status
                self._close_handle()
        return self._status

    def _close_handle(self) -> None:
        if self._handle is not None and self._handle != _NO_HANDLES:
            os.close(self._handle)
        self._handle = None


_NO_HANDLES = -1


def _handle(pid: int) -> int | None:
    """Return a handle on a process, None if it is gone, or `_NO_HANDLES` without such a thing."""
    try:
        return os.pidfd_open(pid)
    except ProcessLookupError:
        return None
    except (AttributeError, OSError):
        return _NO_HANDLES


class Host:
    """A warm process of another interpreter. Started on first use, started again if it died.

    `module` is one of ours with a `main` that ends in `runtime.bridge.zygote.serve`. `env` is the
    whole environment: nothing is inherited. `mend`: the command that brings its interpreter back.
    """

    def __init__(
        self,
        *,
        python: Path,
        module: str,
        env: Mapping[str, str],
        cwd: Path,
        mend: str = "contramem doctor",
        start_s: float = 180.0,
        spawn_s: float = 60.0,
    ) -> None:
        self._command = (str(python), "-P", "-s", bootstrap.__file__, module)
        self._python = python
        self._env = dict(env)
        self._cwd, self._mend = cwd, mend
        self._start_s, self._spawn_s = start_s, spawn_s
        self._lock = asyncio.Lock()
        self._process: asyncio.subprocess.Process | None = None
        self._sock: socket.socket | None = None
        self._control: Channel | None = None
        self._words: IO[bytes] | None = None
        self._ready: Frame = {}

    def require_python(self) -> None:
        """Raise `NotReady` if the interpreter is gone."""
        if not self._python.exists():
            raise NotReady(f"{self._python} is gone. Run `{self._mend}`, then the same command.")

    async def start(self) -> Frame:
        """Start the zygote if it is not running; return what it said when it was ready.

        Raises `NotReady` if its interpreter is missing or it cannot start.
        """
        async with self._lock:
            return await self._started()

    async def spawn(
        self,
        role: str,
        params: Mapping[str, Any],
        channels: int = 1,
        bounds: Bounds = FROM_OURS,
    ) -> Child:
        """Fork a child whose frames are held to `bounds`.

        Raises `WorldError` if that fails, `NotReady` as `start` does.
        A zygote that has died is started again, once.
        """
        await self.start()
        command = {"op": "spawn", "role": role, "params": dict(params)}
        spawning = asyncio.create_task(self._spawn(command, channels, bounds))
        try:
            return await asyncio.shield(spawning)
        except asyncio.CancelledError:
            with contextlib.suppress(WorldError, NotReady):
                await (await spawning).end()
            raise

    async def reap(self, pid: int) -> int:
        """Wait for a killed child to be gone. 0 if the zygote is gone too."""
        return await _whole(self._reap(pid))

    async def close(self) -> None:
        """End the zygote; its children die with it."""
        async with self._lock:
            await self._stop()

    async def _spawn(self, command: Frame, channels: int, bounds: Bounds) -> Child:
        async with self._lock:
            try:
                return await self._fork(command, channels, bounds)
            except WorldError:
                if self._process is not None:
                    raise
            await self._started()
            return await self._fork(command, channels, bounds)

    async def _fork(self, command: Frame, channels: int, bounds: Bounds) -> Child:
        pairs = [socket.socketpair() for _ in range(channels)]
        try:
            reply = await self._command_with(command, [theirs.fileno() for _, theirs in pairs])
        except WorldError:
            for ours, _ in pairs:
                ours.close()
            raise
        finally:
            for _, theirs in pairs:
                theirs.close()
        return Child(self, reply["pid"], tuple(Channel(ours, bounds) for ours, _ in pairs))

    async def _reap(self, pid: int) -> int:
        async with self._lock:
            if self._control is None:
                return 0
            try:
                return int((await self._command_with({"op": "reap", "pid": pid}, []))["status"])
            except WorldError:
                return 0

    async def _started(self) -> Frame:
        if self._process is not None and self._process.returncode is None:
            return self._ready
        await self._stop()
        self.require_python()
        ours, theirs = socket.socketpair()
        self._sock, self._control = ours, Channel(ours)
        self._words = tempfile.TemporaryFile()  # noqa: SIM115 - lives as long as the zygote
        with theirs:
            self._process = await asyncio.create_subprocess_exec(
                *self._command,
                str(theirs.fileno()),
                pass_fds=[theirs.fileno()],
                env=self._env,
                cwd=self._cwd,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=self._words,
                stderr=self._words,
                start_new_session=True,
            )
        try:
            async with asyncio.timeout(self._start_s):
                self._ready = (await self._control.recv())["ready"]
        except (Closed, BadFrame, KeyError, TimeoutError) as error:
            words = self._last_words()
            await self._stop()
            raise NotReady(
                f"The warm process of {self._python} did not start"
                f" ({type(error).__name__}). It said: {words or 'nothing'}."
                " Run `contramem doctor`."
            ) from None
        except asyncio.CancelledError:
            await self._stop()
            raise
        return self._ready

    async def _command_with(self, command: Frame, sockets: list[int]) -> Frame:
        if self._sock is None or self._control is None:
            raise WorldError("The warm process is not running.")
        try:
            async with asyncio.timeout(self._spawn_s):
                if sockets:
                    socket.send_fds(self._sock, [b"c"], sockets)
                else:
                    self._sock.send(b"c")
                await self._control.send(command)
                reply = await self._control.recv()
        except (OSError, Closed, BadFrame, TimeoutError) as error:
            words = self._last_words()
            await self._stop()
            raise WorldError(
                f"The warm process ended ({type(error).__name__}). It said: {words or 'nothing'}."
            ) from None
        if "error" in reply:
            raise WorldError(f"The warm process could not {command['op']}: {reply['error']}")
        return reply

    async def _stop(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            with contextlib.suppress(ProcessLookupError):
                process.kill()  # before its channel closes: had it ended by itself meanwhile,
                # `kill` would take its exit code away from the event loop, which would complain
        if self._control is not None:
            self._control.close()
        self._control = self._sock = None
        if process is not None:
            await process.wait()
        if self._words is not None:
            self._words.close()
            self._words = None

    def _last_words(self) -> str:
        if self._words is None or self._words.closed:
            return ""
        size = self._words.seek(0, os.SEEK_END)
        self._words.seek(max(0, size - 600))
        return self._words.read().decode("utf-8", "replace").strip()


async def _whole(exchange: Coroutine[Any, Any, _T]) -> _T:
    """Finish an exchange even when its caller is cancelled: half a one would garble the next."""
    return await asyncio.shield(asyncio.create_task(exchange))
