"""Who is in the class: the lists that Canvas and Moodle export, and the ids that follow from them.

Canvas: the gradebook's CSV ("Student", "ID", "SIS User ID", "SIS Login ID", "Section", a column for
each assignment; a row "Points Possible"). Moodle: an assignment's grading worksheet ("Identifier",
"Full name", "Email address", "Grade", ...) or the list of participants ("First name", "Last name",
"Email address").
"""

import csv
import io
import re
import unicodedata
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Literal

from dateutil import parser as dates
from nbgrader.api import Gradebook

from course_lib.errors import CourseError
from course_lib.grading.intake.staging import unusable
from course_lib.grading.sources.project import nbgrader_messages

Platform = Literal["Canvas", "Moodle"]
"""Where a list comes from."""


@dataclass(frozen=True)
class Person:
    """A student as a platform knows them.

    Attributes:
        student: the id in nbgrader's gradebook and the name of the folder.
        first, last: names; one of them may be empty.
        email: address, or "".
        number: the platform's own number, which its zips have in the names of files.
        handed_in: when, if the roster says so.
        row: theirs in the roster.
    """

    student: str
    first: str
    last: str
    email: str
    number: str
    handed_in: datetime | None
    row: dict[str, str]


@dataclass(frozen=True)
class Roster:
    """A platform's list, as it came: rows have their cells by the names in the header."""

    platform: Platform
    header: list[str]
    rows: list[dict[str, str]]
    people: list[Person]

    def find(self, number: str, name: str) -> Person | None:
        """Who has this number of the platform's, or alone this name, in either order."""
        wanted = plain(name)
        fitting = [one for one in self.people if one.number == number] or [
            one
            for one in self.people
            if wanted in {plain(one.first + one.last), plain(one.last + one.first)}
        ]
        return fitting[0] if len(fitting) == 1 else None


def read_roster(path: Path) -> Roster:
    """A list exported from Canvas or Moodle.

    Raises:
        CourseError: it is neither, or two students would get one id.
    """
    header, rows = _table(path)
    known = {name.casefold() for name in header}
    if {"student", "id"} <= known:
        platform: Platform = "Canvas"
    elif "email address" in known or "identifier" in known:
        platform = "Moodle"
    else:
        raise CourseError(
            f"{path} is no roster: neither Canvas' columns (Student, ID) nor Moodle's (Identifier,"
            " Email address) are in its first line. Export it again as CSV."
        )
    people = [person for row in rows if (person := _person(platform, row)) is not None]
    twice = {one.student for one in people if sum(p.student == one.student for p in people) > 1}
    if twice:
        raise CourseError(
            f"{path} gives one id to two students: {', '.join(sorted(twice))}. Mend the rows."
        )
    return Roster(platform, header, rows, people)


def kept_roster(place: Path, name: str) -> Path:
    """Where `course collect` keeps the roster of an assignment, for `course grade` to export."""
    return place / "rosters" / f"{name}.csv"


def enrol(roster: Roster, db_url: str, course_id: str) -> None:
    """Write names, addresses and the platform's numbers into nbgrader's database."""
    with nbgrader_messages(), Gradebook(db_url, course_id) as gradebook:
        for one in roster.people:
            gradebook.update_or_create_student(
                one.student,
                first_name=one.first or None,
                last_name=one.last or None,
                email=one.email or None,
                lms_user_id=one.number or None,
            )


def plain(name: str) -> str:
    """A name as Canvas writes it in files' names: small letters and digits, no accents."""
    base = unicodedata.normalize("NFKD", name.casefold())
    return "".join(character for character in base if character.isalnum())


def fit(student: str) -> str:
    """An id as nbgrader and file systems can take it."""
    text = re.sub(r"[^\w.@+-]+", "-", student.strip()).strip(".-")[:100]
    if not text or unusable(text) is not None:
        raise CourseError(f"No id can be made of {student!r}. Mend it in the roster.")
    return text


def _table(path: Path) -> tuple[list[str], list[dict[str, str]]]:
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise CourseError(f"{path} is not in UTF-8. Export it again as CSV in UTF-8.") from error
    first = text.split("\n", 1)[0]
    delimiter = max(",;\t", key=first.count)
    reader = csv.DictReader(io.StringIO(text), delimiter=delimiter, restval="")
    header = reader.fieldnames = [name.strip() for name in reader.fieldnames or []]
    return header, [row for row in reader if any(row.values())]


def _person(platform: Platform, row: dict[str, str]) -> Person | None:
    cells = {name.casefold(): row[name].strip() for name in row if name}
    if platform == "Canvas":
        number, name = cells["id"], cells["student"]
        if not number.isdigit() or name in {"Student, Test", "Test Student"}:
            return None  # "Points Possible" and the like
        chosen = cells.get("sis login id") or cells.get("sis user id") or number
        login = cells.get("sis login id", "")
        first, last = _split(name)
        email = login if "@" in login else ""
        return Person(fit(chosen), first, last, email, number, None, row)
    email = cells.get("email address", "")
    number = "".join(re.findall(r"\d+$", cells.get("identifier", "")))
    first, last = _split(cells.get("full name", ""))
    first, last = cells.get("first name", first), cells.get("last name", last)
    chosen = cells.get("username") or cells.get("id number") or email or number
    if not chosen:
        return None
    time = _time(cells.get("last modified (submission)", ""))
    return Person(fit(chosen), first, last, email, number, time, row)


def _split(name: str) -> tuple[str, str]:
    """Given and family name of "Family, Given" or "Given Family"."""
    if "," in name:
        last, _, first = name.partition(",")
    else:
        first, _, last = name.rpartition(" ")
    return first.strip(), last.strip()


def _time(text: str) -> datetime | None:
    """A time as Moodle writes it in English, in this machine's zone; None if there is none."""
    if not text.strip("- "):
        return None
    try:
        return dates.parse(text).astimezone()
    except (ValueError, OverflowError):
        return None
