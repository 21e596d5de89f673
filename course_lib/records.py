"""What the book's recorders wrote down, found by its name, and what a page may say of it."""

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import mean
from typing import Any, NamedTuple

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


class Lead(NamedTuple):
    """A row before all others: how far, and between which limits, over all pairs of seeds.

    difference: of the printed means, to the best other row. least, most: of any seed of the row
    and any seed of any other one. seeds: of the row with the fewest.
    """

    difference: float
    least: float
    most: float
    seeds: int


def compared(rows: Mapping[str, Sequence[float]], first: str) -> Lead:
    """The numbers of a sentence that says that `first` is above all other rows.

    Args:
        rows: by name, a number a seed; every row that the sentence speaks of.
        first: the row that is said to be above the others.

    Raises:
        CourseError: a row is empty, there is no other row, or some seed of another row is not
            below every seed of this one, so that the sentence would not hold.
    """
    others = {name: row for name, row in rows.items() if name != first}
    if not others or not all(rows.values()):
        raise CourseError("There is nothing to compare. Give every row one number a seed.")
    for name, row in others.items():
        if max(row) >= min(rows[first]):
            raise CourseError(
                f"{first!r} is not above {name!r} with every seed: {min(rows[first]):.1f} "
                f"against {max(row):.1f}. Say so, or run more seeds."
            )
    printed = {name: round(mean(row), 1) for name, row in rows.items()}
    return Lead(
        difference=round(printed[first] - max(printed[name] for name in others), 1),
        least=min(rows[first]) - max(max(row) for row in others.values()),
        most=max(rows[first]) - min(min(row) for row in others.values()),
        seeds=min(len(row) for row in rows.values()),
    )


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
