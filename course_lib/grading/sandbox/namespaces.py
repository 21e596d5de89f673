"""How a process that already runs moves behind bubblewrap's walls, and gives up all its rights.

Python 3.11 has none of these calls, so they go to the C library. Linux only.
"""

import ctypes
import fcntl
import os
import signal
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
PR_SET_NO_NEW_PRIVS, PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL = 38, 47, 4
CAPABILITY_VERSION = 0x20080522
KEYCTL_JOIN_SESSION_KEYRING = 1
SYS_KEYCTL = {"x86_64": 250, "aarch64": 219}

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
