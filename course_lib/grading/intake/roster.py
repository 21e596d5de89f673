"""Who is in the class: the lists that Canvas and Moodle export, and the ids that follow from them.

Canvas: the gradebook's CSV ("Student", "ID", "SIS User ID", "SIS Login ID", "Section", a column for
each assignment; a row "Points Possible"). Moodle: an assignment's grading worksheet ("Identifier",
"Full name", "Email address", "Grade", ...) or the list of participants ("First name", "Last name",
"Email address"). Moodle names its columns in the language of whoever exports them.
"""

import csv
import io
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Literal

from nbgrader.api import Gradebook

from course_lib.assignments import owner
from course_lib.errors import CourseError
from course_lib.grading.intake.dates import read_times
from course_lib.grading.sources.project import nbgrader_messages

Platform = Literal["Canvas", "Moodle"]
"""Where a list comes from."""

with Path(__file__).with_name("columns.csv").open(encoding="utf-8", newline="") as _stream:
    _ROLES = {row["name"]: row["role"] for row in csv.DictReader(_stream)}
"""What the platforms call a column, in small letters -> what it is for."""


@dataclass(frozen=True)
class RosterEntry:
    """A student as a platform knows them.

    Attributes:
        student: the id in nbgrader's gradebook and the name of the folder.
        first, last: names; one of them may be empty.
        email: address, or "".
        number: the platform's own number, which its zips have in the names of files.
        groups: those they are in, if the roster says so.
        row: theirs in the roster.
        handed_in: when, if the roster says so.
        unread: the time as it is written there, if it cannot be read.
    """

    student: str
    first: str
    last: str
    email: str
    number: str
    groups: tuple[str, ...]
    row: dict[str, str]
    handed_in: datetime | None = None
    unread: str = ""

    @property
    def names(self) -> set[str]:
        """Theirs as files' names have it, in either order."""
        return {plain_name(self.first + self.last), plain_name(self.last + self.first)}


@dataclass(frozen=True)
class Roster:
    """A platform's list, as it came: rows have their cells by the names in the header.

    Attributes:
        columns: what a column is for -> its name in the header.
    """

    platform: Platform
    header: list[str]
    columns: dict[str, str]
    rows: list[dict[str, str]]
    people: list[RosterEntry]

    def whose(self, number: str, name: str) -> list[RosterEntry]:
        """Whose a file is that has this number and name of the platform's: a group's is several's.

        The number decides. Names do where the list has no numbers; a group has one of its own,
        which is in no list (Moodle) or is that of one of its members (Canvas).
        """
        numbered = [one for one in self.people if number and one.number == number]
        wanted = plain_name(name)
        if wanted and not any(wanted in one.names for one in numbered):
            members = [one for one in self.people if wanted in map(plain_name, one.groups)]
            if members and (self.platform == "Moodle" or any(one in members for one in numbered)):
                return members
        if any(one.number for one in self.people):
            return numbered
        named = [one for one in self.people if wanted in one.names]
        return named if len(named) == 1 else []


def read_roster(path: Path) -> Roster:
    """A list exported from Canvas or Moodle.

    Raises:
        CourseError: it is neither, or two students would get one id.
    """
    header, rows = _table(path)
    columns: dict[str, str] = {}
    for name in header:
        if (role := _ROLES.get(name.casefold())) is not None:
            columns.setdefault(role, name)
    known = {name.casefold() for name in header}
    platform: Platform = "Moodle"
    if "id" in known and (known & {"student", "lastname"}):
        platform = "Canvas"
    else:
        columns = _by_content(header, rows) | columns
    if not columns.keys() & {"number", "email", "login", "own number"}:
        raise CourseError(
            f"{path} is no roster: neither Canvas' columns (Student, ID) nor Moodle's (Identifier,"
            " Email address) are in its first line. Export it again as CSV; if its first line is in"
            " a language that is not known here, with the platform set to English."
        )
    people = [person for row in rows if (person := _person(platform, columns, row)) is not None]
    ids = [owner.normalised_id(one.student) for one in people]
    if twice := {one.student for one, name in zip(people, ids, strict=True) if ids.count(name) > 1}:
        raise CourseError(
            f"{path} gives one id to two students: {', '.join(sorted(twice))}. Mend the rows."
        )
    return Roster(platform, header, columns, rows, _timed(people, columns))


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


