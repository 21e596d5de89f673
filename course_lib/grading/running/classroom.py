"""A whole class: every submission graded in a process of its own, the marks in one gradebook.

The processes are copies of this one, or the workers of a Dask scheduler that sees the same files.
"""

import os
import shutil
import tempfile
from collections.abc import Callable, Generator, Iterator
from contextlib import closing, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from nbgrader.api import Grade, Gradebook, MissingEntry

from course_lib.errors import CourseError
from course_lib.grading.intake.late import set_policy, settle
from course_lib.grading.intake.staging import find_students
from course_lib.grading.running import beside, journal
from course_lib.grading.running.journal import Outcome
from course_lib.grading.running.submission import Job, grade
from course_lib.grading.runs import boxed_inspection
from course_lib.grading.sandbox import boxes
from course_lib.grading.sandbox.scratch import scratch_folder
from course_lib.grading.sources.project import db_url, nbgrader_messages
from course_lib.grading.sources.release import generate

UNFINISHED = ".gradebook-"
"""How the name of a folder begins in which a gradebook is being made."""


@dataclass(frozen=True)
class Mark:
    """The score of one graded cell.

    Attributes:
        part: the cell's grade id.
        score: points so far; None where nothing is recorded.
        points: the most one can get.
        automatic: whether tests decide it, and no person.
        to_read: whether a person has still to mark it.
        by_hand: whether a person's score is in it.
    """

    part: str
    score: float | None
    points: float
    automatic: bool
    to_read: bool
    by_hand: bool


@dataclass(frozen=True)
class Report:
    """One student's result."""

    student: str
    graded: bool
    marks: list[Mark]
    remarks: list[str]
    seconds: float
    feedback: Path | None
    seconds_late: float = 0.0
    deducted: float = 0.0  # for handing in late

    @property
    def score(self) -> float:
        """Points of all parts, 0 for one that has none yet, less what being late costs."""
        return sum(mark.score or 0.0 for mark in self.marks) - self.deducted

    @property
    def points(self) -> float:
        """The most one can get."""
        return sum(mark.points for mark in self.marks)


@dataclass(frozen=True)
class ClassReport:
    """The result of one `course grade`."""

    assignment: str
    place: Path
    sandbox: str
    reports: list[Report] = field(default_factory=list)

    @property
    def complete(self) -> bool:
        """Whether every submission could be graded."""
        return all(report.graded for report in self.reports)

    @property
    def parts(self) -> list[Mark]:
        """The graded parts, as whoever has most of them has them."""
        return max((report.marks for report in self.reports), key=len, default=[])


def grade_class(
    root: Path,
    name: str,
    *,
    submitted: Path | None = None,
    jobs: int = 2,
    boxed: bool = True,
    scheduler: str | None = None,
    due: str | None = None,
    late: str | None = None,
    regrade: bool = False,
    progress: Callable[[Iterator[Outcome], int], Iterator[Outcome]] = lambda outcomes, _: outcomes,
) -> ClassReport:
    """Grade everything handed in for an assignment.

    What an earlier call has finished is not run again unless it has changed: this one goes on where
    that was stopped or killed. Points given by hand are kept in any case.

    Args:
        root: the course's folder.
        name: the assignment.
        submitted: STUDENT/NAME/NAME.ipynb lie here; `submitted` in the course's folder if None.
            Gradebook, graded notebooks and feedback are written beside this folder.
        jobs: submissions graded at the same time, if no scheduler is given.
        boxed: whether each kernel runs in the sandbox.
        scheduler: address of a Dask scheduler; its workers must see the same files.
        due: when the assignment was due, and
        late: what handing it in later costs; both are remembered, None leaves what there is.
        regrade: whether submissions that were graded already, and have not changed, are run again.
        progress: wraps the outcomes as they come in (with their number), for a progress bar.

    Raises:
        CourseError: nothing is submitted, or the assignment or the scheduler cannot be used.
    """
    submitted = (submitted or root / "submitted").resolve()
    place, students = submitted.parent, find_students(submitted, name)
    boxed_inspection.prepare(root, name, [submitted / student / name for student in students])
    with scratch_folder():
        _prepare_gradebook(place)
        released = generate(root, name, db_url(place))[f"{name}.ipynb"].decode()
        set_policy(root, place, name, due, late)
        received = _received(root, submitted, students, name, released, boxed, regrade)
        finished, remaining = _finished(received)
        outcomes = {outcome.student: outcome for outcome in finished}
        if remaining:
            if scheduler is not None:
                ran = _elsewhere(scheduler, remaining)
            else:
                if boxed:
                    boxes.fork_server()  # which the copies of this process ask
                ran = beside.outcomes(remaining, jobs)
            with closing(ran):
                for outcome in progress(ran, len(remaining)):
                    outcomes[outcome.student] = outcome
    settle(root, place, name, students)
    for student, remarks in boxed_inspection.same_files(submitted, name, students).items():
        outcomes[student].remarks.extend(remarks)
    reports = _reports(place, name, [outcomes[student] for student in students])
    return ClassReport(name, place, "bwrap" if boxed else "none", reports)


