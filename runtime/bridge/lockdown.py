"""Locks the calling process down, with the standard library only. Linux; elsewhere limits only.

What is taken away, in this order: files (chroot into an empty folder), the environment, open
descriptors, memory and CPU without bound, root's identity and capabilities, file access again
(Landlock), and every system call that reaches others (seccomp). Each part that a kernel or user
lacks is skipped and named in the report; the rest still applies.

Landlock and seccomp bind the calling thread and its later threads only, so the caller must have
exactly one operating-system thread. Code that imports lazily must have imported before this.
"""

from __future__ import annotations

import ctypes
import os
import platform
import resource
import struct
import sys
from collections.abc import Sequence
from pathlib import Path

from runtime.bridge.syscalls import ALLOWED_COMMANDS, AUDIT_ARCH, CLONE, CLONE3, DENIED
from runtime.bridge.zygote import die_with_parent

__all__ = ["describe", "lock", "probe"]

NOBODY = 65534
CLONE_NEWUSER, CLONE_NEWNET = 0x10000000, 0x40000000
PR_SET_DUMPABLE, PR_SET_SECCOMP, PR_CAPBSET_DROP, PR_SET_NO_NEW_PRIVS = 4, 22, 24, 38
LANDLOCK_CREATE, LANDLOCK_RESTRICT = 444, 446
CAPSET = {"x86_64": 126, "aarch64": 91}


def lock(
    *,
    keep: Sequence[int],
    jail: str,
    cwd: str,
    more_bytes: int = 1 << 30,
    cpu_s: int = 600,
    locale_env: Sequence[str] = ("LANG", "LC_ALL", "TZ"),
) -> dict[str, str]:
    """Lock this process down for good and return what is in force, part by part.

    `keep`: descriptors that stay open. `jail`: an empty folder that becomes "/"; it holds `cwd`.
    `more_bytes`: address space beyond what is mapped now. `cpu_s`: CPU seconds for its life.
    Raises `RuntimeError` if there is more than one thread.
    """
    if (threads := _threads()) > 1:
        raise RuntimeError(f"cannot lock down a process with {threads} threads")
    _close_all_but(keep)
    kept = {name: os.environ[name] for name in locale_env if name in os.environ}
    os.environ.clear()
    os.environ.update(kept)
    report = {"limits": _limit(more_bytes, cpu_s)}
    if sys.platform != "linux":
        return report
    report["chroot"] = _part(_enter, jail, cwd)
    report["network"] = _part(_leave_network)
    report["identity"] = _part(_drop_identity)
    die_with_parent()  # a change of user clears it
    _prctl(PR_SET_DUMPABLE, 0)
    _prctl(PR_SET_NO_NEW_PRIVS, 1)
    report["landlock"] = _part(_landlock)
    report["seccomp"] = _part(_seccomp)
    return report


def probe() -> dict[str, str]:
    """Say what this kernel and user could offer, without changing anything."""
    if sys.platform != "linux":
        return {"limits": "yes", "landlock": "no: Linux only", "seccomp": "no: Linux only"}
    machine = platform.machine()
    abi = _landlock_abi()
    root = os.geteuid() == 0
    return {
        "limits": "yes",
        "chroot": "yes" if root or _user_namespaces() else "no: not root, no user namespaces",
        "landlock": f"ABI {abi}" if abi else "no: not in this kernel",
        "seccomp": "yes" if machine in DENIED else f"no: no table for {machine}",
    }


def describe(report: dict[str, str]) -> str:
    """Put a report in one line: `full (...)` or `partial (...)`."""
    needed = ("chroot", "landlock", "seccomp")
    extra = ("network",)  # seccomp forbids sockets anyway
    weak = [name for name, state in report.items() if state.startswith("no:")]
    full = all(name in report for name in needed) and not set(weak) - set(extra)
    level = "full" if full else "partial"
    return f"{level} ({', '.join(f'{name} {state}' for name, state in report.items())})"


def _part(step: object, *arguments: object) -> str:
    try:
        return str(step(*arguments))  # type: ignore[operator]
    except OSError as error:
        return f"no: {error.strerror or error}"


def _threads() -> int:
    if sys.platform != "linux":
        return 1
    return len(list(Path("/proc/self/task").iterdir()))


def _close_all_but(keep: Sequence[int]) -> None:
    null = os.open(os.devnull, os.O_RDWR)
    for standard in (0, 1, 2):
        os.dup2(null, standard)
    low = 3
    for number in sorted({*keep}):
        if number > low:
            os.closerange(low, number)
        low = max(low, number + 1)
    os.closerange(low, 1 << 16)


def _limit(more_bytes: int, cpu_s: int) -> str:
    if sys.platform == "linux":
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
        space = pages * resource.getpagesize() + more_bytes
        resource.setrlimit(resource.RLIMIT_AS, (space, space))
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CPU, (cpu_s, cpu_s + 5))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))
    return "yes"


def _enter(jail: str, cwd: str) -> str:
    how = "yes"
    if os.geteuid() != 0:
        _unshare(CLONE_NEWUSER)
        how = "yes, in a user namespace"
    os.chroot(jail)
    os.chdir(cwd)
    return how


