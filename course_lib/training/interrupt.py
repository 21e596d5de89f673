"""Ctrl-C that waits for a moment at which nothing is half done."""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

ASKING = (signal.SIGINT, signal.SIGTERM)
"""Ctrl-C, and what a cluster sends some seconds before it takes the machine away."""


@contextmanager
def deferred_interrupt() -> Iterator[Callable[[], bool]]:
    """Within the block Ctrl-C only leaves a wish; the function that is yielded tells whether.

    Between weights that have moved and the counter that says so, an exception would leave a
    checkpoint that repeats an update. Outside the main thread, where no signal arrives, this does
    nothing.
    """
    asked = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield asked.is_set
        return
    before = {number: signal.signal(number, lambda *_: asked.set()) for number in ASKING}
    try:
        yield asked.is_set
    finally:
        for number, earlier in before.items():
            signal.signal(number, earlier)