def _received(
    root: Path,
    submitted: Path,
    students: list[str],
    name: str,
    released: str,
    boxed: bool,
    regrade: bool,
) -> list[Job]:
    """What a class handed in, each with all that its grading rests on."""
    common = journal.common_key(root, name, released, boxed)
    return [
        Job(
            root=root,
            place=submitted.parent,
            handed_in=submitted / student / name,
            student=student,
            assignment=name,
            released=released,
            boxed=boxed,
            key=journal.key_of(common, student, submitted / student / name),
            again=regrade,
        )
        for student in students
    ]


def _prepare_gradebook(place: Path) -> None:
    """Make the gradebook, if there is none: at once, for half a database cannot be gone on with."""
    path = place / "gradebook.db"
    for leftover in place.glob(f"{UNFINISHED}*"):
        shutil.rmtree(leftover, ignore_errors=True)
    if path.exists():
        return
    with tempfile.TemporaryDirectory(dir=place, prefix=UNFINISHED) as folder, nbgrader_messages():
        Gradebook(db_url(Path(folder))).close()
        os.replace(Path(folder) / path.name, path)


def _finished(tasks: list[Job]) -> tuple[list[Outcome], list[Job]]:
    """What is finished, and the jobs that remain: those whose marks have changed need new feedback.

    Finished is what the journal says and the gradebook and both folders bear out.
    """
    outcomes, remaining = [], []
    entries = {job.student: journal.read(job.place, job.assignment, job.student) for job in tasks}
    known = [job for job in tasks if (entry := entries[job.student]) and entry.key == job.key]
    if known and not known[0].again:
        root, place, name = known[0].root, known[0].place, known[0].assignment
        settle(root, place, name, [job.student for job in known])
    with nbgrader_messages(), Gradebook(db_url(tasks[0].place)) as gradebook:
        for job in tasks:
            entry = entries[job.student]
            marks = journal.marks_of(gradebook, job.assignment, job.student)
            if entry is None or entry.key != job.key or job.again:
                remaining.append(job)
            elif marks is None or not job.graded.is_file():
                remaining.append(replace(job, again=True))
            elif entry.marks != marks or not job.page.is_file():
                remaining.append(replace(job, feedback_only=True))
            else:
                outcomes.append(entry.outcome)
    return outcomes, remaining


def _elsewhere(scheduler: str, tasks: list[Job]) -> Generator[Outcome, None, None]:
    """Outcomes as they come from a scheduler's workers.

    Each has one thread: nbgrader changes the working directory while it grades.
    """
    from distributed import Client, as_completed

    try:
        client = Client(scheduler, timeout=5)
    except (OSError, ValueError) as error:
        raise CourseError(
            f"No Dask scheduler answers at {scheduler}. Check the address and that it runs."
        ) from error
    with client:
        futures = {client.submit(grade, task, pure=False): task for task in tasks}
        for future in as_completed(futures):
            if future.status == "finished":
                yield future.result()
            else:  # a process that dies costs its own submission only
                yield beside.failed(futures[future], type(future.exception()).__name__)


def _reports(place: Path, name: str, outcomes: list[Outcome]) -> list[Report]:
    """Outcomes together with what the gradebook says about them, manual scores included."""
    with nbgrader_messages(), Gradebook(db_url(place)) as gradebook:
        return [_report(gradebook, place, name, outcome) for outcome in outcomes]


def _report(gradebook: Gradebook, place: Path, name: str, outcome: Outcome) -> Report:
    order = [cell.name for cell in gradebook.find_notebook(name, name).source_cells]
    grades, seconds_late, deducted = [], 0.0, 0.0
    with suppress(MissingEntry):
        notebook = gradebook.find_submission_notebook(name, name, outcome.student)
        grades, deducted = notebook.grades, float(notebook.late_submission_penalty or 0)
        seconds_late = float(notebook.assignment.total_seconds_late)
    page = place / "feedback" / outcome.student / name / f"{name}.html"
    return Report(
        student=outcome.student,
        graded=outcome.graded,
        marks=[_mark(grade) for grade in sorted(grades, key=lambda one: order.index(one.name))],
        remarks=outcome.remarks,
        seconds=outcome.seconds,
        feedback=page if page.is_file() else None,
        seconds_late=seconds_late,
        deducted=deducted,
    )


def _mark(grade: Grade) -> Mark:
    # nbgrader counts a part that nobody has marked as 0
    marked = grade.auto_score is not None or grade.manual_score is not None
    return Mark(
        part=grade.name,
        score=float(grade.score) if marked else None,
        points=float(grade.max_score),
        automatic=grade.cell.cell_type == "code",
        to_read=bool(grade.needs_manual_grade),
        by_hand=grade.manual_score is not None,
    )
