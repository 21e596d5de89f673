"""Limits on all processes of a submission together, which also hold for root.

What `ulimit` sets is per process, and some of it does not bind root. So the processes of a box are
also counted together, by the system where it lets us (control groups: version 1 as root, version 2
as root or in a part of the tree that is ours), else by looking, ten times a second. Either way a
`Watch` ends the whole box, and knows what was exceeded.

The system's count is exact: at the limit of memory it kills, at the limit of processes it starts no
more. The look can be late by a tenth of a second, in which a box may take what the machine gives.
"""

import contextlib
import itertools
import os
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import psutil

Look = Callable[[], str | None]
"""What finds the name of a limit that is exceeded, if one is."""

GROUP = "course"
LOOK_SECONDS = 0.1
PROC = Path("/proc")
WRITABLE = ("tmp", "dev/shm", "run/kernel")
"""What lies in memory and counts as memory; the box limits the size of each."""

_numbers = itertools.count()


@dataclass(frozen=True)
class Limits:
    """What one submission may use, all its processes together.

    Attributes:
        memory: bytes, what is written to its folders included.
        processes: processes and threads at the same time.
        processor: seconds of processor time.
        wall: seconds from start to end.
    """

    memory: int = 3 * 1024**3
    processes: int = 256
    processor: int = 300
    wall: int = 420


DEFAULT = Limits()

EXCEEDED = {
    "MemoryExceeded": f"It used more than {DEFAULT.memory / 1024**3:g} GB of memory and was"
    " stopped.",
    "ProcessesExceeded": f"It started more than {DEFAULT.processes} processes and threads and was"
    " stopped.",
    "ProcessorTimeExceeded": f"It used more than {DEFAULT.processor} seconds of processor time and"
    " was stopped.",
    "TimeExceeded": f"It ran for more than {DEFAULT.wall} seconds and was stopped.",
}
"""What can be exceeded: the name in the graded notebook, and what it says there."""


class Group:
    """The control groups of one box: one folder for each hierarchy."""

    def __init__(self, folders: dict[str, Path], version: int) -> None:
        self.folders, self.version = folders, version

    @classmethod
    def create(cls, limits: Limits) -> "Group | None":
        """Groups with these limits, empty; None where the system does not let us make them."""
        try:
            places = _places()
        except OSError:  # not every container shows them
            return None
        for parents, version in places:
            name = f"{GROUP}-{os.getpid()}-{next(_numbers)}"
            folders = {controller: parent / name for controller, parent in parents.items()}
            group = cls(folders, version)
            try:
                for parent in set(parents.values()):
                    _remove_leftovers(parent)
                for folder in set(folders.values()):
                    folder.mkdir()
                group._limit(limits)
            except OSError:
                group.remove()
                continue
            return group
        return None

    def _limit(self, limits: Limits) -> None:
        memory, processes = self.folders["memory"], self.folders["pids"]
        if self.version == 1:
            (memory / "memory.limit_in_bytes").write_text(str(limits.memory))
            with contextlib.suppress(OSError):  # where swap is not accounted there is no such file
                (memory / "memory.memsw.limit_in_bytes").write_text(str(limits.memory))
        else:
            (memory / "memory.max").write_text(str(limits.memory))
            with contextlib.suppress(OSError):
                (memory / "memory.swap.max").write_text("0")
                (memory / "memory.oom.group").write_text("1")
        (processes / "pids.max").write_text(str(limits.processes))

    @property
    def doors(self) -> list[str]:
        """The files that take a process in when its number, or 0 for itself, is written there."""
        return sorted({str(folder / "cgroup.procs") for folder in self.folders.values()})

    def take(self, process: int) -> None:
        """Put a process, and what it starts from now on, into the group."""
        for door in self.doors:
            Path(door).write_text(str(process))

    def exceeded(self, limits: Limits) -> str | None:
        """The limit at which the system has stopped or refused something, or that is passed."""
        events = "memory.oom_control" if self.version == 1 else "memory.events"
        if _field(self.folders["memory"] / events, "oom_kill"):
            return "MemoryExceeded"
        if _field(self.folders["pids"] / "pids.events", "max"):
            return "ProcessesExceeded"
        return "ProcessorTimeExceeded" if self._processor() > limits.processor else None

    def _processor(self) -> float:
        """Seconds of processor time so far."""
        if self.version == 2:
            return _field(self.folders["memory"] / "cpu.stat", "usage_usec") / 1e6
        folder = self.folders.get("cpuacct")
        return int((folder / "cpuacct.usage").read_text()) / 1e9 if folder else 0.0

    def remove(self) -> None:
        """Delete the groups, whose processes have been killed."""
        for folder in set(self.folders.values()):
            _remove(folder)