def plain_name(name: str) -> str:
    """A name as Canvas writes it in files' names: small letters and digits, no accents."""
    base = unicodedata.normalize("NFKD", name.casefold())
    return "".join(character for character in base if character.isalnum())


def fit(student: str) -> str:
    """An id as nbgrader and file systems can take it."""
    text = owner.as_folder(student)
    if not text:
        raise CourseError(f"No id can be made of {student!r}. Mend it in the roster.")
    return text


def _table(path: Path) -> tuple[list[str], list[dict[str, str]]]:
    data = path.read_bytes()
    try:
        text = data.decode("utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig")
    except UnicodeDecodeError as error:
        raise CourseError(f"{path} is not in UTF-8. Export it again as CSV in UTF-8.") from error
    first = text.split("\n", 1)[0]
    delimiter = max(",;\t", key=first.count)
    reader = csv.DictReader(io.StringIO(text), delimiter=delimiter, restval="")
    header = reader.fieldnames = [name.strip() for name in reader.fieldnames or []]
    return header, [row for row in reader if any(row.values())]


def _by_content(header: Sequence[str], rows: list[dict[str, str]]) -> dict[str, str]:
    """Columns of Moodle's that are known in any language: numbers of participants, addresses."""
    found: dict[str, str] = {}
    for name in header:
        cells = [row[name].strip() for row in rows if row[name].strip()]
        if cells and all(re.fullmatch(r"[^@\s]+@[^@\s]+", cell) for cell in cells):
            found.setdefault("email", name)
    if header and rows:
        numbers = [re.fullmatch(r"(\D{2,})\d+", row[header[0]].strip()) for row in rows]
        if all(numbers) and len({match[1] for match in numbers if match}) == 1:
            found["number"] = header[0]
            names = [row[header[1]].strip() for row in rows] if len(header) > 1 else []
            if len({*names, ""}) > len(rows) and header[1] != found.get("email"):
                found["name"] = header[1]  # without names a status would stand there
            for name in header[2:]:
                cells = [cell for row in rows if (cell := row[name].strip("- "))]
                if cells and all(read_times(cells)):
                    found.setdefault("handed in", name)
    return found


def _person(platform: Platform, columns: dict[str, str], row: dict[str, str]) -> RosterEntry | None:
    cells = {role: (row.get(name) or "").strip() for role, name in columns.items()}
    first, last = _split(cells.get("name", ""))
    first, last = cells.get("first", first), cells.get("last", last)
    login, email = cells.get("login", ""), cells.get("email", "")
    number = "".join(re.findall(r"\d+$", cells.get("number", "")))
    if platform == "Canvas":
        if not cells["number"].isdigit() or {first, last} == {"Test", "Student"}:
            return None  # "Points Possible" and the like
        email = login if "@" in login else ""
    order = ("login", "own number", "email")
    chosen = next((cells[role] for role in order if cells.get(role)), number)
    if not chosen:
        return None
    groups = tuple(one.strip() for one in cells.get("groups", "").split(",") if one.strip())
    return RosterEntry(fit(chosen), first, last, email, number, groups, row)


def _split(name: str) -> tuple[str, str]:
    """Given and family name of "Family, Given" or "Given Family"."""
    if "," in name:
        last, _, first = name.partition(",")
    else:
        first, _, last = name.rpartition(" ")
    return first.strip(), last.strip()


def _timed(people: list[RosterEntry], columns: dict[str, str]) -> list[RosterEntry]:
    """Everybody with the time at which they handed in."""
    texts = [one.row.get(columns.get("handed in", ""), "").strip("- ") for one in people]
    return [
        replace(one, handed_in=time, unread="" if time else text)
        for one, text, time in zip(people, texts, read_times(texts), strict=True)
    ]
