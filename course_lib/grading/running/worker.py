"""Grading one submission, start to end, in a process that does nothing else meanwhile.

nbgrader's converters change the working directory: never two of these in one process at a time.
"""

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nbformat
from nbformat import NotebookNode
from nbgrader.api import Gradebook
from nbgrader.converters import Autograde, GenerateFeedback
from nbgrader.converters.base import BaseConverter, NbGraderException
from nbgrader.coursedir import CourseDirectory
from nbgrader.preprocessors import Execute, NbGraderPreprocessor, SaveAutoGrades
from traitlets.config import Config

from course_lib.assignments import inspection
from course_lib.errors import CourseError
from course_lib.grading.intake.given_out import laid_over
from course_lib.grading.intake.staging import stage, unusable
from course_lib.grading.running import journal
from course_lib.grading.running.execution import ContainedExecute, remarks_of
from course_lib.grading.running.journal import Outcome
from course_lib.grading.running.scratch import scratch_folder
from course_lib.grading.runs import boxed_inspection
from course_lib.grading.sandbox import boxes
from course_lib.grading.sources.project import load_config, nbgrader_messages, reason, source_of
from course_lib.grading.sources.release import data_files


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
        key: the name under which it goes into the journal (see `journal`); none if empty.
        again: whether it is to be graded though the journal has it.
        feedback_only: whether it is graded already and only its feedback is to be made anew.
        server: where a fork server can be asked, on the machine that the class is graded from.
    """

    root: Path
    place: Path
    handed_in: Path
    student: str
    assignment: str
    released: str
    boxed: bool
    key: str = ""
    again: bool = False
    feedback_only: bool = False
    server: Path | None = None


class NotRecordedError(Exception):
    """A submission could not be graded, and has no marks. Holds the remarks about it."""

    def __init__(self, remarks: list[str]) -> None:
        super().__init__(*remarks)
        self.remarks = remarks


class SaveAtOnce(SaveAutoGrades):
    """nbgrader's SaveAutoGrades, which commits every mark by itself, in one transaction."""

    def preprocess(
        self, nb: NotebookNode, resources: dict[str, Any]
    ) -> tuple[NotebookNode, dict[str, Any]]:
        """Record the marks of a notebook."""
        told = resources["nbgrader"]
        self.notebook_id, self.assignment_id = told["notebook"], told["assignment"]
        self.student_id, self.db_url = told["student"], told["db_url"]
        with Gradebook(self.db_url) as self.gradebook:
            commit, self.gradebook.db.commit = self.gradebook.db.commit, lambda: None
            nb, resources = NbGraderPreprocessor.preprocess(self, nb, resources)
            commit()
        return nb, resources


def db_url(place: Path) -> str:
    """The gradebook of a class; whoever finds it busy waits."""
    return f"sqlite:///{place / 'gradebook.db'}?timeout=60"


def grade_one(job: Job) -> Outcome:
    """Run one submission and record its marks and its feedback; never raises for what is in it."""
    start = time.monotonic()
    fault = unusable(job.student)
    if fault is not None:
        return Outcome(job.student, False, 0.0, [fault])
    boxes.ask_at(job.server)
    try:
        with journal.alone(job.place, job.assignment, job.student):
            entry = journal.read(job.place, job.assignment, job.student)
            graded = entry is not None and entry.key == job.key and not job.again
            if entry is not None and graded and not job.feedback_only:
                return entry.outcome  # by a process that outlived an earlier run
            with scratch_folder() as folder:
                if entry is not None and graded:
                    _feedback(job, folder)
                    outcome = entry.outcome
                else:
                    found, remarks = _grade(job, folder)
                    seconds = round(time.monotonic() - start, 2)
                    outcome = Outcome(job.student, found, seconds, remarks)
            _note(job, outcome)
            return outcome
    except NotRecordedError as error:
        return Outcome(job.student, False, round(time.monotonic() - start, 2), error.remarks)
    except CourseError as error:
        return Outcome(job.student, False, 0.0, [str(error)])


def _note(job: Job, outcome: Outcome) -> None:
    """Write into the journal that a submission is finished: the last thing that is done."""
    if not job.key:
        return
    with nbgrader_messages(), Gradebook(db_url(job.place)) as gradebook:
        marks = journal.marks_of(gradebook, job.assignment, job.student)
    if marks is not None:
        journal.write(job.place, job.assignment, journal.Entry(job.key, marks, outcome))


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
        found = boxed_inspection.inspect(job.assignment, target, job.student, boxed=job.boxed)
    except CourseError as error:
        raise NotRecordedError([*remarks, str(error)]) from error
    if found is not None:
        boxed_inspection.keep(found, job.place, job.assignment, job.student)
        remarks += found["remarks"]
        files = {name: path for name, path in files.items() if path.exists()}
        files[inspection.FILE] = target / inspection.FILE
    config = _config(job, folder, files)
    try:
        _convert(job, config, [Autograde, GenerateFeedback])
    except NotRecordedError as error:
        raise NotRecordedError([*remarks, *error.remarks]) from error
    result = job.place / "autograded" / job.student / job.assignment / f"{job.assignment}.ipynb"
    remarks += remarks_of(nbformat.read(result, as_version=4))
    return staged.notebook_found, remarks


def _feedback(job: Job, folder: Path) -> None:
    """The feedback page of a submission that is graded already."""
    _convert(job, _config(job, folder, {}), [GenerateFeedback])


def _convert(job: Job, config: Config, converters: list[type[BaseConverter]]) -> None:
    with nbgrader_messages() as messages:
        course = CourseDirectory(config=config)
        course.assignment_id = job.assignment
        course.student_id = job.student
        try:
            for converter in converters:
                step = converter(coursedir=course, config=config)
                step.force = True
                step.start()
        except NbGraderException as error:
            remark = f"nbgrader could not grade it: {reason(messages)}."
            raise NotRecordedError([remark]) from error
        except Exception as error:  # one submission must not stop the others
            text = (str(error).strip().splitlines() or [""])[0]
            remark = f"It could not be graded: {type(error).__name__}: {text}"
            raise NotRecordedError([remark]) from error


def _config(job: Job, folder: Path, data_files: dict[str, Path]) -> Config:
    """The course's grading profile, for this submission."""
    config = load_config(job.root)
    course = config.CourseDirectory
    course.root = str(job.place)
    course.db_url = db_url(job.place)
    course.source_directory = str(job.root / "solutions")
    course.submitted_directory = str(folder / "submitted")
    ours = {Execute: ContainedExecute, SaveAutoGrades: SaveAtOnce}
    config.Autograde.autograde_preprocessors = [
        ours.get(step, step) for step in Autograde.autograde_preprocessors.default()
    ]
    if job.boxed:
        kernel = folder / "k"
        kernel.mkdir()
        config.merge(boxes.kernel_config(kernel, data_files))
    else:
        config.ExecutePreprocessor.kernel_name = "python3"
        config.Execute.extra_arguments = ["--log-level=ERROR"]
    return config
