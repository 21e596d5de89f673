"""Several processes that train one model: what each takes, and what they tell one another.

One process is the usual case, and everything here is then the identity. More are started by
`course train --processes`, torchrun or `accelerate launch`.
"""

import os
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from typing import TypeVar

import torch
from accelerate import Accelerator
from accelerate.state import AcceleratorState
from accelerate.utils import InitProcessGroupKwargs, gather_object
from torch import Tensor

from course_lib.errors import CourseError
from course_lib.training.tracking import Tracker, check_tracker

TIMEOUT = timedelta(minutes=10)
"""How long a process waits for an answer before the others count as lost."""

T = TypeVar("T")


class ProcessLost(CourseError):
    """Another process of the group no longer answers."""


def make_accelerator(
    precision: str, track: Tracker | None = None, out: Path | None = None
) -> Accelerator:
    """Where and in what precision a run is computed, with how many processes, tracked by whom.

    A tracker that writes files writes them below `out`.

    accelerate keeps one precision a process; it is forgotten first, or a page could not train one
    run in fp32 and the next in bf16.

    Raises:
        CourseError: the tracker is not there.
    """
    check_tracker(track)
    AcceleratorState._reset_state()
    several = int(os.environ.get("WORLD_SIZE", "1")) > 1
    return Accelerator(
        mixed_precision="no" if precision == "fp32" else precision,
        # Not told so, processes without graphics cards would each train alone.
        cpu=several and not torch.cuda.is_available(),
        log_with=track,
        project_dir=out,
        kwargs_handlers=[InitProcessGroupKwargs(timeout=TIMEOUT)],
    )


def share(accelerator: Accelerator, items: Sequence[T]) -> list[T]:
    """This process's items: every n-th, so that lists sorted by length are shared out fairly."""
    return list(items[accelerator.process_index :: accelerator.num_processes])


def join(accelerator: Accelerator, mine: list[T]) -> list[T]:
    """What was shared out, together and in its order again, in every process."""
    shares = gather(accelerator, mine)
    total = sum(map(len, shares))
    return [shares[i % len(shares)][i // len(shares)] for i in range(total)]


def gather(accelerator: Accelerator, value: T) -> list[T]:
    """One value from each process, in the order of their numbers.

    Raises:
        ProcessLost: one of them does not answer.
    """
    if accelerator.num_processes == 1:
        return [value]
    try:
        values: list[T] = gather_object([value])
    except RuntimeError as error:
        raise _lost(accelerator) from error
    return values


def add_up(accelerator: Accelerator, values: Tensor) -> Tensor:
    """The sum of every process's `values`, which it takes the place of.

    Raises:
        ProcessLost: one of them does not answer.
    """
    if accelerator.num_processes > 1:
        try:
            torch.distributed.all_reduce(values)
        except RuntimeError as error:
            raise _lost(accelerator) from error
    return values


def anywhere(accelerator: Accelerator, wish: bool) -> bool:
    """Whether any process wishes it: all of them then do it at the same moment."""
    wishes = torch.tensor(float(wish), device=accelerator.device)
    return bool(add_up(accelerator, wishes) > 0) if accelerator.num_processes > 1 else wish


def _lost(accelerator: Accelerator) -> ProcessLost:
    return ProcessLost(
        f"Process {accelerator.process_index + 1} of {accelerator.num_processes} has lost another "
        "one. The last checkpoint is whole: add --resume to go on, with as many processes as you "
        "like."
    )
