"""The way of one submission, to be read from top to bottom: from its folder to marks and a page.

    stage             the notebook put in order, with all tests in it, and the files beside it
    inspect_models    trained models that came along, looked at in a box of their own
    run_notebook      every cell run in its box, the outcome of each in the notebook
    record_marks      points, and what being late costs, in the gradebook
    keep_graded       the notebook, with the files that it was run with, where graded ones lie
    write_feedback    the student's page

`grade` is the line of these steps. Each takes what the steps before it have made, and returns what
it has made itself, with its remarks for the instructor. The gradebook is opened when no student's
code runs any more. What is finished is noted in the journal last of all, so that a run that is
killed anywhere can be continued.
"""

import contextlib
import shutil
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import nbformat
from nbformat import NotebookNode
from nbgrader.api import Gradebook
from nbgrader.converters import GenerateFeedback
from nbgrader.coursedir import CourseDirectory
from nbgrader.preprocessors import NbGraderPreprocessor, SaveAutoGrades
from nbgrader.utils import setenv

from course_lib.assignments import inspection, opened, owner
from course_lib.errors import CourseError
from course_lib.files import copy_files, private_files, write_atomically
from course_lib.grading.intake import late, staging
from course_lib.grading.intake.collecting import group_of
from course_lib.grading.intake.staging import FOR_THE_EXCHANGE, Staged, laid_over
from course_lib.grading.running import extensions, journal
from course_lib.grading.running.execution import ContainedExecute, remarks_of
from course_lib.grading.running.journal import Fingerprint, Outcome
from course_lib.grading.running.judge import Judge
from course_lib.grading.runs import boxed_inspection
from course_lib.grading.sandbox import boxes
from course_lib.grading.sandbox.scratch import scratch_folder
from course_lib.grading.sources.marked_cells import checksum, grade_id, is_locked
from course_lib.grading.sources.project import db_url, load_config, nbgrader_messages, source_of
from course_lib.grading.sources.release import data_files, source_notebook


@dataclass(frozen=True)
class Job:
    """One submission as it was received: all that a process on another machine has to know.

    Attributes:
        root: the course's folder.
        place: the folder that holds gradebook, graded notebooks and feedback.
        handed_in: the student's folder for this assignment.
        student: the student's id.
        assignment: the assignment's name.
        released: the released notebook, as JSON.
        boxed: whether the kernel runs in the sandbox.
        key: what its grading rests on (see `journal`); without it nothing goes into the journal.
        again: whether it is to be graded though the journal has it.
        feedback_only: whether it is graded already and only its feedback is to be made anew.
        alone: whether nothing else is graded meanwhile.
    """

    root: Path
    place: Path
    handed_in: Path
    student: str
    assignment: str
    released: str
    boxed: bool
    key: Fingerprint = field(default_factory=dict)
    again: bool = False
    feedback_only: bool = False
    alone: bool = False

    @property
    def graded(self) -> Path:
        """The graded notebook; the files that it was run with lie beside it."""
        return self._result("autograded", ".ipynb")

    @property
    def page(self) -> Path:
        """The student's page."""
        return self._result("feedback", ".html")

    def _result(self, kind: str, suffix: str) -> Path:
        return self.place / kind / self.student / self.assignment / f"{self.assignment}{suffix}"


def grade(job: Job) -> Outcome:
    """Take one submission all the way; whatever is in it, the outcome is defined."""
    start = time.monotonic()
    fault = staging.unusable(job.student)
    if fault is not None:
        return Outcome(job.student, False, 0.0, [fault])
    try:
        with private_files(), journal.alone(job.place, job.assignment, job.student):
            entry = journal.read(job.place, job.assignment, job.student)
            if entry is None or entry.key != job.key or job.again:
                return _whole_way(job, start, entry.marked if entry else {})
            if job.feedback_only:
                _finish(job, _page_anew(job), entry.outcome, entry.marked)
            return entry.outcome  # perhaps by a process that outlived an earlier run
    except CourseError as error:
        return Outcome(job.student, False, 0.0, [str(error)], fault=True)


def _whole_way(job: Job, start: float, marked: dict[str, str]) -> Outcome:
    """The line of steps; where one of them cannot be taken, the remarks say why.

    Until the marks are recorded everything stays as an earlier grading has left it.
    """
    remarks: list[str] = []
    try:
        with scratch_folder() as folder, nbgrader_messages():
            staged = stage(job, folder)
            remarks += staged.remarks
            files, judged = inspect_models(job, staged)
            remarks += judged
            notebook = run_notebook(job, folder, staged.notebook, files)
            remarks += remarks_of(notebook)
            marks, marked = record_marks(job, staged, notebook, marked)
            keep_graded(job, notebook, files)
            write_feedback(job, notebook)
    except CourseError as error:
        remarks.append(str(error))
    except Exception as error:  # one submission must not stop the others
        text = (str(error).strip().splitlines() or [""])[0]
        remarks.append(f"It could not be graded: {type(error).__name__}: {text}")
    else:
        seconds = round(time.monotonic() - start, 2)
        outcome = Outcome(job.student, staged.notebook_found, seconds, remarks)
        _finish(job, marks, outcome, marked)
        return outcome
    return Outcome(job.student, False, round(time.monotonic() - start, 2), remarks, fault=True)


