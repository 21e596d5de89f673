"""Who may hand in later: told before or after grading, or read from Moodle's worksheet."""

import json
import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path

from nbgrader.api import Gradebook, SubmittedAssignment

from course_lib.errors import CourseError
from course_lib.files import read_object, write_atomically
from course_lib.grading.intake.dates import ending_in_a_time
from course_lib.grading.intake.late import parse_time
from course_lib.grading.intake.roster import Roster, kept_roster, read_roster
from course_lib.grading.sources.project import db_url, nbgrader_messages

FILE = "extensions.json"
"""Beside the gradebook: assignment -> student -> until when, or null for no longer than others."""
_CLOCK = re.compile(r"\d\s?[:h]\s?\d\d")


def set_extension(place: Path, name: str, student: str, until: str) -> datetime | None:
    """Let a student hand in until a time; "none" takes an extension back.

    Raises:
        CourseError: it is no time, or nobody of that id is in the class.
    """
    when = None if until == "none" else parse_time(until)
    known = _known(place)
    if known and student not in known:
        raise CourseError(f"Nobody in this class has the id {student!r}. The roster has the ids.")
    told = read_object(place / FILE)
    told.setdefault(name, {})[student] = when.isoformat() if when else None
    write_atomically(place / FILE, json.dumps(told, indent=1) + "\n", private=True)
    return when


def _known(place: Path) -> set[str]:
    handed_in = place / "submitted"
    known = {path.name for path in handed_in.iterdir()} if handed_in.is_dir() else set()
    if (place / "gradebook.db").is_file():
        with nbgrader_messages(), Gradebook(db_url(place)) as gradebook:
            known |= {student.id for student in gradebook.students}
    return known


def granted(place: Path, name: str) -> dict[str, datetime | None]:
    """Until when students may hand in; what was told here counts before what Moodle says.

    Raises:
        CourseError: Moodle's time cannot be read.
    """
    until: dict[str, datetime | None] = {
        student: datetime.fromisoformat(when) if when else None
        for student, when in read_object(place / FILE).get(name, {}).items()
    }
    path = kept_roster(place, name)
    for student, status in _stated(read_roster(path)) if path.is_file() else ():
        if student not in until:
            until[student] = ending_in_a_time(status)
            if until[student] is None:
                raise CourseError(
                    f"{path} gives {student} a longer time, {status!r}, which cannot be read. Say"
                    f" it yourself: course extend {name} {student} '2026-05-06 23:59'."
                )
    return until


def _stated(roster: Roster) -> Iterator[tuple[str, str]]:
    """Who has a longer time by Moodle's worksheet, and how its column Status says so.

    Each language has words of its own for that; but there is no other time in a status, and its
    column has none of the known names, and stands before the marks and the times.
    """
    named = set(roster.columns.values())
    roles = ("grade", "most", "handed in")
    later = [roster.columns[role] for role in roles if role in roster.columns]
    end = min(map(roster.header.index, later), default=len(roster.header))
    for person in roster.people if roster.platform == "Moodle" else ():
        for name in roster.header[:end]:
            if name not in named and _CLOCK.search(status := person.row.get(name) or ""):
                yield person.student, status


def apply_extensions(place: Path, name: str) -> None:
    """Write the extensions of those who have been graded into the gradebook."""
    until = granted(place, name)
    with nbgrader_messages(), Gradebook(db_url(place)) as gradebook:
        for submission in gradebook.assignment_submissions(name):
            apply_to(submission, until)
        gradebook.db.commit()


def apply_to(submission: SubmittedAssignment, until: Mapping[str, datetime | None]) -> None:
    """The same for one submission; one of which nothing is said is left as it is."""
    due, student = submission.assignment.duedate, submission.student.id
    if due is not None and student in until:
        when = until[student]  # nbgrader's times are in UTC, without saying so
        later = when.astimezone(UTC).replace(tzinfo=None) - due if when else timedelta()
        submission.extension = max(later, timedelta()) or None
