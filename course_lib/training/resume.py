"""Back to where a training stood, and the errors after which that is wanted."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from course_lib.errors import CourseError
from course_lib.training.progress import Progress
from course_lib.training.run_directory import LAST, PREVIOUS


def restore(out: Path, load: Callable[[Path], dict[str, Any]], announce: bool = True) -> Progress:
    """Put everything back as the latest state that is whole says; a new Progress if there is none.

    Args:
        out: the run directory.
        load: reads one state into model, optimiser and generators and returns its progress.
        announce: whether to say on standard error that a damaged state was passed over.

    Raises:
        CourseError: there are states, and none of them can be used.
    """
    states = [path for path in (out / LAST, out / PREVIOUS) if path.exists()]
    for path in states:
        try:
            progress = Progress(**load(path))
        except (CourseError, KeyError, TypeError, ValueError):
            continue
        if announce and path != states[0]:
            print(
                f"{states[0]} cannot be used: it is damaged, or another model's. Going on from the "
                f"state before it, at update {progress.step}; nothing but time is lost.",
                file=sys.stderr,
            )
        return progress
    if states:
        names = " and ".join(path.name for path in states)
        raise CourseError(
            f"{out}: {names} cannot be used: damaged, or another model's. Restore a copy, or "
            "delete what is there of them and --resume trains from the beginning."
        )
    return Progress()


@contextmanager
def resumable(out: Path) -> Iterator[None]:
    """A full disk or a folder that cannot be written becomes one line that says how to go on."""
    try:
        yield
    except OSError as error:
        raise CourseError(
            f"{error.filename or out}: {error.strerror or error}. The checkpoint from before, if "
            "there is one, is whole. Make room on the disk or mend the permissions and add "
            "--resume, or choose another --out."
        ) from error
