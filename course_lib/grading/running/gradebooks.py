"""The gradebook of a class: made, copied before every grading, and joined with another marker's.

It is the only place where points that a person gave, comments and extensions are kept.
"""

import os
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

import nbformat
from filelock import FileLock
from nbgrader.api import Grade, Gradebook, MissingEntry, Student, SubmittedNotebook

from course_lib.errors import CourseError
from course_lib.grading.running import journal
from course_lib.grading.sources.project import db_url, nbgrader_messages

NAME = "gradebook.db"
BACKUPS = Path("grading", "backups")
"""Where copies of it lie, from its folder."""
KEPT = 10
"""How many copies are kept."""
UNFINISHED = ".gradebook-"
"""How the name of a folder begins in which a gradebook is being made."""


def prepare(place: Path) -> None:
    """Make a class's gradebook if nothing was graded yet; else make sure of it, and copy it.

    Raises:
        CourseError: it is damaged, or gone although something was graded.
    """
    path = place / NAME
    (place / BACKUPS).mkdir(parents=True, exist_ok=True)
    with FileLock(place / BACKUPS / ".lock"):
        for leftover in place.glob(f"{UNFINISHED}*"):
            shutil.rmtree(leftover, ignore_errors=True)
        if path.exists():
            _check(path)
            _back_up(path)
        elif any(place.glob("grading/journal/*/*.json")):
            raise CourseError(
                f"There is no {path}, but work in {place} was graded: points and comments of a"
                f" person, and extensions, are kept there alone. {_newest(place)} Or delete"
                " grading/ and autograded/ to begin anew."
            )
        else:
            # at once, for half a database is of no use
            with tempfile.TemporaryDirectory(dir=place, prefix=UNFINISHED) as folder:
                with nbgrader_messages():
                    Gradebook(db_url(Path(folder))).close()
                os.replace(Path(folder) / NAME, path)


def to_look_at(grade: Grade) -> tuple[bool, bool]:
    """Whether a person has still to mark an answer, and whether it was changed since one has."""
    waits, marked = bool(grade.needs_manual_grade), grade.manual_score is not None
    return waits and not marked, waits and marked


def name_of(student: Student) -> str:
    """What a student is called; "" if the gradebook has no name."""
    return " ".join(part for part in (student.first_name, student.last_name) if part)


def _check(path: Path) -> None:
    try:
        with closing(sqlite3.connect(path)) as database:
            [said] = database.execute("pragma quick_check(1)").fetchone()
    except sqlite3.DatabaseError as error:
        said = str(error)
    if said != "ok":
        raise CourseError(f"{path} is damaged ({said}). {_newest(path.parent)}")


def _newest(place: Path) -> str:
    copies = sorted((place / BACKUPS).glob("*.db"))
    if not copies:
        return "Put back a copy, if you have one."
    return f"Put back the newest copy: cp {copies[-1]} {place / NAME}"


def _back_up(path: Path) -> None:
    """Copy the gradebook, unless it is as it was; the oldest copies go."""
    path.chmod(0o600)
    folder = path.parent / BACKUPS
    copies = sorted(folder.glob("*.db"))
    copy = folder / f"{datetime.now():%Y-%m-%d-%H%M%S-%f}.db"
    unfinished = copy.with_suffix(".half")
    with closing(sqlite3.connect(path)) as ours, closing(sqlite3.connect(unfinished)) as theirs:
        ours.backup(theirs)
    unfinished.chmod(0o600)
    if copies and copies[-1].read_bytes() == unfinished.read_bytes():
        unfinished.unlink()
        return
    unfinished.rename(copy)
    for old in [*copies, copy][:-KEPT]:
        old.unlink()


@dataclass
class Joined:
    """What became of another's marks.

    Attributes:
        taken: how many points, comments and extensions were taken over.
        same: how many this gradebook had already.
        conflicts: where both have another one, a line each; this gradebook's stayed.
        unknown: submissions that this gradebook does not have, a line each.
    """

    taken: int = 0
    same: int = 0
    conflicts: list[str] = field(default_factory=list)
    unknown: list[str] = field(default_factory=list)

    def settle(self, what: str, ours: Any, theirs: Any) -> Any:
        """Of two values the one that is to stand."""
        if theirs is None or ours == theirs:
            self.same += theirs is not None
            return ours
        if ours is None:
            self.taken += 1
            return theirs
        self.conflicts.append(f"{what}: {_shown(ours)} here, {_shown(theirs)} there")
        return ours


def join(place: Path, other: Path) -> Joined:
    """Take over what a person gave in another gradebook of the same class.

    Raises:
        CourseError: there is no such gradebook, or it is damaged.
    """
    for path in (place / NAME, other):
        if not path.is_file():
            raise CourseError(f"There is no {path}. Name the other's gradebook, a file {NAME}.")
        _check(path)
    prepare(place)
    joined = Joined()
    with tempfile.TemporaryDirectory() as folder, nbgrader_messages():
        shutil.copyfile(other, Path(folder) / NAME)  # to open it may change it
        with Gradebook(db_url(place)) as ours, Gradebook(db_url(Path(folder))) as theirs:
            for notebook in _notebooks(theirs):
                _join(ours, notebook, joined, place, other.parent)
            ours.db.commit()
    return joined


def _notebooks(gradebook: Gradebook) -> Iterator[SubmittedNotebook]:
    for assignment in gradebook.assignments:
        for submission in gradebook.assignment_submissions(assignment.name):
            yield from submission.notebooks


def _answers(place: Path, name: str, student: str) -> dict[str, str]:
    """The answers that a marker of this class has seen, as far as they are there."""
    path = place / "autograded" / student / name / f"{name}.ipynb"
    try:
        return journal.answers_of(nbformat.read(path, as_version=4))
    except (OSError, ValueError):
        return {}


def _join(
    gradebook: Gradebook, theirs: SubmittedNotebook, joined: Joined, here: Path, there: Path
) -> None:
    """Settle one submission; points for an answer that is another one here wait to be looked at."""
    name, student = theirs.assignment.assignment.name, theirs.student.id
    where = f"{student}, {name}"
    try:
        ours = gradebook.find_submission_notebook(theirs.name, name, student)
    except MissingEntry:
        joined.unknown.append(where)
        return
    ours.assignment.extension = joined.settle(
        f"{where}, extension", ours.assignment.extension, theirs.assignment.extension
    )
    shown, seen = _answers(here, name, student), _answers(there, name, student)
    grades = {grade.name: grade for grade in ours.grades}
    for grade in theirs.grades:
        if grade.name not in grades:
            joined.unknown.append(f"{where}, {grade.name}")
            continue
        mine = grades[grade.name]
        part, unread = f"{where}, {grade.name}", mine.manual_score is None
        mine.manual_score = joined.settle(f"{part}, points", mine.manual_score, grade.manual_score)
        mine.extra_credit = joined.settle(
            f"{part}, extra credit", mine.extra_credit, grade.extra_credit
        )
        if unread and mine.manual_score is not None:
            other = seen.get(grade.name, shown.get(grade.name)) != shown.get(grade.name)
            mine.needs_manual_grade = grade.needs_manual_grade or other
    comments = {comment.name: comment for comment in ours.comments}
    for comment in theirs.comments:
        if comment.name in comments:
            mine = comments[comment.name]
            mine.manual_comment = joined.settle(
                f"{where}, {comment.name}, comment", mine.manual_comment, comment.manual_comment
            )
        elif comment.manual_comment:
            joined.unknown.append(f"{where}, {comment.name}, comment")


def _shown(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else f"{value!s:.60}"
