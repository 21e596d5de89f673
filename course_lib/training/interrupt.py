"""Ctrl-C that waits for a moment at which nothing is half done."""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

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
    with _handled(ASKING, lambda *_: asked.set()):
        yield asked.is_set


@contextmanager
def no_interrupt() -> Iterator[None]:
    """Within the block Ctrl-C is not heard, nor by processes that are started there."""
    with _handled((signal.SIGINT,), signal.SIG_IGN):
        yield


@contextmanager
def _handled(numbers: tuple[signal.Signals, ...], handler: Any) -> Iterator[None]:
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.signal(number, handler) for number in numbers}
    try:
        yield
    finally:
        for number, earlier in before.items():
            signal.signal(number, earlier)
