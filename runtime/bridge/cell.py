"""The parent's side of a cell process: runs one cell at a time under a wall clock.

Between cells the process is frozen, so that threads left over by one cell do nothing until the
next. A cell that outlives its time, or whose process dies, costs its own interpreter and nothing
else: a fresh one stands in, and the observation says that the variables are gone.
"""

from __future__ import annotations

import asyncio
import math
import secrets
import signal
import time
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from runtime.bridge.caller import LONGEST_OUTPUT
from runtime.bridge.channel import readable
from runtime.bridge.host import Child, Host
from runtime.bridge.wire import FROM_AGENT, BadFrame, Closed, Frame
from runtime.contracts import CellEnd, Value
from runtime.errors import NotReady, WorldError

__all__ = ["CellProcess", "CellRun"]

OPEN_S = 60.0
LEFT_OVER_FRAMES = 64
"""Requests of left-over threads that are answered (refused) before a cell; more end the process."""
LONGEST_TEXT = LONGEST_OUTPUT + 100
"""Characters of output that are taken over. An honest cell has cut its own, and says so, before."""
RESTARTED = "The interpreter was restarted: all variables are lost."

Answer = Callable[[Frame], Awaitable[Frame]]
"""Answers one request of agent code."""


class CellRun(Value):
    """How one cell ran."""

    text: str
    end: CellEnd
    restarted: bool = False


