"""How a process that already runs moves behind bubblewrap's walls, and gives up all its rights.

Python 3.11 has none of these calls, so they go to the C library. Linux only.
"""

import ctypes
import errno
import fcntl
import os
import signal
import struct
from pathlib import Path

NEW_NAMESPACES = {
    "mnt": 0x00020000,
    "cgroup": 0x02000000,
    "uts": 0x04000000,
    "ipc": 0x08000000,
    "pid": 0x20000000,
    "net": 0x40000000,
}
NEW_USER = 0x10000000
NS_GET_USERNS = 0xB701

PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_CAPBSET_DROP = 1, 4, 24
PR_SET_SECCOMP, SECCOMP_MODE_FILTER = 22, 2
PR_SET_NO_NEW_PRIVS, PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL = 38, 47, 4
CAPABILITY_VERSION = 0x20080522
KEYCTL_JOIN_SESSION_KEYRING = 1
SYS_KEYCTL = {"x86_64": 250, "aarch64": 219}
FORBIDDEN = {
    "x86_64": {
        **{"memfd_create": 319, "memfd_secret": 447, "shmget": 29, "semget": 64, "msgget": 68},
        **{"mq_open": 240, "add_key": 248, "request_key": 249, "keyctl": 250},
        **{"inotify_init": 253, "inotify_init1": 294, "fanotify_init": 300, "io_uring_setup": 425},
        **{"bpf": 321, "perf_event_open": 298, "userfaultfd": 323},
    },
    "aarch64": {
        **{"memfd_create": 279, "memfd_secret": 447, "shmget": 194, "semget": 190, "msgget": 186},
        **{"mq_open": 180, "add_key": 217, "request_key": 218, "keyctl": 219},
        **{"inotify_init1": 26, "fanotify_init": 262, "io_uring_setup": 425},
        **{"bpf": 280, "perf_event_open": 241, "userfaultfd": 282},
    },
}
"""System calls that make what no process owns, so that no count of processes finds it, or what
Linux counts for a whole user, so that one box could take it from all others."""
_ARCHITECTURE = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
_LOAD, _IF_EQUAL, _IF_AT_LEAST, _RETURN = 0x20, 0x15, 0x35, 0x06
_ALLOW, _KILL, _NO_SUCH_CALL = 0x7FFF0000, 0x80000000, 0x00050000 | errno.ENOSYS
_OTHER_NUMBERS = 0x40000000
"""From here on x86 knows every call a second time."""

_libc = ctypes.CDLL(None, use_errno=True)


def enter(process: int, pidfd: int) -> None:
    """Join all namespaces of another process; the children of this one are then inside.

    Whoever holds the walls' user namespace has rights over them only from there, and the process
    inside may live in another one below it, which leaves it none: so the owner of the walls comes
    first, then the walls, then where the process is.
    """
    folder = Path("/proc", str(process), "ns")
    handle = os.open(folder / "mnt", os.O_RDONLY | os.O_CLOEXEC)
    try:
        owner = fcntl.ioctl(handle, NS_GET_USERNS)
    finally:
        os.close(handle)
    here = os.stat("/proc/self/ns/user").st_ino
    theirs = (folder / "user").stat().st_ino
    if os.geteuid() != 0 and os.fstat(owner).st_ino != here:
        _call("setns", owner, NEW_USER)
    os.close(owner)
    # only those that differ: joining one's own needs rights too
    wanted = 0
    for name, flag in NEW_NAMESPACES.items():
        if (folder / name).stat().st_ino != os.stat(f"/proc/self/ns/{name}").st_ino:
            wanted |= flag
    joined = os.stat("/proc/self/ns/user").st_ino
    _call("setns", pidfd, wanted)
    if joined != theirs:
        _call("setns", pidfd, NEW_USER)


def give_up_rights() -> None:
    """No capability, now or after any program that is started, and no way to gain one."""
    _call("prctl", PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0)
    for capability in range(64):
        if _libc.prctl(PR_CAPBSET_DROP, capability, 0, 0, 0) != 0:
            break  # the kernel has no more of them; the test looks at what is left
    _call("prctl", PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    header = (ctypes.c_uint32 * 2)(CAPABILITY_VERSION, 0)
    nothing = (ctypes.c_uint32 * 6)()
    _call("capset", header, nothing)
    # a process of its own rights may look at itself again
    _call("prctl", PR_SET_DUMPABLE, 1, 0, 0, 0)


def forget_keys() -> None:
    """An empty session keyring: the instructor's may hold tickets of the network."""
    number = SYS_KEYCTL.get(os.uname().machine)
    if number is not None:
        _libc.syscall(number, KEYCTL_JOIN_SESSION_KEYRING, None)


def seccomp_filter() -> bytes:
    """A program for Linux' seccomp: no call in `FORBIDDEN` exists. Empty on another machine."""
    numbers = sorted(FORBIDDEN.get(os.uname().machine, {}).values())
    if not numbers:
        return b""
    most = len(numbers)
    steps = [
        (_LOAD, 0, 0, 4),  # the architecture
        (_IF_EQUAL, 1, 0, _ARCHITECTURE[os.uname().machine]),
        (_RETURN, 0, 0, _KILL),
        (_LOAD, 0, 0, 0),  # the number of the call
        (_IF_AT_LEAST, most + 1, 0, _OTHER_NUMBERS),
        *((_IF_EQUAL, most - place, 0, number) for place, number in enumerate(numbers)),
        (_RETURN, 0, 0, _ALLOW),
        (_RETURN, 0, 0, _NO_SUCH_CALL),
    ]
    return b"".join(struct.pack("HBBI", *step) for step in steps)


def forbid() -> None:
    """Hold this process and its children to `seccomp_filter`; it has given up its rights before."""
    program = seccomp_filter()
    if program:
        steps = ctypes.create_string_buffer(program, len(program))
        about = _Program(len(program) // 8, ctypes.addressof(steps))
        _call("prctl", PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.byref(about), 0, 0)


class _Program(ctypes.Structure):
    """How Linux is handed one."""

    _fields_ = (("length", ctypes.c_ushort), ("steps", ctypes.c_void_p))


def die_with_parent() -> None:
    """Be killed when the parent ends, however it ends."""
    _call("prctl", PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


def _call(name: str, *arguments: object) -> None:
    if getattr(_libc, name)(*arguments) != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{name}: {os.strerror(number)}")


def supported() -> bool:
    """Whether this system knows processes by file descriptors, which joining uses (Linux 5.8)."""
    try:
        os.close(os.pidfd_open(os.getpid()))
    except (AttributeError, OSError):
        return False
    return hasattr(_libc, "setns") and hasattr(os, "memfd_create")
