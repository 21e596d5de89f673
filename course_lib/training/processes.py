"""Several processes that train one model.

One process is the usual case. More are started by `course train --processes`, torchrun or
`accelerate launch`; accelerate then averages their gradients and tells each what the others found.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta

import torch
from accelerate import Accelerator
from accelerate.utils import InitProcessGroupKwargs

from course_lib.errors import CourseError
from course_lib.training.device import best_device

TIMEOUT = timedelta(minutes=10)
"""How long a process waits for an answer before the others count as lost."""


class ProcessLost(CourseError):
    """Another process of the group no longer answers."""


def make_accelerator() -> Accelerator:
    """Where a run is computed, a graphics card or the processor, and by how many processes."""
    return Accelerator(
        cpu=best_device().type == "cpu",
        kwargs_handlers=[InitProcessGroupKwargs(timeout=TIMEOUT)],
    )


def anywhere(accelerator: Accelerator, wish: bool) -> bool:
    """Whether any process wishes it: all of them then do it at the same moment."""
    if accelerator.num_processes == 1:
        return wish
    if wish:
        accelerator.set_trigger()
    return bool(accelerator.check_trigger())


@contextmanager
def all_answer(accelerator: Accelerator) -> Iterator[None]:
    """Within the block a process that no longer answers is said in one line.

    Raises:
        ProcessLost: one of the others does not answer.
    """
    try:
        yield
    except RuntimeError as error:
        # gloo's errors have no type of their own
        lost = isinstance(error, torch.distributed.DistError) or "gloo" in str(error)
        if accelerator.num_processes == 1 or not lost:
            raise
        raise ProcessLost(
            f"Process {accelerator.process_index + 1} of {accelerator.num_processes} has lost "
            "another one. The last checkpoint is whole: add --resume to go on, with as many "
            "processes as you like."
        ) from error
