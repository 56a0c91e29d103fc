"""The warm process that forks a child per role. Standard library only: runs in any interpreter.

A zygote has imported everything slow, has one thread and holds nothing open. Commands arrive on
one control socket, each followed by a frame: `spawn` carries the new child's sockets as file
descriptors, `reap` waits for a child that was killed and tells how it ended. Children are not
reaped before they are asked for, so a process id is never taken over by a stranger meanwhile.
No process here listens on anything: a locked-down child has nothing to connect to.
"""

from __future__ import annotations

import ctypes
import gc
import os
import signal
import socket
import sys
import threading
import traceback
from collections.abc import Callable, Mapping
from typing import Any

from runtime.bridge.wire import Closed, Frame, Wire

__all__ = ["Role", "die_with_parent", "serve"]

Role = Callable[[list[int], Frame], None]
"""What a child does: `role(socket file descriptors, parameters)`."""
PR_SET_PDEATHSIG = 1
MOST_SOCKETS = 4


def die_with_parent() -> None:
    """Have the kernel kill this process when its parent dies (Linux; elsewhere end of stream)."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


def serve(control: int, roles: Mapping[str, Role], ready: Mapping[str, Any]) -> None:
    """Serve the control socket until its other end closes. `ready` is the first frame sent."""
    if threading.active_count() != 1:
        raise RuntimeError("a zygote must have one thread")
    die_with_parent()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    gc.collect()
    gc.freeze()
    sock = socket.socket(fileno=control)
    wire = Wire(sock)
    wire.send({"ready": dict(ready)})
    while True:
        mark, sockets, _, _ = socket.recv_fds(sock, 1, MOST_SOCKETS)
        if not mark:
            os._exit(0)
        command = wire.recv()
        if command["op"] == "spawn":
            wire.send(_spawn(roles[command["role"]], sockets, command["params"], sock))
        elif command["op"] == "reap":
            wire.send({"status": _reap(command["pid"])})
        for number in sockets:
            os.close(number)


def _spawn(role: Role, sockets: list[int], params: Frame, control: socket.socket) -> Frame:
    parent = os.getpid()
    try:
        pid = os.fork()
    except OSError as error:
        return {"error": str(error)}
    if pid:
        return {"pid": pid}
    code = 1
    try:
        die_with_parent()
        if os.getppid() != parent:
            os._exit(1)
        control.close()
        role(sockets, params)
        code = 0
    except Closed:
        code = 0
    except BaseException:  # noqa: BLE001 - last stop of a child: told to the parent, then gone
        _tell(sockets, traceback.format_exc())
    finally:
        os._exit(code)


def _tell(sockets: list[int], text: str) -> None:
    try:
        Wire(socket.socket(fileno=os.dup(sockets[0]))).send({"error": text[-4000:]})
    except (OSError, Closed):
        return


def _reap(pid: int) -> int:
    try:
        _, status = os.waitpid(pid, 0)
    except ChildProcessError:
        return 0
    return os.waitstatus_to_exitcode(status)
