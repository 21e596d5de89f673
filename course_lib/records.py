"""What the book's recorders wrote down, found by its name."""

import json
import os
from pathlib import Path
from typing import Any

from course_lib.errors import CourseError

FOLDER = "experiments"
LIBRARY = Path(__file__).parents[1]
"""Where the library lies: in a clone, unless it was installed without `-e`."""


def read_record(name: str) -> Any:
    """The content of a record.

    Raises:
        CourseError: see `record_path`.
    """
    return json.loads(record_path(name).read_text(encoding="utf-8"))


def record_path(name: str) -> Path:
    """The file of a record, which no two chapters call by the same name.

    Raises:
        CourseError: no record has this name, or this is no clone of the course.
    """
    for path in record_paths(name):
        return path
    raise CourseError(f"There is no record {name!r}. `ls {FOLDER}/*/*.json` lists them.")


def record_paths(pattern: str) -> list[Path]:
    """The files of all records whose name matches, with `*` for anything, sorted by name.

    Raises:
        CourseError: this is no clone of the course.
    """
    return sorted(_folder().glob(f"*/{pattern}.json"), key=lambda path: path.name)


def work_in(folder: str) -> None:
    """Go to a folder of the course, wherever a notebook of it was opened.

    Raises:
        CourseError: this is no clone of the course, and the library is not in one.
    """
    os.chdir(_clone() / folder)


def _folder() -> Path:
    return _clone() / FOLDER


def _clone() -> Path:
    """The nearest clone at or above the working directory, or else the library's own."""
    here = Path.cwd()
    for above in (here, *here.parents, LIBRARY):
        if (above / FOLDER / "recording.py").is_file():
            return above
    raise CourseError(
        f"There are no records and drawings at or above {here}. Work in a clone of the course."
    )