def _page_anew(job: Job) -> str | None:
    """Make the page of a submission that is graded already."""
    with nbgrader_messages():
        write_feedback(job, nbformat.read(job.graded, as_version=4))
        with Gradebook(db_url(job.place)) as gradebook:
            return journal.marks_digest(gradebook, job.assignment, job.student)


def _finish(job: Job, marks: str | None, outcome: Outcome, marked: dict[str, str]) -> None:
    """Write into the journal that a submission is finished: the last thing that is done."""
    if job.key and marks is not None:
        journal.write(job.place, job.assignment, journal.Entry(job.key, marks, outcome, marked))


def stage(job: Job, folder: Path) -> Staged:
    """Put what was handed in in order, in a folder of its own, and every test into the notebook."""
    source = source_of(job.root, job.assignment)
    released = nbformat.reads(job.released, as_version=4)
    target = folder / "staged"
    group = group_of(job.place, job.assignment, job.student)
    staged = staging.stage(job.handed_in, job.assignment, released, target, job.student, group)
    # cells that are not a student's to change, hidden tests included
    tests = {
        grade_id(cell): cell.source for cell in source_notebook(source).cells if is_locked(cell)
    }
    for cell in staged.notebook.cells:
        if (part := grade_id(cell)) in tests:
            cell.source = tests[part]
            cell.metadata.nbgrader["checksum"] = checksum(cell)
    files, changed = laid_over(staged.data_files, data_files(source))
    return staged._replace(data_files=files, remarks=[*staged.remarks, *changed])


def inspect_models(job: Job, staged: Staged) -> tuple[dict[str, Path], list[str]]:
    """Judge the trained models that some assignments want; the result lies beside the notebook.

    Returns the files to run the notebook with, and remarks.

    Raises:
        CourseError: this machine lacks the corpus that they were trained on.
    """
    whose = staged.data_files[owner.FILE].read_text(encoding="utf-8").strip()
    facts = boxed_inspection.inspect(
        job.root, job.assignment, staged.folder, whose, boxed=job.boxed
    )
    if facts is None:
        return staged.data_files, []
    files = {name: path for name, path in staged.data_files.items() if path.exists()}
    files[inspection.FILE] = staged.folder / inspection.FILE
    return files, facts["remarks"]


def run_notebook(
    job: Job, folder: Path, notebook: NotebookNode, files: dict[str, Path]
) -> NotebookNode:
    """Run a notebook behind walls, in a new folder with these files; the outcome of every cell.

    Raises:
        CourseError: the grader or the machine failed, or something was stopped for which what runs
            beside may be the reason. Neither is a verdict.
    """
    work, kernel = folder / "w", folder / "k"  # short names: the paths of sockets have to fit
    copy_files(files, work)
    kernel.mkdir()
    config = load_config(job.root)
    judge = Judge(folder, files if job.boxed else work)
    if job.boxed:
        library = opened.parts(job.assignment)
        config.merge(boxes.kernel_config(kernel, files, Path(judge.place), library))
    else:
        config.ExecutePreprocessor.kernel_name = "python3"
        config.ContainedExecute.extra_arguments = ["--log-level=ERROR"]
    resources = _resources(job, work)
    execute = ContainedExecute(judge, job.assignment, config=config)
    with contextlib.closing(judge), setenv(NBGRADER_EXECUTION="autograde"):
        notebook, _ = execute(notebook, resources)
    if execute.disturbed and not job.alone:
        raise CourseError("It was stopped early while others were graded beside it.")
    if execute.starved:
        raise CourseError(
            "It was stopped while it waited for a processor, because the machine is busy with other"
            " things. Run the command again when it is not."
        )
    return notebook


