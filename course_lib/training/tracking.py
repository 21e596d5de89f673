"""A training's numbers while it runs, for any tracker that accelerate knows."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TypeAlias

from accelerate import Accelerator
from accelerate.tracking import LOGGER_TYPE_TO_CLASS, GeneralTracker, get_available_trackers

from course_lib.errors import CourseError

Tracker: TypeAlias = str | GeneralTracker
"""What records a training: the name of an installed tracker, or one of one's own."""


def check_tracker(tracker: Tracker | None) -> None:
    """Refuse a name that accelerate would pass over in silence.

    Raises:
        CourseError: there is no such tracker, or it is not installed.
    """
    if not isinstance(tracker, str):
        return
    if tracker not in LOGGER_TYPE_TO_CLASS:
        raise CourseError(
            f"There is no tracker {tracker!r}. Choose {' or '.join(LOGGER_TYPE_TO_CLASS)}."
        )
    if tracker not in map(str, get_available_trackers()):
        raise CourseError(f"The tracker {tracker} is not installed. Run: pip install {tracker}")


@contextmanager
def tracked(accelerator: Accelerator, settings: dict[str, Any]) -> Iterator[None]:
    """Within the block what the accelerator logs arrives; `settings` are what it is filed under."""
    plain = {
        name: value for name, value in settings.items() if isinstance(value, str | int | float)
    }
    accelerator.init_trackers("tracked", plain)
    try:
        yield
    finally:
        # Not end_training, which also ends the group of processes.
        for tracker in accelerator.trackers:
            tracker.finish()
