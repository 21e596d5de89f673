"""One training by several processes of this machine, which torch starts and watches."""

import multiprocessing
import os
import signal
import socket
import sys
import threading
from collections.abc import Callable
from multiprocessing.connection import wait
from multiprocessing.queues import SimpleQueue
from pathlib import Path

import torch
from accelerate.state import PartialState
from accelerate.utils import patch_environment
from torch.multiprocessing import ProcessContext, ProcessExitedException, start_processes
from tqdm import tqdm

from course_lib.corpora.corpus import Corpus
from course_lib.corpora.registry import load_corpus
from course_lib.errors import CourseError
from course_lib.training.group import ProcessLost
from course_lib.training.interrupt import deferred_interrupt, no_interrupt
from course_lib.training.loop import train
from course_lib.training.run_config import RunConfig

GRACE = 30.0
"""Seconds in which the other processes end by themselves when one has failed."""

Stops = SimpleQueue[CourseError | KeyboardInterrupt]
"""Why processes stopped, in the order in which they did."""


def train_by(
    processes: int,
    config: RunConfig,
    corpus: Corpus,
    out: Path | str,
    resume: bool = False,
    track: str | None = None,
) -> None:
    """`train` here and with this corpus, or by several processes that each load it."""
    if processes > 1:
        train_in_processes(processes, config, out, resume, track=track)
    else:
        train(config, corpus, out, resume, track=track)


def train_in_processes(
    processes: int,
    config: RunConfig,
    out: Path | str,
    resume: bool = False,
    quiet: bool = False,
    track: str | None = None,
) -> None:
    """`train` by several processes, each with a graphics card of its own or its share of the CPU.

    They share out every minibatch and every validation, so the numbers are those of one process.
    Each loads the corpus that `config` names.

    Raises:
        CourseError: what `train` raises, or a process was lost; the others have then ended too.
    """
    cards = torch.cuda.device_count()
    if cards and processes > cards:
        raise CourseError(
            f"{processes} processes would need as many graphics cards; here are {cards}. Choose "
            f"--processes {cards}, or set CUDA_VISIBLE_DEVICES= to train on the processor."
        )
    stops: Stops = multiprocessing.get_context("spawn").SimpleQueue()
    # Ctrl-C reaches every process of a terminal: they may not hear it before they can heed it.
    with no_interrupt(), patch_environment(**_world(processes)):
        arguments = (stops, config, out, resume, quiet, track)
        group = start_processes(_work, arguments, processes, join=False)
    try:
        with deferred_interrupt() as stop_asked:
            _wait(group, stop_asked)
    except ProcessExitedException as exited:
        if not quiet:
            print(file=sys.stderr)  # a process that was lost leaves its progress bar open
        stopped = exited.exit_code > 0 and not stops.empty()
        raise (stops.get() if stopped else _lost(exited, processes)) from None


def _world(processes: int) -> dict[str, int | str]:
    """The environment in which processes find one another, over this machine's loopback device."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    threads = max(1, torch.get_num_threads() // processes)
    return {
        "WORLD_SIZE": processes,
        "LOCAL_WORLD_SIZE": processes,
        "MASTER_ADDR": "127.0.0.1",
        "MASTER_PORT": port,
        "OMP_NUM_THREADS": threads,
        "MKL_NUM_THREADS": threads,
        "GLOO_SOCKET_IFNAME": next(n for _, n in socket.if_nameindex() if n.startswith("lo")),
    }


def _work(
    rank: int,
    stops: Stops,
    config: RunConfig,
    out: Path | str,
    resume: bool,
    quiet: bool,
    track: str | None,
) -> None:
    """What each process does; where it stops before the end, it leaves word why."""
    threading.Thread(target=_end_with_parent, daemon=True).start()
    tqdm.set_lock(threading.RLock())  # instead of one between processes, which a kill leaves behind
    try:
        with patch_environment(RANK=rank, LOCAL_RANK=rank):
            corpus = load_corpus(config.corpus, config.pair, **config.corpus_options)
            train(config, corpus, out, resume, quiet, track=track)
    except (CourseError, KeyboardInterrupt) as stop:
        stops.put(stop)
        sys.exit(1)
    PartialState().destroy_process_group()


def _end_with_parent() -> None:
    """Training on when the one that waits was killed, this one would write into a resumed run."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os.kill(os.getpid(), signal.SIGKILL)


def _wait(group: ProcessContext, stop_asked: Callable[[], bool]) -> None:
    """Wait until all have ended, and hand on the wish to stop.

    Raises:
        ProcessExitedException: the first that ended badly; the others have then ended as well.
    """
    while not group.join(timeout=0.5, grace_period=GRACE):
        for process in group.processes if stop_asked() else ():
            if process.is_alive():
                os.kill(process.pid, signal.SIGINT)


def _lost(exited: ProcessExitedException, processes: int) -> ProcessLost:
    """What to tell of a process that ended without a word."""
    how = f"it ended with status {exited.exit_code}"
    if exited.signal_name:
        hint = "; if nobody did, memory ran out and --set accumulation=2 helps"
        killed = exited.signal_name == signal.SIGKILL.name
        how = f"killed by {exited.signal_name}{hint if killed else ''}"
    return ProcessLost(
        f"Process {exited.error_index + 1} of {processes} was lost ({how}). The last checkpoint is "
        "whole: add --resume to go on, with as many processes as you like."
    )
