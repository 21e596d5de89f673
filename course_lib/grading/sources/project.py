"""Where the assignments lie, and nbgrader's settings for them."""

import functools
import logging
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from logging.handlers import BufferingHandler
from pathlib import Path

import nbgrader
from alembic.script import ScriptDirectory
from nbgrader import api
from sqlalchemy.exc import SAWarning
from traitlets.config import Config, PyFileConfigLoader
from traitlets.log import get_logger

from course_lib.errors import CourseError

NBGRADER_CONFIG = "nbgrader_config.py"


def project_root(start: Path | None = None) -> Path:
    """The course's folder: the nearest with an nbgrader_config.py, at or above `start` (here).

    Raises:
        CourseError: there is none.
    """
    start = (start or Path.cwd()).resolve()
    for folder in (start, *start.parents):
        # a class that lies elsewhere has settings for nbgrader too, and no sources
        if (folder / NBGRADER_CONFIG).is_file() and (folder / "solutions").is_dir():
            return folder
    raise CourseError(
        f"No {NBGRADER_CONFIG} at or above {start}. Change into the course's folder and try again."
    )


def load_config(root: Path) -> Config:
    """The settings in the course's nbgrader_config.py, as a fresh object."""
    return PyFileConfigLoader(NBGRADER_CONFIG, path=str(root)).load_config()


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


@contextmanager
def nbgrader_messages() -> Iterator[list[logging.LogRecord]]:
    """Run nbgrader's converters: what they log is collected, since most of it is of use to nobody.

    For each new gradebook they would also start a program that knows its scheme's number, which
    takes seconds; here the number is read in this process.
    """
    collector = BufferingHandler(capacity=10**6)
    adapter = get_logger()
    logger = adapter.logger if isinstance(adapter, logging.LoggerAdapter) else adapter
    handlers, propagate, level = logger.handlers[:], logger.propagate, logger.level
    logger.handlers, logger.propagate = [collector], False
    logger.setLevel(logging.WARNING)
    starts_a_program, api.get_alembic_version = api.get_alembic_version, scheme_of_gradebooks
    try:
        with warnings.catch_warnings():
            # of nbgrader's own handling of its database, on every submission
            warnings.simplefilter("ignore", SAWarning)
            yield collector.buffer
    finally:
        api.get_alembic_version = starts_a_program
        logger.handlers, logger.propagate = handlers, propagate
        logger.setLevel(level)


@functools.cache
def scheme_of_gradebooks() -> str | None:
    """The number of the scheme that nbgrader gives a new gradebook."""
    folder = Path(nbgrader.__file__).parent / "alembic"
    return ScriptDirectory(str(folder)).get_current_head()


def reason(records: list[logging.LogRecord]) -> str:
    """Why nbgrader gave up, as one line: the exception it logged, or its last message."""
    messages = [record.getMessage() for record in records]
    tracebacks = [message for message in messages if message.startswith("Traceback")]
    chosen = (tracebacks or messages or ["it gave no reason"])[-1]
    return chosen.strip().splitlines()[-1].rstrip(".")
