"""What the book's recorders wrote down, found by its name wherever it lies below `experiments/`."""

import json
from pathlib import Path
from typing import Any

from course_lib.errors import CourseError

FOLDER = "experiments"


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


def _folder() -> Path:
    """The nearest folder of records at or above the working directory."""
    here = Path.cwd()
    for above in (here, *here.parents):
        if (above / FOLDER / "recording.py").is_file():
            return above / FOLDER
    raise CourseError(f"There are no records at or above {here}. Work in a clone of the course.")
