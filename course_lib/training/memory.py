"""Memory that runs out: one line with the remedy."""

from collections.abc import Iterator
from contextlib import contextmanager

from accelerate.utils.memory import should_reduce_batch_size

from course_lib.errors import CourseError


def is_out_of_memory(error: BaseException) -> bool:
    """Whether a computation failed for lack of memory, on a processor or a graphics card.

    What accelerate knows, and what C++ and oneDNN say when they get none.
    """
    return (
        isinstance(error, MemoryError)
        or (isinstance(error, Exception) and should_reduce_batch_size(error))
        or "bad_alloc" in str(error)
    )


@contextmanager
def enough_memory(remedy: str) -> Iterator[None]:
    """Memory that runs out within the block is said in one line, with the remedy.

    Raises:
        CourseError: memory ran out.
    """
    try:
        yield
    except (RuntimeError, MemoryError) as error:
        if not is_out_of_memory(error):
            raise
        raise CourseError(f"Memory ran out. {remedy}") from error