class Watch:
    """Looks at a box until it ends, and ends it when it exceeds a limit."""

    def __init__(
        self, roots: list[int], limits: Limits, group: Group | None, kill: Callable[[], None]
    ) -> None:
        """Begin to look.

        Args:
            roots: processes of which all others in the box descend.
            limits: what it may use.
            group: the group it is in; None to count by looking.
            kill: ends the box.
        """
        self._wall, self._group, self._kill = limits.wall, group, kill
        self._begun = time.monotonic()
        self._found: str | None = None
        self._over = threading.Event()
        # weighing waits while processes are being made: it must not keep us from counting them
        self._looks = (
            [partial(group.exceeded, limits)]
            if group
            else [partial(too_many, roots, limits), partial(too_heavy, roots, limits)]
        )
        self._threads = [
            threading.Thread(target=self._watch, args=(look,), name="watch", daemon=True)
            for look in self._looks
        ]
        for thread in self._threads:
            thread.start()

    def _watch(self, look: Look) -> None:
        while not self._over.wait(LOOK_SECONDS):
            if self._seen(look) is not None:
                self._kill()
                return

    def _seen(self, look: Look) -> str | None:
        try:
            found = look()
        except (OSError, ValueError):  # it is just ending
            found = None
        if found is None and time.monotonic() - self._begun > self._wall:
            found = "TimeExceeded"
        if self._found is None and not self._over.is_set():
            self._found = found
        return self._found

    def exceeded(self) -> str | None:
        """The name of the limit that was exceeded, a key of `EXCEEDED`; None so far."""
        return self._seen(self._looks[0]) if self._group else self._found

    def end(self) -> None:
        """Stop looking, after a last look at what the system has counted."""
        self.exceeded()
        self._over.set()
        for thread in self._threads:
            thread.join()


def too_many(roots: list[int], limits: Limits) -> str | None:
    """Whether these processes and their descendants are too many, or took too much time.

    One that ends meanwhile counts nothing. Of too many nothing more is asked: they multiply while
    we look.
    """
    alive = _descendants(roots, limits.processes)
    if len(alive) > limits.processes:
        return "ProcessesExceeded"
    statuses = list(filter(None, map(_status, alive)))
    if sum(int(fields[17]) for fields in statuses) > limits.processes:
        return "ProcessesExceeded"
    ticks = sum(sum(map(int, fields[11:15])) for fields in statuses)
    spent = ticks / os.sysconf("SC_CLK_TCK")
    return "ProcessorTimeExceeded" if spent > limits.processor else None


def too_heavy(roots: list[int], limits: Limits) -> str | None:
    """Whether these processes, their descendants and their files in memory take too much of it.

    Pages that several processes share are counted once, which takes longer: only where counting
    them for each says that they are too many.
    """
    processes = _descendants(roots, limits.processes)
    left = limits.memory - _files(roots[0])
    pages = sum(int(fields[21]) for fields in filter(None, map(_status, processes)))
    if pages * os.sysconf("SC_PAGE_SIZE") <= left:
        return None
    return "MemoryExceeded" if sum(map(_share, processes)) > left else None


