"""Keep the memory that a training frees at every update, instead of giving it back."""

import ctypes

M_TRIM_THRESHOLD, M_MMAP_MAX = -1, -4  # <malloc.h>


def keep_freed_memory() -> None:
    """Tell the C library not to return large blocks to the system; where it is not glibc, nothing.

    The logits of a minibatch, tens of megabytes, are made and freed at every update. By default
    glibc maps such a block anew each time, and the system clears it page by page: 5 to 15 percent
    of a training on the CPU (`benchmarks/README.md`). The price is that the process stays as large
    as it once was.
    """
    try:
        mallopt = ctypes.CDLL("libc.so.6").mallopt
    except (OSError, AttributeError):
        return
    mallopt(M_MMAP_MAX, 0)
    mallopt(M_TRIM_THRESHOLD, 2**31 - 1)
