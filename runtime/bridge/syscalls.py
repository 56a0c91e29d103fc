"""System call numbers that a locked-down process may not use, per machine.

The list is by purpose: reaching others (sockets, signals, tracing, namespaces), making processes,
changing files or identities, and kernel interfaces with a large attack surface. Names that a
machine does not have are absent from its column.
"""

from __future__ import annotations

__all__ = ["ALLOWED_COMMANDS", "AUDIT_ARCH", "CLONE", "CLONE3", "DENIED"]

AUDIT_ARCH = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
CLONE = {"x86_64": 56, "aarch64": 220}
CLONE3 = 435

# name: (x86_64, aarch64); None where the machine has no such call
_TABLE: dict[str, tuple[int | None, int | None]] = {
    # talking to anyone but over the two sockets that are open already
    "socket": (41, 198), "connect": (42, 203), "accept": (43, 202), "accept4": (288, 242),
    "bind": (49, 200), "listen": (50, 201), "sendmsg": (46, 211), "recvmsg": (47, 212),
    "sendmmsg": (307, 269),
    # making processes
    "fork": (57, None), "vfork": (58, None), "execve": (59, 221), "execveat": (322, 281),
    # signals, tracing, other processes' memory and descriptors
    "kill": (62, 129), "tkill": (200, 130), "tgkill": (234, 131), "rt_sigqueueinfo": (129, 138),
    "rt_tgsigqueueinfo": (297, 240), "timer_create": (222, 107), "pidfd_open": (434, 434),
    "pidfd_send_signal": (424, 424), "pidfd_getfd": (438, 438), "ptrace": (101, 117),
    "process_vm_readv": (310, 270), "process_vm_writev": (311, 271), "kcmp": (312, 272),
    "process_madvise": (440, 440),
    # namespaces, mounts, roots
    "unshare": (272, 97), "setns": (308, 268), "mount": (165, 40), "umount2": (166, 39),
    "pivot_root": (155, 41), "chroot": (161, 51), "move_mount": (429, 429), "fsopen": (430, 430),
    "open_tree": (428, 428), "fsmount": (432, 432), "mount_setattr": (442, 442),
    # changing files: there is nothing to change in the jail, and nothing to be made
    "chmod": (90, None), "fchmod": (91, 52), "fchmodat": (268, 53), "fchmodat2": (452, 452),
    "chown": (92, None), "fchown": (93, 55), "lchown": (94, None), "fchownat": (260, 54),
    "utime": (132, None), "utimes": (235, None), "futimesat": (261, None), "utimensat": (280, 88),
    "setxattr": (188, 5), "lsetxattr": (189, 6), "fsetxattr": (190, 7), "removexattr": (197, 14),
    "lremovexattr": (198, 15), "fremovexattr": (199, 16), "mkdir": (83, None), "mkdirat": (258, 34),
    "rmdir": (84, None), "unlink": (87, None), "unlinkat": (263, 35), "rename": (82, None),
    "renameat": (264, 38), "renameat2": (316, 276), "link": (86, None), "linkat": (265, 37),
    "symlink": (88, None), "symlinkat": (266, 36), "truncate": (76, 45), "creat": (85, None),
    "mknod": (133, None), "mknodat": (259, 33), "memfd_create": (319, 279),
    "memfd_secret": (447, 447), "name_to_handle_at": (303, 264), "open_by_handle_at": (304, 265),
    # identities, limits, scheduling
    "setuid": (105, 146), "setgid": (106, 144), "setreuid": (113, 145), "setregid": (114, 143),
    "setgroups": (116, 159), "setresuid": (117, 147), "setresgid": (119, 149),
    "setfsuid": (122, 151), "setfsgid": (123, 152), "setpgid": (109, 154), "setsid": (112, 157),
    "capset": (126, 91), "prctl": (157, 167), "seccomp": (317, 277), "personality": (135, 92),
    "setrlimit": (160, 164), "prlimit64": (302, 261), "setpriority": (141, 140),
    "sched_setparam": (142, 118), "sched_setscheduler": (144, 119), "sched_setattr": (314, 274),
    "sched_setaffinity": (203, 122), "ioprio_set": (251, 30),
    # shared memory and queues that outlive a process
    "flock": (73, 32), "shmget": (29, 194), "semget": (64, 190), "msgget": (68, 186),
    "mq_open": (240, 180),
    # the kernel's large or rarely needed doors
    "add_key": (248, 217), "request_key": (249, 218), "keyctl": (250, 219), "bpf": (321, 280),
    "perf_event_open": (298, 241), "userfaultfd": (323, 282), "io_uring_setup": (425, 425),
    "io_uring_enter": (426, 426), "io_uring_register": (427, 427), "syslog": (103, 116),
    "settimeofday": (164, 170), "clock_settime": (227, 112), "adjtimex": (159, 171),
    "clock_adjtime": (305, 266), "init_module": (175, 105), "finit_module": (313, 273),
    "delete_module": (176, 106), "kexec_load": (246, 104), "reboot": (169, 142), "acct": (163, 89),
    "swapon": (167, 224), "quotactl": (179, 60), "fanotify_init": (300, 262),
}  # fmt: skip

DENIED: dict[str, tuple[int, ...]] = {
    machine: tuple(row[column] for row in _TABLE.values() if row[column] is not None)  # type: ignore[misc]
    for column, machine in enumerate(("x86_64", "aarch64"))
}

_FCNTL = (0, 1, 2, 3, 4, 1030)
"""F_DUPFD, F_GETFD, F_SETFD, F_GETFL, F_SETFL, F_DUPFD_CLOEXEC. Not the owner of a descriptor, who
gets signals (SIGCONT would thaw a frozen process), nor locks, which name other processes."""
_IOCTL = (0x5401, 0x5413, 0x541B, 0x5421, 0x5450, 0x5451)
"""TCGETS, TIOCGWINSZ, FIONREAD, FIONBIO, FIONCLEX, FIOCLEX: what Python asks of a descriptor."""
ALLOWED_COMMANDS: dict[str, dict[int, tuple[int, ...]]] = {
    "x86_64": {72: _FCNTL, 16: _IOCTL},
    "aarch64": {25: _FCNTL, 29: _IOCTL},
}
"""Calls that may be used with these second arguments only."""
