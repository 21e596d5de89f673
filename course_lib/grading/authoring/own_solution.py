"""The instructor's own solution, handed in and graded like a student's, before it is released.

A number that was changed in the task and forgotten in a hidden test is found here, and not by a
class of which nobody gets the point.
"""

import tempfile
from pathlib import Path

import nbformat
from nbgrader.api import Gradebook

from course_lib.grading.authoring.demonstration import Student, hand_in
from course_lib.grading.reporting.graded_notebook import message
from course_lib.grading.running.submission import Job, grade
from course_lib.grading.sources.marked_cells import grade_id
from course_lib.grading.sources.project import db_url, nbgrader_messages, source_of
from course_lib.grading.sources.release import generate

OWNER = "reference"
"""Who hands it in: the id that the files of a solution are made for."""
CONFLICT = ("<<<<<<< ", ">>>>>>> ")
"""How lines begin that git leaves where two versions could not be merged."""


def faults(root: Path, name: str) -> list[str]:
    """Why an assignment cannot be released: conflicts of git's, or points its own solution loses.

    The solution runs without a sandbox: it is the instructor's.
    """
    texts = [path for path in source_of(root, name).parent.glob("*.*") if path.suffix in TEXTS]
    conflicts = [
        f"{path.relative_to(root)}, line {number}: a conflict that git could not merge. Edit it."
        for path in sorted(texts)
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1)
        if line.startswith(CONFLICT)
    ]
    return conflicts or _lost(root, name)


TEXTS = {".md", ".yaml", ".json", ".py", ".txt"}


def _lost(root: Path, name: str) -> list[str]:
    """What the solution loses, a line a part."""
    with tempfile.TemporaryDirectory(prefix="own-solution-") as folder:
        place = Path(folder)
        released = generate(root, name, db_url(place))[f"{name}.ipynb"].decode()
        hand_in(root, name, released, place / "submitted", [Student(OWNER, loses=frozenset())])
        handed_in = place / "submitted" / OWNER / name
        job = Job(root, place, handed_in, OWNER, name, released, boxed=False, alone=True)
        outcome = grade(job)
        if not outcome.graded:
            return [f"{name}: the solution could not be graded. {' '.join(outcome.remarks)}"]
        cells = {grade_id(cell): cell for cell in nbformat.read(job.graded, as_version=4).cells}
        with nbgrader_messages(), Gradebook(db_url(place)) as gradebook:
            grades = gradebook.find_submission_notebook(name, name, OWNER).grades
            return [
                f"{name}, {one.name}: your own solution gets {one.auto_score:g} of"
                f" {one.max_score:g} points. {message(cells[one.name]) or ''}".rstrip()
                for one in grades
                if one.auto_score is not None and one.auto_score < one.max_score
            ]
