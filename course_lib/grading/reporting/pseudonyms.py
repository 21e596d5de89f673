"""Other names for students, so that results can be shown around.

A name is drawn once and stands in `pseudonyms.csv` beside the gradebook: the same in every report
of a class, and of no use to anybody without that list.
"""

import csv
import io
import secrets
from collections.abc import Iterable
from pathlib import Path

from course_lib.errors import CourseError
from course_lib.files import write_atomically

TABLE = "pseudonyms.csv"
_HEADER = ["student", "pseudonym"]


def pseudonyms(place: Path, students: Iterable[str]) -> dict[str, str]:
    """A name for each student of a class: student id -> pseudonym; written down for the teacher.

    Args:
        place: the folder of the gradebook, where the list lies or is made.
        students: the ids.

    Raises:
        CourseError: the list is damaged.
    """
    wanted = sorted(set(students))
    names = _listed(place / TABLE)
    for student in wanted:
        while student not in names:
            name = f"student-{secrets.randbelow(90_000) + 10_000}"
            if name not in names.values():
                names[student] = name
    table = io.StringIO()
    csv.writer(table, lineterminator="\n").writerows([_HEADER, *names.items()])
    write_atomically(place / TABLE, table.getvalue(), private=True)
    return {student: names[student] for student in wanted}


def _listed(path: Path) -> dict[str, str]:
    """The names that a class has so far."""
    if not path.is_file():
        return {}
    with path.open(encoding="utf-8", newline="") as file:
        try:
            names = dict(csv.reader(file))
            whole = names.pop(_HEADER[0]) == _HEADER[1]
        except (ValueError, KeyError):  # a row of one or of three, or no header
            whole, names = False, {}
    if not whole or len({*names.values()}) < len(names):
        raise CourseError(
            f"{path} is damaged. Restore it, or delete it to give everybody a new pseudonym."
        )
    return names
