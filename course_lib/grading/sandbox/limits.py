"""BoxLimits on all processes of a submission together, which also hold for root.

What `ulimit` sets is per process, and some of it does not bind root. So the processes of a box are
also counted together, ten times a second. A `Watch` ends the whole box, and knows what was
exceeded. It can be late by a tenth of a second, in which a box may take what the machine gives.
"""

import contextlib
import os
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import psutil

Found = TypeVar("Found")
LimitCheck = Callable[[list[int], "BoxLimits"], str | None]
"""What finds the name of a limit that processes exceed, if they do."""

LOOK_SECONDS = 0.1
PROC = Path("/proc")
WRITABLE = ("tmp", "dev/shm", "run/kernel")
"""What lies in memory and counts as memory; the box limits the size of each."""
INODE = 2048
"""Bytes of the system's memory for a file there, beside what is in it."""
SOCKETS = 200
"""Beyond so many each counts as memory, as if it were full: a kernel has some dozens."""
TERMINALS = 64
"""What one submission may open of them; Linux has 3,072 for everybody together."""


@dataclass(frozen=True)
class BoxLimits:
    """What one submission may use, all its processes together.

    Attributes:
        memory: bytes, what is written to its folders included.
        processes: processes and threads at the same time.
        processor: seconds of processor time.
        wall: seconds from start to end, without those in which it waited for a processor.
    """

    memory: int = 3 * 1024**3
    processes: int = 256
    processor: int = 300
    wall: int = 420


DEFAULT = BoxLimits()

EXCEEDED = {
    "MemoryExceeded": f"It used more than {DEFAULT.memory / 1024**3:g} GB of memory and was"
    " stopped.",
    "ProcessesExceeded": f"It started more than {DEFAULT.processes} processes and threads and was"
    " stopped.",
    "TerminalsExceeded": f"It opened more than {TERMINALS} terminals and was stopped.",
    "ProcessorTimeExceeded": f"It used more than {DEFAULT.processor} seconds of processor time and"
    " was stopped.",
    "TimeExceeded": f"It ran for more than {DEFAULT.wall} seconds and was stopped.",
}
"""What can be exceeded: the name in the graded notebook, and what it says there."""


class Watch:
    """Looks at a box until it ends, and ends it when it exceeds a limit.

    Attributes:
        exceeded: the name of that limit, a key of `EXCEEDED`; None so far.
    """

    def __init__(self, roots: list[int], limits: BoxLimits, kill: Callable[[], None]) -> None:
        """Begin to look.

        Args:
            roots: processes of which all others in the box descend.
            limits: what it may use.
            kill: ends the box.
        """
        self.exceeded: str | None = None
        self._roots, self._limits, self._kill = roots, limits, kill
        self._until = time.monotonic() + limits.wall
        self._over = threading.Event()
        # weighing waits while processes are being made: it must not keep us from counting them
        self._threads = [
            threading.Thread(target=self._watch, args=(look,), name="watch", daemon=True)
            for look in (too_many, too_heavy)
        ]
        for thread in self._threads:
            thread.start()

    def _watch(self, look: LimitCheck) -> None:
        while not self._over.wait(LOOK_SECONDS):
            exceeded = look(self._roots, self._limits)
            late = time.monotonic() - self._until
            if exceeded is None and late > 0 and late > clocks(self._roots, self._limits)[1]:
                exceeded = "TimeExceeded"
            if exceeded is not None and not self._over.is_set():
                self.exceeded = self.exceeded or exceeded
                self._kill()
                return

    def end(self) -> None:
        """Stop looking."""
        self._over.set()
        for thread in self._threads:
            thread.join()


def clocks(roots: list[int], limits: BoxLimits = DEFAULT) -> tuple[float, float]:
    """Seconds until now: of processor time, of all processes together; and those that the one which
    waited longest had to wait for a processor."""
    alive = _descendants(roots, limits.processes)
    return _spent(alive), max(map(_waited, alive), default=0.0)


def too_many(roots: list[int], limits: BoxLimits) -> str | None:
    """Whether these processes and their descendants are too many, or took too much time.

    Of too many nothing more is asked: they multiply while we look.
    """
    alive = _descendants(roots, limits.processes)
    if len(alive) > limits.processes:
        return "ProcessesExceeded"
    if sum(_of_each(alive, psutil.Process.num_threads)) > limits.processes:
        return "ProcessesExceeded"
    with contextlib.suppress(OSError):
        if len(os.listdir(PROC / str(roots[0]) / "root/dev/pts")) > TERMINALS:
            return "TerminalsExceeded"
    return "ProcessorTimeExceeded" if _spent(alive) > limits.processor else None


def _spent(processes: list[int]) -> float:
    """Seconds of processor time: their own, and that of children which have ended."""
    return sum(sum(times[:4]) for times in _of_each(processes, psutil.Process.cpu_times))


def _waited(process: int) -> float:
    """Seconds that a process was ready to run and others did; 0 where Linux does not count them."""
    with contextlib.suppress(OSError, IndexError):
        return int((PROC / str(process) / "schedstat").read_text().split()[1]) / 1e9
    return 0.0


def too_heavy(roots: list[int], limits: BoxLimits) -> str | None:
    """Whether these processes and their descendants, files and sockets take too much memory.

    Pages that n processes share count 1/n for each, which takes longer to find out: only where
    counting them in full says that they are too many.
    """
    alive = _descendants(roots, limits.processes)
    left = limits.memory - _files(roots[0]) - _sockets(roots[0])
    if sum(about.rss for about in _of_each(alive, psutil.Process.memory_info)) <= left:
        return None
    shared = sum(about.pss for about in _of_each(alive, psutil.Process.memory_full_info))
    return "MemoryExceeded" if shared > left else None


def _of_each(processes: list[int], ask: Callable[[psutil.Process], Found]) -> list[Found]:
    """What is asked of each process; one that ends meanwhile counts nothing."""
    answers = []
    for process in processes:
        with contextlib.suppress(psutil.Error, OSError):
            answers.append(ask(psutil.Process(process)))
    return answers


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


def _files(process: int) -> int:
    """Bytes in the folders in memory, as a process inside sees them."""
    total = 0
    for name in WRITABLE:
        with contextlib.suppress(OSError):
            space = os.statvfs(PROC / str(process) / "root" / name)
            total += (space.f_blocks - space.f_bfree) * space.f_frsize
            total += (space.f_files - space.f_ffree) * INODE
    return total


def _sockets(process: int) -> int:
    """Bytes that may wait in the sockets of a process's network beyond `SOCKETS`."""
    with contextlib.suppress(OSError):
        used = int((PROC / str(process) / "net/sockstat").read_text().split()[2])
        # what a program asks for is doubled, as the system's own part of it counts
        most = 2 * int((PROC / "sys/net/core/wmem_max").read_text())
        return max(0, used - SOCKETS) * most
    return 0
