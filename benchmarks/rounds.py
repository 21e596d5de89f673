"""Timing several programs side by side: each in a process of its own, taking turns.

Taking turns after every minibatch means that a machine that slows down slows all of them down. A
process of its own gives each its own memory and threads, so that its peak can be read.
"""

import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import ExitStack, contextmanager
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple

import psutil
from tqdm import tqdm

from course_lib.errors import CourseError

Step = Callable[[int], float | None]
"""Does item i of the work; returns a measurement, or None where the time it took is the one."""


class Program(NamedTuple):
    """What a process runs: `prepare(*arguments)`, once, returns its `Step`."""

    prepare: Callable[..., Step]
    arguments: tuple[Any, ...]


class Timing(NamedTuple):
    """What was measured of one program.

    values: a list for each round, of one measurement for each item (seconds, or what the step
        returned).
    peak: the most memory its process ever held, in bytes.
    """

    values: list[list[float]]
    peak: int


def take_turns(
    programs: dict[str, Program], items: int, rounds: int, warmup: int = 2, quiet: bool = False
) -> dict[str, Timing]:
    """Run every item of every program `rounds` times, the programs in turn after each item.

    The first `warmup` items are run once before anything counts. Which program goes first changes
    from item to item, so that none always follows the same one.
    """
    names = list(programs)
    values: dict[str, list[list[float]]] = {name: [] for name in names}
    with _processes(programs) as ask:
        for name in names:
            for item in range(min(warmup, items)):
                ask(name, _measured, item)
        for _ in tqdm(range(rounds), desc="rounds", disable=quiet):
            this_round: dict[str, list[float]] = {name: [] for name in names}
            for item in range(items):
                first = item % len(names)
                for name in names[first:] + names[:first]:
                    this_round[name].append(ask(name, _measured, item))
            for name in names:
                values[name].append(this_round[name])
        return {name: Timing(values[name], ask(name, peak_memory)) for name in names}


@contextmanager
def _processes(programs: dict[str, Program]) -> Iterator[Callable[..., Any]]:
    """A process a program; yields a function that lets the one of this name do some work."""
    with ExitStack() as stack:
        pools = {
            name: stack.enter_context(
                ProcessPoolExecutor(1, get_context("spawn"), _prepare, (program,))
            )
            for name, program in programs.items()
        }

        def ask(name: str, work: Callable[..., Any], *arguments: Any) -> Any:
            try:
                return pools[name].submit(work, *arguments).result()
            except BrokenProcessPool as error:
                raise CourseError(
                    f"The process that measures {name} ended. Its error is above; if there is "
                    "none, memory may have run out: try a smaller --batch."
                ) from error

        yield ask


_mine: dict[str, Any] = {}
"""In a program's process: its step."""


def _prepare(program: Program) -> None:
    _mine["step"] = program.prepare(*program.arguments)


def _measured(item: int) -> float:
    started = time.perf_counter()
    value = _mine["step"](item)
    seconds = time.perf_counter() - started
    return seconds if value is None else value


def peak_memory() -> int:
    """The most memory that this process ever held, in bytes.

    Linux counts what the process was before it became this program into `ru_maxrss`: a copy of its
    parent. The status file does not.
    """
    status = Path("/proc/self/status")
    if status.is_file():
        [line] = [row for row in status.read_text().splitlines() if row.startswith("VmHWM:")]
        return int(line.split()[1]) * 1024
    if sys.platform == "win32":
        return int(psutil.Process().memory_info().peak_wset)
    import resource  # not on Windows

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024