def _leave_network() -> str:
    """Enter a network without interfaces. Containers often forbid it: seccomp is enough alone."""
    _unshare(CLONE_NEWNET)
    return "none"


def _drop_identity() -> str:
    if os.geteuid() == 0:
        os.setgroups([])
        os.setresgid(NOBODY, NOBODY, NOBODY)
        _drop_capabilities(bounding=True)
        os.setresuid(NOBODY, NOBODY, NOBODY)
    _drop_capabilities(bounding=False)
    return "no capabilities" if os.geteuid() != NOBODY else "nobody without capabilities"


def _drop_capabilities(*, bounding: bool) -> None:
    if bounding:
        for capability in range(64):
            try:
                _prctl(PR_CAPBSET_DROP, capability)
            except OSError:
                return  # past the last capability that this kernel knows
        return
    header = struct.pack("=II", 0x20080522, 0)
    _syscall(CAPSET[platform.machine()], header, struct.pack("=6I", 0, 0, 0, 0, 0, 0))


def _landlock_abi() -> int:
    try:
        return _syscall(LANDLOCK_CREATE, None, ctypes.c_size_t(0), ctypes.c_uint32(1))
    except OSError:
        return 0


def _landlock() -> str:
    """Forbid every file access, TCP, and signals and abstract sockets that leave the process."""
    abi = _landlock_abi()
    if abi < 1:
        raise OSError(0, "not in this kernel")
    files = (1 << 13) - 1
    for since, right in ((2, 1 << 13), (3, 1 << 14), (5, 1 << 15)):
        if abi >= since:
            files |= right
    attributes = struct.pack("=Q", files)
    if abi >= 4:
        attributes += struct.pack("=Q", 0b11)  # bind and connect
    if abi >= 6:
        attributes += struct.pack("=Q", 0b11)  # abstract sockets, signals
    rules = _syscall(
        LANDLOCK_CREATE, attributes, ctypes.c_size_t(len(attributes)), ctypes.c_uint32(0)
    )
    _syscall(LANDLOCK_RESTRICT, ctypes.c_int(rules), ctypes.c_uint32(0))
    os.close(rules)
    return f"ABI {abi}"


def _seccomp() -> str:
    machine = platform.machine()
    if machine not in DENIED:
        raise OSError(0, f"no table for {machine}")
    filters = _program(machine)
    code = ctypes.create_string_buffer(b"".join(struct.pack("=HBBI", *step) for step in filters))
    program = ctypes.create_string_buffer(
        struct.pack("@HxxxxxxP", len(filters), ctypes.addressof(code))
    )
    _prctl(PR_SET_SECCOMP, 2, ctypes.addressof(program))
    return "yes"


def _program(machine: str) -> list[tuple[int, int, int, int]]:
    """Return the filter: (operation, jump if true, jump if false, constant) per step."""
    load, equal, at_least, any_bit, give = 0x20, 0x15, 0x35, 0x45, 0x06
    allow, kill, denied, missing = 0x7FFF0000, 0x80000000, 0x00050001, 0x00050026
    number, architecture, first_argument, second_argument = 0, 4, 16, 24
    steps = [
        (load, 0, 0, architecture),
        (equal, 1, 0, AUDIT_ARCH[machine]),
        (give, 0, 0, kill),
        (load, 0, 0, number),
    ]
    if machine == "x86_64":  # the x32 table would offer every call under another number
        steps += [(at_least, 0, 1, 0x40000000), (give, 0, 0, denied)]
    steps += [
        (equal, 0, 1, CLONE3),  # its flags lie in memory: libc falls back to clone
        (give, 0, 0, missing),
        (equal, 0, 4, CLONE[machine]),
        (load, 0, 0, first_argument),
        (any_bit, 0, 1, 0x10000),  # CLONE_THREAD
        (give, 0, 0, allow),
        (give, 0, 0, denied),
    ]
    for call in DENIED[machine]:
        steps += [(equal, 0, 1, call), (give, 0, 0, denied)]
    for call, commands in ALLOWED_COMMANDS[machine].items():
        steps += [(equal, 0, 2 * len(commands) + 2, call), (load, 0, 0, second_argument)]
        for command in commands:
            steps += [(equal, 0, 1, command), (give, 0, 0, allow)]
        steps += [(give, 0, 0, denied)]
    return [*steps, (give, 0, 0, allow)]


def _user_namespaces() -> bool:
    """Try in a child whether a user namespace can be made."""
    pid = os.fork()
    if pid == 0:
        os._exit(0 if ctypes.CDLL(None).unshare(CLONE_NEWUSER) == 0 else 1)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0


def _unshare(flags: int) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(flags) < 0:
        _raise_errno()


def _prctl(option: int, *arguments: int) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    padded = [ctypes.c_ulong(value) for value in (option, *arguments, 0, 0, 0, 0)[:5]]
    if libc.prctl(*padded) < 0:
        _raise_errno()


def _syscall(number: int, *arguments: object) -> int:
    libc = ctypes.CDLL(None, use_errno=True)
    result = int(libc.syscall(ctypes.c_long(number), *arguments))
    if result < 0:
        _raise_errno()
    return result


def _raise_errno() -> None:
    number = ctypes.get_errno()
    raise OSError(number, os.strerror(number))
