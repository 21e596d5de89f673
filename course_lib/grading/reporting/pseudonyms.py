"""Other names for students, so that results can be shown around.

A name is drawn once and stands in `pseudonyms.csv` beside the gradebook: the same in every report
of a class, and of no use to anybody without that list.
"""

import csv
import io
import re
import secrets
from collections.abc import Iterable, Mapping
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
    taken = set(names.values())
    for student in wanted:
        while student not in names:
            name = f"student-{secrets.randbelow(90_000) + 10_000}"
            if name not in taken:
                names[student] = name
                taken.add(name)
    table = io.StringIO()
    csv.writer(table, lineterminator="\n").writerows([_HEADER, *names.items()])
    write_atomically(place / TABLE, table.getvalue(), private=True)
    return {student: names[student] for student in wanted}


def disguise(text: str, names: Mapping[str, str]) -> str:
    """The text with every known id, name or address in it replaced, in whatever case.

    A short one (two letters, a small number) is replaced where it stands by itself only.
    """
    known = {one.casefold(): other for one, other in names.items() if one.strip()}
    if not known:
        return text
    # the longest first: an id may be part of an address
    pattern = "|".join(
        re.escape(one) if len(one) >= 4 else rf"(?<![^\W_]){re.escape(one)}(?![^\W_])"
        for one in sorted(known, key=len, reverse=True)
    )
    return re.sub(
        pattern,
        lambda match: known.get(match[0].casefold(), "a student"),
        text,
        flags=re.IGNORECASE,
    )


def _listed(path: Path) -> dict[str, str]:
    """The names that a class has so far."""
    if not path.is_file():
        return {}
    with path.open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.reader(file) if row]
    names = {row[0]: row[-1] for row in rows[1:]}
    whole = rows[:1] == [_HEADER] and all(len(row) == 2 for row in rows)
    if not whole or len(set(names.values())) < len(rows) - 1:
        raise CourseError(
            f"{path} is damaged. Restore it, or delete it to give everybody a new pseudonym."
        )
    return names
