"""Grading one submission, start to end, in a process that does nothing else meanwhile.

nbgrader's converters change the working directory: never two of these in one process at a time.
"""

import shutil
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

import nbformat
from nbgrader.converters import Autograde, GenerateFeedback
from nbgrader.converters.base import NbGraderException
from nbgrader.coursedir import CourseDirectory
from nbgrader.preprocessors import Execute
from traitlets.config import Config

from course_lib.errors import CourseError
from course_lib.grading import boxes, inspection
from course_lib.grading.execution import ContainedExecute, remarks_of
from course_lib.grading.given_out import laid_over
from course_lib.grading.project import load_config, nbgrader_messages, reason, source_of
from course_lib.grading.release import data_files
from course_lib.grading.submissions import stage, unusable


@dataclass(frozen=True)
class Job:
    """One submission to grade. Everything a process on another machine needs to know.

    Attributes:
        root: the course's folder.
        place: the folder that holds gradebook, graded notebooks and feedback.
        handed_in: the student's folder for this assignment.
        student: the student's id.
        assignment: the assignment's name.
        released: the released notebook, as JSON.
        boxed: whether the kernel runs in the sandbox.
    """

    root: Path
    place: Path
    handed_in: Path
    student: str
    assignment: str
    released: str
    boxed: bool


@dataclass(frozen=True)
class Outcome:
    """How the grading of one submission went; the marks themselves are in the gradebook."""

    student: str
    graded: bool
    seconds: float
    remarks: list[str] = field(default_factory=list)


def db_url(place: Path) -> str:
    """The gradebook of a class; whoever finds it busy waits."""
    return f"sqlite:///{place / 'gradebook.db'}?timeout=60"


def grade_one(job: Job) -> Outcome:
    """Run one submission and record its marks and its feedback; never raises for what is in it."""
    start = time.monotonic()
    fault = unusable(job.student)
    if fault is not None:
        return Outcome(job.student, False, 0.0, [fault])
    # A short path: the names of the kernel's sockets may have 107 characters.
    folder = Path(tempfile.mkdtemp(prefix="g-", dir="/tmp"))
    try:
        graded, remarks = _grade(job, folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return Outcome(job.student, graded, round(time.monotonic() - start, 2), remarks)


def _grade(job: Job, folder: Path) -> tuple[bool, list[str]]:
    target = folder / "submitted" / job.student / job.assignment
    staged = stage(
        job.handed_in,
        job.assignment,
        nbformat.reads(job.released, as_version=4),
        target,
        student=job.student,
    )
    given_out = data_files(source_of(job.root, job.assignment))
    files, changed = laid_over(staged.data_files, given_out)
    remarks = [*staged.remarks, *changed]
    try:
        found = inspection.inspect(job.assignment, target, job.student, boxed=job.boxed)
    except CourseError as error:
        return False, [*remarks, str(error)]
    if found is not None:
        inspection.keep(found, job.place, job.assignment, job.student)
        remarks += found["remarks"]
        files = {name: path for name, path in files.items() if path.exists()}
        files[inspection.FILE] = target / inspection.FILE
    config = _config(job, folder, files)
    with nbgrader_messages() as messages:
        course = CourseDirectory(config=config)
        course.assignment_id = job.assignment
        course.student_id = job.student
        try:
            for converter in (Autograde, GenerateFeedback):
                step = converter(coursedir=course, config=config)
                step.force = True
                step.start()
        except NbGraderException:
            return False, [*remarks, f"nbgrader could not grade it: {reason(messages)}."]
        except Exception as error:  # one submission must not stop the others
            text = (str(error).strip().splitlines() or [""])[0]
            return False, [*remarks, f"It could not be graded: {type(error).__name__}: {text}"]
    result = job.place / "autograded" / job.student / job.assignment / f"{job.assignment}.ipynb"
    remarks += remarks_of(nbformat.read(result, as_version=4))
    return staged.notebook_found, remarks


def _config(job: Job, folder: Path, data_files: dict[str, Path]) -> Config:
    """The course's grading profile, for this submission."""
    config = load_config(job.root)
    course = config.CourseDirectory
    course.root = str(job.place)
    course.db_url = db_url(job.place)
    course.source_directory = str(job.root / "solutions")
    course.submitted_directory = str(folder / "submitted")
    config.Autograde.autograde_preprocessors = [
        ContainedExecute if step is Execute else step
        for step in Autograde.autograde_preprocessors.default()
    ]
    if job.boxed:
        kernel = folder / "k"
        kernel.mkdir()
        config.merge(boxes.kernel_config(kernel, data_files))
    else:
        config.ExecutePreprocessor.kernel_name = "python3"
        config.Execute.extra_arguments = ["--log-level=ERROR"]
    return config
