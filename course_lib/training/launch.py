"""One training by several processes of this machine, and what became of each of them."""

import multiprocessing
import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable
from contextlib import ExitStack
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import NamedTuple

import torch
from accelerate.state import PartialState
from accelerate.utils import patch_environment
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

Ending = CourseError | KeyboardInterrupt | EOFError | None
"""How a process ended: None well, EOFError without a word."""


class Worker(NamedTuple):
    """One of the processes, and the end of a pipe on which it says how it ended."""

    process: multiprocessing.process.BaseProcess
    answer: Connection


def train_by(
    processes: int, config: RunConfig, corpus: Corpus, out: Path | str, resume: bool = False
) -> None:
    """`train` here and with this corpus, or by several processes that each load it."""
    if processes > 1:
        train_in_processes(processes, config, out, resume)
    else:
        train(config, corpus, out, resume)


def train_in_processes(
    processes: int, config: RunConfig, out: Path | str, resume: bool = False, quiet: bool = False
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
    workers = _start(processes, (config, out, resume, quiet))
    with deferred_interrupt() as stop_asked:
        cut_off = _wait(workers, stop_asked)
    endings = [_last_words(worker) for worker in workers]
    if not quiet and any(endings):
        print(file=sys.stderr)  # a process that was lost leaves its progress bar open
    _report(endings, [None if w in cut_off else w.process.exitcode for w in workers])


def _start(count: int, arguments: tuple[RunConfig, Path | str, bool, bool]) -> list[Worker]:
    """Start the processes; they find one another over this machine's loopback device."""
    context = multiprocessing.get_context("spawn")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    threads = max(1, torch.get_num_threads() // count)
    shared = {
        "WORLD_SIZE": count,
        "LOCAL_WORLD_SIZE": count,
        "MASTER_ADDR": "127.0.0.1",
        "MASTER_PORT": port,
        "OMP_NUM_THREADS": threads,
        "MKL_NUM_THREADS": threads,
        "GLOO_SOCKET_IFNAME": next(n for _, n in socket.if_nameindex() if n.startswith("lo")),
    }
    workers = []
    # Ctrl-C reaches every process of a terminal: they may not hear it before they can heed it.
    with no_interrupt(), ExitStack() as pipes:
        for rank in range(count):
            answer, told = context.Pipe(duplex=False)
            pipes.callback(told.close)
            process = context.Process(target=_work, args=(told, *arguments))
            with patch_environment(RANK=rank, LOCAL_RANK=rank, **shared):
                process.start()
            workers.append(Worker(process, answer))
    return workers


def _work(told: Connection, config: RunConfig, out: Path | str, resume: bool, quiet: bool) -> None:
    """What each process does; how it ended goes to the one that started it."""
    threading.Thread(target=_end_with_parent, daemon=True).start()
    tqdm.set_lock(threading.RLock())  # instead of one between processes, which a kill leaves behind
    ending: Ending = None
    try:
        corpus = load_corpus(config.corpus, config.pair, **config.corpus_options)
        train(config, corpus, out, resume, quiet)
    except (CourseError, KeyboardInterrupt) as error:
        ending = error
    told.send(ending)
    if ending is not None:
        sys.exit(1)
    PartialState().destroy_process_group()


def _end_with_parent() -> None:
    """Training on when the one that waits was killed, this one would write into a resumed run."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os.kill(os.getpid(), signal.SIGKILL)


def _wait(workers: list[Worker], stop_asked: Callable[[], bool]) -> list[Worker]:
    """Wait until all have ended; those that had to be made to, as another one had failed."""
    failed_at = None
    cut_off = []
    while alive := [worker for worker in workers if worker.process.is_alive()]:
        wait([worker.process.sentinel for worker in alive], timeout=0.5)
        if failed_at is None and any(worker.process.exitcode for worker in workers):
            failed_at = time.monotonic()
        for worker in alive:
            if failed_at is not None and time.monotonic() - failed_at > GRACE:
                worker.process.kill()
                cut_off.append(worker)
            elif stop_asked() and worker.process.pid and worker.process.is_alive():
                os.kill(worker.process.pid, signal.SIGINT)
    return cut_off


def _last_words(worker: Worker) -> Ending:
    """What a process said at its end; EOFError if it was lost before."""
    with worker.answer:
        try:
            ending: Ending = worker.answer.recv()
        except EOFError as error:
            ending = error
    return ending


def _report(endings: list[Ending], statuses: list[int | None]) -> None:
    """Raise what should be known at the keyboard: a mistake, who was lost, a wish to stop."""
    for ending in endings:
        if isinstance(ending, CourseError) and not isinstance(ending, ProcessLost):
            raise ending
    for rank, (ending, status) in enumerate(zip(endings, statuses, strict=True)):
        if isinstance(ending, EOFError) and status is not None:
            raise ProcessLost(
                f"Process {rank + 1} of {len(endings)} was lost ({_how(status)}). The last "
                "checkpoint is whole: add --resume to go on, with as many processes as you like."
            )
    for ending in endings:
        if ending is not None:
            raise ending


def _how(status: int) -> str:
    """An exit status in words."""
    if status >= 0:
        return f"it ended with status {status}, see above"
    name = signal.Signals(-status).name
    hint = "; if nobody did, memory ran out and --set accumulation=2 helps"
    return f"killed by {name}{hint if name == 'SIGKILL' else ''}"
