"""One training by several processes of this machine, which torchrun starts and watches."""

import logging
import signal
import socket
import sys
import threading
from pathlib import Path

import torch
from accelerate.state import PartialState
from accelerate.utils import patch_environment
from torch.distributed.elastic.multiprocessing.api import SignalException
from torch.distributed.elastic.multiprocessing.errors import (
    ChildFailedError,
    ProcessFailure,
    record,
)
from torch.distributed.launcher.api import LaunchConfig, elastic_launch
from tqdm import tqdm

from course_lib.corpora.corpus import Corpus
from course_lib.errors import CourseError
from course_lib.training.interrupt import deferred_interrupt
from course_lib.training.loop import train
from course_lib.training.processes import ProcessLost
from course_lib.training.run_config import RunConfig

INTERRUPTED = 130
"""The exit status of a process that was asked to stop, and did."""


def train_by(
    processes: int,
    config: RunConfig,
    corpus: Corpus,
    out: Path | str,
    resume: bool = False,
    quiet: bool = False,
) -> None:
    """`train` here, or by several processes, each with a graphics card or its share of the CPU.

    They share out every minibatch and every validation, so the numbers are those of one process.
    Each loads the corpus that `config` names; `corpus` is for one process alone.

    Raises:
        CourseError: what `train` raises, or a process was lost; the others have then ended too.
    """
    if processes == 1:
        train(config, corpus, out, resume, quiet)
        return
    cards = torch.cuda.device_count() if torch.cuda.is_available() else 0
    if cards and processes > cards:
        raise CourseError(
            f"{processes} processes would need as many graphics cards; here are {cards}. Choose "
            f"--processes {cards}, or set CUDA_VISIBLE_DEVICES= to train on the processor."
        )
    here = "127.0.0.1"
    group = LaunchConfig(
        min_nodes=1,
        max_nodes=1,
        nproc_per_node=processes,
        max_restarts=0,
        rdzv_backend="c10d",
        rdzv_endpoint=f"{here}:0",
        local_addr=here,
        run_id="course",
        monitor_interval=0.02,  # before the others, too, end because of it
        signals_to_handle="SIGINT,SIGTERM",
    )
    # What it logs of a lost process is a page; here it is a line.
    logging.getLogger("torch.distributed.elastic").setLevel(logging.CRITICAL)
    environment = {
        "OMP_NUM_THREADS": max(1, torch.get_num_threads() // processes),
        "GLOO_SOCKET_IFNAME": next(n for _, n in socket.if_nameindex() if n.startswith("lo")),
    }
    try:
        # torchrun leaves its own handlers of signals behind.
        with deferred_interrupt(), patch_environment(**environment):
            elastic_launch(group, _work)(config, out, resume, quiet)
    except SignalException:
        raise KeyboardInterrupt from None
    except ChildFailedError as failed:
        if not quiet:
            print(file=sys.stderr)  # a process that was lost leaves its progress bar open
        raise _stop(*failed.get_first_failure(), processes) from None


@record
def _work(config: RunConfig, out: Path | str, resume: bool, quiet: bool) -> None:
    """What each process does."""
    tqdm.set_lock(threading.RLock())  # instead of one between processes, which a kill leaves behind
    corpus = config.load_corpus()
    try:
        train(config, corpus, out, resume, quiet)
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
    PartialState().destroy_process_group()


def _stop(rank: int, failure: ProcessFailure, processes: int) -> BaseException:
    """Why the process that ended first has ended."""
    if failure.exitcode == INTERRUPTED:
        return KeyboardInterrupt()
    how = f"it ended with status {failure.exitcode}"
    if failure.exitcode < 0:
        how = f"killed by {failure.signal_name()}"
        if failure.exitcode == -signal.SIGKILL:
            how += "; if nobody did, memory ran out and --set accumulation=2 helps"
    elif isinstance(recorded := failure.message, dict):  # by `record`: "CourseError: what it says"
        kind, _, text = recorded["message"].partition(": ")
        if kind in (CourseError.__name__, ProcessLost.__name__):
            return CourseError(text)
        how = recorded["message"]
    return ProcessLost(
        f"Process {rank + 1} of {processes} was lost ({how}). The last checkpoint is whole: add "
        "--resume to go on, with as many processes as you like."
    )
