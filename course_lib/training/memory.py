"""Memory: know when there is no more, and ask for less."""

from collections.abc import Callable
from typing import TypeVar

from accelerate.utils.memory import clear_device_cache, should_reduce_batch_size

T = TypeVar("T")


def is_out_of_memory(error: BaseException) -> bool:
    """Whether a computation failed for lack of memory, on a processor or a graphics card.

    What accelerate knows, and what C++ and oneDNN say when they get none.
    """
    return (
        isinstance(error, MemoryError)
        or (isinstance(error, Exception) and should_reduce_batch_size(error))
        or "bad_alloc" in str(error)
    )


def in_batches_that_fit(compute: Callable[[int], T], batch_size: int = 64) -> T:
    """What `compute` makes of a batch size; half of it where memory runs out.

    For results that no batch size changes, as all of this library's.
    """
    while True:
        try:
            return compute(batch_size)
        except (RuntimeError, MemoryError) as error:
            if batch_size == 1 or not is_out_of_memory(error):
                raise
        clear_device_cache(garbage_collection=True)
        batch_size //= 2