def record_marks(
    job: Job, staged: Staged, notebook: NotebookNode, marked: dict[str, str]
) -> tuple[str | None, dict[str, str]]:
    """Record the points of every part, all at once, and what being late costs.

    Args:
        marked: part that a person gave points for -> the answer that they were given to, as far as
            it is known (see `journal.answers_of`).

    Returns:
        a name for what the gradebook now says (see `journal.marks_digest`), and `marked`, brought
        up to date.
    """
    config = load_config(job.root)
    course = CourseDirectory(config=config)
    handed_in_at = course.get_existing_timestamp(str(staged.folder))
    with Gradebook(db_url(job.place), course.course_id) as gradebook:
        gradebook.update_or_create_student(job.student)
        submission = gradebook.update_or_create_submission(
            job.assignment, job.student, timestamp=handed_in_at
        )
        extensions.apply_to(submission, extensions.granted(job.place, job.assignment))
        marked = _marked(job, gradebook, marked)
        SaveAtOnce(gradebook, marked, config=config)(notebook, _resources(job, staged.folder))
        rule = late.rule_of(job.root, job.place, job.assignment)
        late.deduct(gradebook, rule, job.assignment, job.student)
        return journal.marks_digest(gradebook, job.assignment, job.student), marked


def _marked(job: Job, gradebook: Gradebook, known: dict[str, str]) -> dict[str, str]:
    """The answers that a person has given points to: those on show until now, but for parts that
    wait to be looked at again."""
    try:
        shown = journal.answers_of(nbformat.read(job.graded, as_version=4))
    except (OSError, ValueError):
        shown = {}
    notebook = gradebook.find_submission_notebook(job.assignment, job.assignment, job.student)
    marked = {}
    for grade in notebook.grades:
        if grade.manual_score is not None:
            seen = {} if grade.needs_manual_grade else shown
            if answer := seen.get(grade.name) or known.get(grade.name):
                marked[grade.name] = answer
    return marked


def keep_graded(job: Job, notebook: NotebookNode, files: dict[str, Path]) -> None:
    """Put a graded notebook, with the files that it was run with, where graded ones lie."""
    shutil.rmtree(job.graded.parent, ignore_errors=True)
    copy_files(files, job.graded.parent)
    write_atomically(job.graded, nbformat.writes(notebook))
    for name in (*files, job.graded.name):
        (job.graded.parent / name).chmod(0o400)


def write_feedback(job: Job, notebook: NotebookNode) -> None:
    """Make the student's page, as the course's settings for nbgrader's feedback say."""
    config = load_config(job.root)
    config.CourseDirectory.db_url = db_url(job.place)
    settings = GenerateFeedback(coursedir=CourseDirectory(config=config), config=config)
    exporter = settings.exporter_class(parent=settings, config=settings.config)
    for step in settings.preprocessors:
        exporter.register_preprocessor(step)
    page, _ = exporter.from_notebook_node(notebook, _resources(job, job.graded.parent))
    write_atomically(job.page, page)
    # nbgrader copies it, rights and all, to where a student reads it; the folder above is private
    job.page.chmod(0o644)
    for name in FOR_THE_EXCHANGE:  # also beside a notebook that could not be read
        if (beside := job.handed_in / name).is_file() and not beside.is_symlink():
            shutil.copyfile(beside, job.page.parent / name)


class SaveAtOnce(SaveAutoGrades):
    """nbgrader's SaveAutoGrades on an open gradebook, with all marks in one transaction.

    nbgrader has a person look again at whatever a person has marked. Here a mark stands while the
    answer it was given to stands, whatever else has changed.
    """

    def __init__(self, gradebook: Gradebook, marked: Mapping[str, str], **settings: Any) -> None:
        """Record in this gradebook; `marked` has the answers that a person gave points to."""
        super().__init__(**settings)
        self.gradebook, self._marked = gradebook, marked

    def preprocess(
        self, nb: NotebookNode, resources: dict[str, Any]
    ) -> tuple[NotebookNode, dict[str, Any]]:
        """Record the marks of a notebook."""
        names = resources["nbgrader"]
        self.notebook_id, self.assignment_id = names["notebook"], names["assignment"]
        self.student_id = names["student"]
        self.gradebook.db.commit = lambda: None  # nbgrader commits after each of the marks
        nb, resources = NbGraderPreprocessor.preprocess(self, nb, resources)
        answers = journal.answers_of(nb)
        names_of = (self.notebook_id, self.assignment_id, self.student_id)
        for grade in self.gradebook.find_submission_notebook(*names_of).grades:
            if grade.manual_score is not None:
                known = self._marked.get(grade.name)
                grade.needs_manual_grade = known is None or known != answers.get(grade.name)
        del self.gradebook.db.commit
        self.gradebook.db.commit()
        return nb, resources


def _resources(job: Job, folder: Path) -> dict[str, Any]:
    """What nbgrader's steps have to know beside the notebook: whose it is, and where it runs."""
    return {
        "unique_key": job.assignment,
        "metadata": {"name": job.assignment, "path": str(folder)},
        "nbgrader": {
            "student": job.student,
            "assignment": job.assignment,
            "notebook": job.assignment,
            "db_url": db_url(job.place),
        },
    }
