"""What has been graded already: one entry for each finished submission, beside the gradebook.

An entry is written, at once or not at all, after everything else about a submission has been: its
marks are in the gradebook, its graded notebook and its feedback in their folders. Recording marks
twice changes nothing, so a run that is killed anywhere goes on with the submissions that have no
entry, and ends where an undisturbed one would have.

An entry holds for exactly what was graded: the submission's files, the assignment, the settings and
this library. If any of it changes the submission is graded again.
"""

import functools
import hashlib
import json
import os
import platform
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any

from filelock import FileLock
from nbformat import NotebookNode
from nbgrader.api import Gradebook, MissingEntry

import course_lib
from course_lib.errors import CourseError
from course_lib.files import write_atomically
from course_lib.grading.intake import staging
from course_lib.grading.sandbox.limits import DEFAULT
from course_lib.grading.sources.marked_cells import grade_id, is_grade, is_solution
from course_lib.grading.sources.project import NBGRADER_CONFIG

LARGEST_READ = 256 * 1024**2
"""Bytes. A larger file is known by its size and date alone; staging refuses it anyway."""

Fingerprint = dict[str, str]
"""What a grading rests on, part by part, each by its checksum: why something was graded again."""

CHANGED = {
    "handed in": "handed in again",
    "assignment": "the assignment was changed",
    "settings": "the settings were changed",
    "library": "the course's library, or what it needs, is another version",
}
"""The parts of a key, and what it means when one is another."""

PACKAGES = ("torch", "numpy", "nbgrader", "nbclient", "ipykernel")
OTHER_SECONDS = 900


@dataclass(frozen=True)
class Outcome:
    """How the grading of one submission went; the marks themselves are in the gradebook."""

    student: str
    graded: bool
    seconds: float
    remarks: list[str] = field(default_factory=list)
    fault: bool = False
    """Whether it was the grader that failed: nothing is recorded, and it is to be tried again."""


@dataclass(frozen=True)
class Entry:
    """One finished submission.

    Attributes:
        key: what was graded, as `key_of` names it.
        marks: what the gradebook held when its feedback was made, as `marks_digest` names it.
        outcome: how it went.
        marked: part that a person gave points for -> the answer that they were given to, as
            `answers_of` names it.
    """

    key: Fingerprint
    marks: str
    outcome: Outcome
    marked: dict[str, str] = field(default_factory=dict)


def path_of(place: Path, assignment: str, student: str) -> Path:
    """Where an entry lies."""
    return place / "grading" / "journal" / assignment / f"{student}.json"


def read(place: Path, assignment: str, student: str) -> Entry | None:
    """The entry of a submission, if it is finished."""
    try:
        entry: dict[str, Any] = json.loads(path_of(place, assignment, student).read_text())
        outcome = Outcome(**entry["outcome"])
        return Entry(dict(entry["key"]), entry["marks"], outcome, dict(entry.get("marked", {})))
    except (OSError, ValueError, KeyError, TypeError):
        return None


def write(place: Path, assignment: str, entry: Entry) -> None:
    """Note that a submission is finished."""
    text = json.dumps(asdict(entry), indent=1) + "\n"
    write_atomically(path_of(place, assignment, entry.outcome.student), text, private=True)


@contextmanager
def alone(place: Path, assignment: str, student: str) -> Iterator[None]:
    """While this process works on a submission no other does, on this run's behalf or another's."""
    path = path_of(place, assignment, student).with_suffix(".lock")
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        with FileLock(path, timeout=OTHER_SECONDS):
            yield
    except TimeoutError as error:
        raise CourseError(
            f"{student} is being graded by another process. Wait for it, or end it and try again."
        ) from error


def common_key(root: Path, assignment: str, released: str, boxed: bool) -> Fingerprint:
    """All that the grading of a class depends on, the submissions apart."""
    settings = repr((assignment, boxed, asdict(DEFAULT))).encode()
    return {
        "assignment": _digest([released.encode(), *_contents(root / "solutions" / assignment)]),
        "settings": _digest([settings, (root / NBGRADER_CONFIG).read_bytes()]),
        "library": _library(),
    }


def key_of(common: Fingerprint, student: str, handed_in: Path) -> Fingerprint:
    """One submission under these circumstances."""
    return {**common, "handed in": _digest([student.encode(), *_contents(handed_in)])}


def why(before: Fingerprint, now: Fingerprint) -> str:
    """Why a submission is graded again, in words; "" if nothing it rests on has changed."""
    return ", ".join(said for part, said in CHANGED.items() if before.get(part) != now.get(part))


def answers_of(notebook: NotebookNode) -> dict[str, str]:
    """Part -> a name for the answer that its points are given to.

    A paragraph is its own answer; that of a test is the last answer cell of code above it.
    """
    answers, code = {}, ""
    for cell in notebook.cells:
        if is_solution(cell):
            pasted = json.dumps(cell.get("attachments", {}), sort_keys=True)
            answer = _digest([cell.source.strip().encode(), pasted.encode()])
            code = answer if cell.cell_type == "code" else code
        if is_grade(cell):
            answers[str(grade_id(cell))] = answer if is_solution(cell) else code
    return answers


def marks_digest(gradebook: Gradebook, assignment: str, student: str) -> str | None:
    """A name for what the gradebook says about a submission; None if nothing."""
    try:
        notebook = gradebook.find_submission_notebook(assignment, assignment, student)
    except MissingEntry:
        return None
    grades = sorted(
        (
            *(grade.name, grade.auto_score, grade.manual_score, grade.extra_credit),
            bool(grade.needs_manual_grade),
        )
        for grade in notebook.grades
    )
    comments = sorted(
        (text.name, text.auto_comment, text.manual_comment) for text in notebook.comments
    )
    return _digest([repr((grades, comments, notebook.late_submission_penalty)).encode()])


@functools.cache
def _library() -> str:
    """A name for this library and what it rests on."""
    folder = Path(course_lib.__file__).parent
    versions = [platform.python_version(), *(version(package) for package in PACKAGES)]
    code = (part for path in sorted(folder.rglob("*.py")) for part in _file(path, folder))
    return _digest([repr(versions).encode(), *code])


def _contents(folder: Path) -> Iterator[bytes]:
    for level, folders, files in staging.levels(folder):
        for name in sorted([*folders, *files]):
            yield from _file(Path(level, name), folder)


def _file(path: Path, folder: Path) -> Iterator[bytes]:
    name = os.fsencode(path.relative_to(folder))
    if path.is_symlink():
        yield from (name, b"link", os.fsencode(path.readlink()))
    elif path.is_file():
        about = path.stat()
        stamp = repr((about.st_size, about.st_mtime_ns)).encode()
        if about.st_size > LARGEST_READ:
            yield from (name, b"large", stamp)
            return
        try:
            yield from (name, b"file", path.read_bytes())
        except OSError:  # grading will say what is wrong with it
            yield from (name, b"unreadable", stamp)


def _digest(parts: Iterable[bytes]) -> str:
    digest = hashlib.sha256()
    for part in parts:
        digest.update(len(part).to_bytes(8, "big") + part)
    return digest.hexdigest()
