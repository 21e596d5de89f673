"""Where the assignments lie, and nbgrader's settings for them."""

import logging
import os
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sqlalchemy.exc import SAWarning
from traitlets.config import Config, PyFileConfigLoader
from traitlets.log import get_logger

from course_lib.errors import CourseError

CONFIG = "nbgrader_config.py"


def project_root(start: Path | None = None) -> Path:
    """The course's folder: the nearest with an nbgrader_config.py, at or above `start` (here).

    Raises:
        CourseError: there is none.
    """
    start = (start or Path.cwd()).resolve()
    for folder in (start, *start.parents):
        # a class that lies elsewhere has settings for nbgrader too, and no sources
        if (folder / CONFIG).is_file() and (folder / "solutions").is_dir():
            return folder
    raise CourseError(
        f"No {CONFIG} at or above {start}. Change into the course's folder and try again."
    )


def load_config(root: Path) -> Config:
    """The settings in the course's nbgrader_config.py, as a fresh object."""
    return PyFileConfigLoader(CONFIG, path=str(root)).load_config()


def assignment_names(root: Path) -> list[str]:
    """Every assignment that has a text source, in alphabetical order."""
    return sorted(
        path.parent.name
        for path in (root / "solutions").glob("*/*.md")
        if path.stem == path.parent.name
    )


def source_of(root: Path, name: str) -> Path:
    """The text source of an assignment.

    Raises:
        CourseError: there is no such assignment.
    """
    known = assignment_names(root)
    if name not in known:
        raise CourseError(
            f"There is no assignment called {name!r}. Known: {', '.join(known) or 'none'}."
        )
    return root / "solutions" / name / f"{name}.md"


def db_url(place: Path) -> str:
    """The gradebook of a class; whoever finds it busy waits."""
    return f"sqlite:///{place / 'gradebook.db'}?timeout=60"


class _Collector(logging.Handler):
    """Keeps what is logged, as text."""

    def __init__(self) -> None:
        super().__init__()
        self.messages: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Keep one message."""
        self.messages.append(record.getMessage())


@contextmanager
def nbgrader_messages() -> Iterator[list[str]]:
    """Run nbgrader's converters: what they log is collected, since most of it is of use to nobody.

    They also call `alembic` by its bare name, which an environment nobody activated does not offer.
    """
    collector = _Collector()
    adapter = get_logger()
    logger = adapter.logger if isinstance(adapter, logging.LoggerAdapter) else adapter
    handlers, propagate, level = logger.handlers[:], logger.propagate, logger.level
    logger.handlers, logger.propagate = [collector], False
    logger.setLevel(logging.WARNING)
    path = os.environ.get("PATH", os.defpath)
    os.environ["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), path])
    try:
        with warnings.catch_warnings():
            # of nbgrader's own handling of its database, on every submission
            warnings.simplefilter("ignore", SAWarning)
            yield collector.messages
    finally:
        os.environ["PATH"] = path
        logger.handlers, logger.propagate = handlers, propagate
        logger.setLevel(level)


def reason(messages: list[str]) -> str:
    """Why nbgrader gave up, as one line: the exception it logged, or its last message."""
    tracebacks = [message for message in messages if message.startswith("Traceback")]
    chosen = (tracebacks or messages or ["it gave no reason"])[-1]
    return chosen.strip().splitlines()[-1].rstrip(".")