class CellProcess:
    """One locked-down interpreter for agent code, replaced when it has to be killed.

    `role` is the host's role that opens it. It gets two channels, control and calls, and sends
    `{"ok": {"lockdown": {...}}}` when it is ready.
    """

    def __init__(self, host: Host, role: str, params: Mapping[str, Any], *, grace_s: float) -> None:
        self._host, self._role, self._params = host, role, dict(params)
        self._grace_s = grace_s
        self._child: Child | None = None
        self._lost = ""
        self.lockdown: dict[str, str] = {}

    @property
    def pid(self) -> int:
        """The process's id. Raises `WorldError` once it is closed."""
        return self._opened().pid

    async def open(self) -> None:
        """Fork the process and wait until it is locked down. Raises `WorldError`."""
        child = await self._host.spawn(self._role, self._params, channels=2, bounds=FROM_AGENT)
        self._child = child
        try:
            ready = await child.opened("The cell process", OPEN_S)
        except (WorldError, NotReady):
            await self.close()
            raise
        self.lockdown = {str(name): str(state) for name, state in ready["lockdown"].items()}
        child.signal(signal.SIGSTOP)

    async def close(self) -> None:
        """End the process."""
        if self._child is not None:
            child, self._child = self._child, None
            await child.end()

    async def refuse_left_overs(self, answer: Answer) -> None:
        """Answer what left-over threads had asked for before they were frozen; drop the rest.

        A process that died meanwhile, or left too much, is replaced. The next cell is told.
        """
        child = self._opened()
        try:
            detail = await self._drain(child, answer)
        except TimeoutError:
            detail = "Code left over by an earlier cell kept on asking."
        except (Closed, BadFrame) as error:
            detail = await self._cause(child, error)
        if detail:
            self._lost = f"{detail} {RESTARTED}\n"
            await self._restart()

    @staticmethod
    async def _drain(child: Child, answer: Answer) -> str:
        """Empty the channels of a frozen process; return why it cannot go on, or "".

        Raises `TimeoutError`, `Closed` or `BadFrame`.
        """
        control, calls = child.channels
        for _ in range(LEFT_OVER_FRAMES):
            if control.recv_waiting() is not None:
                continue  # no cell is running, so it is forged
            if (frame := calls.recv_waiting()) is not None:
                async with asyncio.timeout(1.0):
                    await calls.send(await answer(frame) | {"n": frame.get("n")})
            elif (control.partial or calls.partial) and child.threads() == 1:
                return "An earlier cell sent part of a frame to the harness."
            else:
                return ""
        raise TimeoutError

    async def run(
        self,
        source: str,
        answer: Answer,
        stopped: Callable[[], bool],
        seconds: float,
        wall_s: float = math.inf,
    ) -> CellRun:
        """Run one cell for at most `seconds`, answering its requests.

        Time that answers take is not the cell's, but counts in `wall_s`. `stopped` tells whether a
        request was answered with a stop: then the cell has only a short grace to end, and must not
        leave threads behind.
        """
        run = await self._run(source, answer, stopped, _Clock(seconds, wall_s))
        lost, self._lost = self._lost, ""
        return run.model_copy(update={"text": lost + run.text, "restarted": True}) if lost else run

    async def _run(
        self, source: str, answer: Answer, stopped: Callable[[], bool], clock: _Clock
    ) -> CellRun:
        child = self._opened()
        control, calls = child.channels
        run_id = secrets.token_hex(8)  # none that code of an earlier cell could have foreseen
        printed = ""
        try:
            child.signal(signal.SIGCONT)  # first: a frozen process reads no long source
            await clock.bound(control.send({"op": "run", "id": run_id, "source": source}))
            while True:
                kind, frame = await self._next(child, clock)
                if kind == "call":
                    reply = await clock.paused(answer(frame))
                    await clock.bound(calls.send(reply | {"n": frame.get("n")}))
                    if stopped():
                        clock.at_most(self._grace_s)
                elif frame.get("id") == run_id:  # else of an earlier cell, or forged
                    if frame.get("op") == "done":
                        return await self._done(child, frame, stopped=stopped())
                    if frame.get("op") == "printed":
                        printed = _text(frame.get("text"))
        except TimeoutError:
            if stopped():
                return await self._killed(printed, "killed", "The stopped cell went on running.")
            detail = f"Execution timed out after {clock.seconds:g} seconds."
            return await self._killed(printed, "timeout", detail)
        except (Closed, BadFrame) as error:
            return await self._killed(printed, "killed", await self._cause(child, error))

    @staticmethod
    async def _next(child: Child, clock: _Clock) -> tuple[str, Frame]:
        """Wait for the next frame on either channel, requests first. Raises `TimeoutError`."""
        control, calls = child.channels
        while True:
            left = clock.left()
            for kind, channel in (("call", calls), ("control", control)):
                if (frame := channel.recv_waiting()) is not None:
                    await asyncio.sleep(0)  # a flood of frames leaves room for other episodes
                    return kind, frame
            await readable((calls, control), left)

    async def _done(self, child: Child, frame: Frame, *, stopped: bool) -> CellRun:
        text = _text(frame.get("text"))
        child.signal(signal.SIGSTOP)
        if stopped and child.threads() > 1:
            return await self._killed(text, "killed", "The stopped cell left threads running.")
        status = "stopped" if stopped else "raised" if frame.get("raised") else "finished"
        return CellRun(text=text, end=CellEnd(status=status))

    async def _killed(self, printed: str, status: str, detail: str) -> CellRun:
        await self._restart()
        words = f"{detail} {RESTARTED}"
        if status == "timeout" or not printed:
            words = f"Execution failed. Traceback:\n{words}"
        text = f"{printed.rstrip()}\n{words}" if printed.strip() else words
        end = CellEnd(status="timeout" if status == "timeout" else "killed", detail=detail)
        return CellRun(text=text, end=end, restarted=True)

    async def _cause(self, child: Child, error: Exception) -> str:
        if isinstance(error, BadFrame):
            return f"The Python process was ended: it sent {error} to the harness."
        code = await child.end()
        if code < 0:
            return f"The Python process was ended by {signal.Signals(-code).name}."
        return f"The Python process ended with exit code {code}."

    async def _restart(self) -> None:
        await self.close()
        await self.open()

    def _opened(self) -> Child:
        if self._child is None:
            raise WorldError("The cell process is closed.")
        return self._child


class _Clock:
    """Wall time of a cell. Time that the world takes to answer is not the cell's, up to a bound."""

    def __init__(self, seconds: float, wall_s: float) -> None:
        begun = time.monotonic()
        self.seconds = min(seconds, wall_s)
        self._deadline, self._end = begun + self.seconds, begun + wall_s

    def left(self) -> float:
        left = self._deadline - time.monotonic()
        if left <= 0:
            raise TimeoutError
        return left

    def at_most(self, seconds: float) -> None:
        self._deadline = min(self._deadline, time.monotonic() + seconds)

    async def bound(self, step: Awaitable[None]) -> None:
        """Await a step that must end within the time left. Raises `TimeoutError`."""
        async with asyncio.timeout(self._deadline - time.monotonic()):
            await step

    async def paused(self, answer: Awaitable[Frame]) -> Frame:
        begun = time.monotonic()
        try:
            return await answer
        finally:
            self._deadline = min(self._deadline + time.monotonic() - begun, self._end)


def _text(value: object) -> str:
    """Return a hostile value as text that every later step can encode, and not too long."""
    text = str(value if value is not None else "")[:LONGEST_TEXT]
    return text.encode("utf-8", "replace").decode()
