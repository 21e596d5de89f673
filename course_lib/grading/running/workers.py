"""Submissions graded beside each other, each by a copy of the process that grades the class.

A copy has imported everything already. It grades one submission after the other, and ends with the
process that it is a copy of, however that ends.
"""

import contextvars
import gc
import multiprocessing
import os
import resource
import signal
import time
import warnings
from collections import deque
from collections.abc import Generator
from contextlib import suppress
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess

from course_lib.grading.running.journal import Outcome
from course_lib.grading.running.submission import Job, grade
from course_lib.grading.sandbox import namespaces

LONGEST = 1800
"""Seconds after which the process of a submission is ended, whatever it does."""
MOST_MEMORY = 6 * 1024**3
"""Bytes that such a process may have of its own; what runs in a box is not of it."""


def outcomes(tasks: list[Job], jobs: int) -> Generator[Outcome, None, None]:
    """Outcomes as they come, of `jobs` submissions at a time."""
    waiting = deque(tasks)
    copies: dict[Connection, BaseProcess] = {}
    at_work: dict[Connection, tuple[Job, float]] = {}
    try:
        while waiting or at_work:
            while waiting and len(at_work) < jobs:
                way = next((one for one in copies if one not in at_work), None)
                if way is None:
                    way, process = _copy()
                    copies[way] = process
                at_work[way] = waiting.popleft(), time.monotonic() + LONGEST
                with suppress(OSError):  # nobody is there: nothing will come back
                    way.send(at_work[way][0])
            first = min(until for _, until in at_work.values())
            for ready in wait(list(at_work), max(first - time.monotonic(), 0)):
                assert isinstance(ready, Connection)
                task, _ = at_work.pop(ready)
                try:
                    yield ready.recv()
                except (EOFError, OSError):
                    process = copies.pop(ready)
                    process.join()
                    yield failed(task, f"status {process.exitcode}")
            for way in [way for way, (_, until) in at_work.items() if until < time.monotonic()]:
                task, _ = at_work.pop(way)
                process = copies.pop(way)
                process.kill()
                process.join()
                yield failed(task, f"no end within {LONGEST} seconds")
    finally:
        for process in copies.values():
            process.kill()
            process.join()


def failed(task: Job, why: str) -> Outcome:
    """What is said of a submission whose process did not come to its end."""
    remark = f"The grading process itself failed ({why}). Run the command again."
    return Outcome(task.student, False, 0.0, [remark], fault=True)


def _copy() -> tuple[Connection, BaseProcess]:
    context = multiprocessing.get_context("fork")
    ours, theirs = context.Pipe()
    process = context.Process(target=_work, args=(theirs, os.getpid()))
    with theirs, warnings.catch_warnings():
        # the one thread beside is a progress bar's, which holds nothing that a copy needs
        warnings.simplefilter("ignore", DeprecationWarning)
        process.start()
    return ours, process


def _work(way: Connection, parent: int) -> None:
    """In the copy: grade what comes, until it is ended."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C goes to all that share a terminal
    namespaces.die_with_parent()
    # the hard limit stays: boxes set their own
    most = resource.getrlimit(resource.RLIMIT_DATA)[1]
    resource.setrlimit(resource.RLIMIT_DATA, (MOST_MEMORY, most))
    gc.freeze()  # what is there stays: to look through it would copy it
    context = contextvars.Context()  # with an event loop of its own
    while os.getppid() == parent:
        task = way.recv()
        try:
            outcome = context.run(grade, task)
        except Exception as error:
            outcome = failed(task, type(error).__name__)
        way.send(outcome)
