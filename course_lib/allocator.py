"""Memory that is freed and needed again at once, as in every update and every step of a search."""

import ctypes
from functools import cache

M_TRIM_THRESHOLD, M_MMAP_MAX = -1, -4  # <malloc.h>


@cache
def keep_freed_memory() -> None:
    """Tell the C library not to return large blocks to the system; where it is not glibc, nothing.

    The logits of a minibatch, tens of megabytes, are made and freed at every update, and those of
    a search at every step. By default glibc maps such a block anew each time, and the system clears
    it page by page, while the computation waits. Afterwards a block is mapped anew only where it
    fits into no gap that freed ones have left, so it helps less while sizes grow. The price is that
    the process stays as large as it once was.
    """
    try:
        mallopt = ctypes.CDLL("libc.so.6").mallopt
    except (OSError, AttributeError):
        return
    mallopt(M_MMAP_MAX, 0)
    mallopt(M_TRIM_THRESHOLD, 2**31 - 1)