def _status(process: int) -> list[str] | None:
    """The fields of a process's stat file that follow its name, which may hold any character."""
    try:
        return (PROC / str(process) / "stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None


def _descendants(roots: list[int], enough: int) -> list[int]:
    processes: list[int] = []
    waiting = list(roots)
    while waiting and len(processes) <= enough:
        process = waiting.pop()
        processes.append(process)
        try:
            for task in (PROC / str(process) / "task").iterdir():
                waiting += map(int, (task / "children").read_text().split())
        except FileNotFoundError:
            if not (PROC / "self/task" / str(threading.get_native_id()) / "children").exists():
                with contextlib.suppress(psutil.Error):  # a kernel without these lists
                    waiting += [child.pid for child in psutil.Process(process).children()]
        except OSError:
            pass
    return processes


def _share(process: int) -> int:
    """The memory of a process, where a page of n processes counts 1/n."""
    try:
        return _field(PROC / str(process) / "smaps_rollup", "Pss:") * 1024
    except OSError:
        return 0


def _files(process: int) -> int:
    """Bytes in the folders in memory, as a process inside sees them."""
    total = 0
    for name in WRITABLE:
        with contextlib.suppress(OSError):
            space = os.statvfs(PROC / str(process) / "root" / name)
            total += (space.f_blocks - space.f_bfree) * space.f_frsize
    return total


def _places() -> list[tuple[dict[str, Path], int]]:
    """Folders in which groups could be made, the likeliest first: controller -> parent."""
    mounts, ours = _mounts(), _memberships()
    if "memory" in ours and "pids" in ours:
        wanted: list[str] = ["memory", "pids", "cpuacct"]
        names = [name for name in wanted if name in ours and name in mounts]
        parents: dict[str, Path] = {name: _below(*mounts[name], ours[name]) for name in names}
        return [(parents, 1)] if {"memory", "pids"} <= parents.keys() else []
    if "" not in mounts or "" not in ours:
        return []
    top = mounts[""][0]
    own = _below(*mounts[""], ours[""])
    places: list[tuple[dict[str, Path], int]] = []
    # a group with processes of its own hands nothing down, so usually it is one further up
    for folder in [own, *own.parents]:
        if not folder.is_relative_to(top):
            break
        with contextlib.suppress(OSError):
            offered = (folder / "cgroup.subtree_control").read_text().split()
            if {"memory", "pids"} <= set(offered) and os.access(folder, os.W_OK):
                places.append(({"memory": folder, "pids": folder}, 2))
    return places


def _mounts() -> dict[str, tuple[Path, str]]:
    """Controller ("" for version 2) -> where its hierarchy is mounted, and which part of it."""
    mounts: dict[str, tuple[Path, str]] = {}
    for line in (PROC / "self/mountinfo").read_text().splitlines():
        before, _, after = line.partition(" - ")
        root, point = before.split()[3:5]
        kind, _, options = after.split(maxsplit=2)
        if kind == "cgroup2":
            mounts[""] = (Path(point), root)
        elif kind == "cgroup":
            mounts |= {name: (Path(point), root) for name in options.split(",")}
    return mounts


def _memberships() -> dict[str, str]:
    """Controller ("" for version 2) -> the group this process is in."""
    groups: dict[str, str] = {}
    for line in (PROC / "self/cgroup").read_text().splitlines():
        _, names, path = line.split(":", 2)
        groups |= dict.fromkeys(names.split(","), path)
    return groups


def _below(point: Path, root: str, group: str) -> Path:
    inner = group.removeprefix(root.rstrip("/")).lstrip("/")
    return point / inner


def _field(path: Path, name: str) -> int:
    for line in path.read_text().splitlines():
        first, _, rest = line.partition(" ")
        if first == name:
            return int(rest.split()[0])
    return 0


def _remove_leftovers(parent: Path) -> None:
    """Delete groups of processes that were killed before they could."""
    for folder in parent.glob(f"{GROUP}-*-*"):
        process = folder.name.split("-")[1]
        if process.isdigit() and not psutil.pid_exists(int(process)):
            with contextlib.suppress(OSError):
                folder.rmdir()


def _remove(folder: Path) -> None:
    # a killed process stays a member until the system has cleared it away
    for _ in range(100):
        try:
            folder.rmdir()
        except FileNotFoundError:
            return
        except OSError:
            time.sleep(0.01)
        else:
            return
