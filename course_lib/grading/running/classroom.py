"""A whole class: every submission graded in a process of its own, the marks in one gradebook.

The processes are copies of this one, or the workers of a Dask scheduler that sees the same files.
"""

from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from nbgrader.api import Grade, Gradebook, MissingEntry

from course_lib.errors import CourseError
from course_lib.files import private_files
from course_lib.grading.intake.collecting import group_of
from course_lib.grading.intake.late import set_policy, settle
from course_lib.grading.intake.staging import find_students
from course_lib.grading.running import extensions, gradebooks, journal, workers
from course_lib.grading.running.journal import Outcome
from course_lib.grading.running.submission import Job, grade
from course_lib.grading.runs import boxed_inspection
from course_lib.grading.sandbox import boxes
from course_lib.grading.sandbox.scratch import scratch_folder
from course_lib.grading.sources.project import db_url, nbgrader_messages
from course_lib.grading.sources.release import generate


@dataclass(frozen=True)
class Mark:
    """The score of one graded cell.

    Attributes:
        part: the cell's grade id.
        score: points so far; None where nothing is recorded.
        points: the most one can get.
        automatic: whether tests decide it, and no person.
        to_read: whether a person has still to mark it.
        changed: whether the answer is another than the one that a person gave the score to.
    """

    part: str
    score: float | None
    points: float
    automatic: bool
    to_read: bool
    changed: bool = False


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
    extended: datetime | None = None  # until when, where this student may hand in later
    name: str = ""

    @property
    def score(self) -> float:
        """Points of all parts, 0 for one that has none yet, less what being late costs."""
        return sum(mark.score or 0.0 for mark in self.marks) - self.deducted

    @property
    def points(self) -> float:
        """The most one can get."""
        return sum(mark.points for mark in self.marks)


@dataclass(frozen=True)
class Change:
    """What a grading changed for a student who had been graded before.

    Attributes:
        student: whose.
        part: the grade id, "late" for what is taken away for handing in late, or "total".
        before, after: points; None where there were none yet.
        why: the reasons, in words.
        changed: whether the answer is another than the one that a person gave the points to.
    """

    student: str
    part: str
    before: float | None
    after: float | None
    why: str
    changed: bool = False


@dataclass(frozen=True)
class ClassReport:
    """The result of one `course grade`.

    Attributes:
        reports: a student each, in alphabetical order.
        changes: what became other than an earlier grading had left it.
        not_graded: who has handed in and was not asked for, nor ever graded.
    """

    assignment: str
    place: Path
    sandbox: str
    reports: list[Report] = field(default_factory=list)
    changes: list[Change] = field(default_factory=list)
    not_graded: list[str] = field(default_factory=list)

    @property
    def complete(self) -> bool:
        """Whether every submission could be graded."""
        return all(report.graded for report in self.reports)

    @property
    def parts(self) -> list[Mark]:
        """The graded parts, as whoever has most of them has them."""
        return max((report.marks for report in self.reports), key=len, default=[])

    @property
    def nobody_passes(self) -> list[str]:
        """The parts in which several had no point, by their tests, and nobody had any."""
        scores: dict[str, list[float]] = {}
        for report in self.reports:
            for mark in report.marks:
                if mark.automatic and report.score > 0:  # who hands in nothing tells nothing
                    scores.setdefault(mark.part, []).append(mark.score or 0.0)
        return [part for part, got in scores.items() if len(got) > 1 and not any(got)]


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
    only: Sequence[str] = (),
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
        only: students who are run again, whatever has changed; nobody else is. All if empty.
        progress: wraps the outcomes as they come in (with their number), for a progress bar.

    Raises:
        CourseError: nothing is submitted, or the assignment or the scheduler cannot be used.
    """
    submitted = (submitted or root / "submitted").resolve()
    place, students = submitted.parent, find_students(submitted, name)
    if unknown := sorted(set(only) - set(students)):
        raise CourseError(f"Nothing of {', '.join(unknown)} is in {submitted}. Check the id.")
    asked = list(only) or students
    boxed_inspection.prepare(root, name, [submitted / student / name for student in asked])
    with private_files(), scratch_folder():
        gradebooks.prepare(place)
        released = generate(root, name, db_url(place))[f"{name}.ipynb"].decode()
        set_policy(root, place, name, due, late)
        before = _reports(place, name, [Outcome(student, True, 0.0) for student in students])
        extensions.apply_extensions(place, name)
        common = journal.common_key(root, name, released, boxed)
        received = [
            Job(
                root=root,
                place=place,
                handed_in=submitted / student / name,
                student=student,
                assignment=name,
                released=released,
                boxed=boxed,
                key=journal.key_of(common, student, submitted / student / name),
                again=regrade or bool(only),
            )
            for student in asked
        ]
        entries = {one: journal.read(place, name, one) for one in students}
        finished, remaining = _finished(received, entries)
        outcomes = {outcome.student: outcome for outcome in finished}
        outcomes |= {
            student: entry.outcome
            for student, entry in entries.items()
            if entry is not None and student not in asked
        }
        if boxed and remaining and scheduler is None:
            boxes.fork_server()  # which the copies of this process ask
        if remaining:
            ran = (
                _elsewhere(scheduler, remaining) if scheduler else workers.outcomes(remaining, jobs)
            )
            with closing(ran):
                for outcome in progress(ran, len(remaining)):
                    outcomes[outcome.student] = outcome
            # what the grader could not do may be due to what ran beside: again, alone
            failed = [replace(job, alone=True) for job in remaining if outcomes[job.student].fault]
            with closing(workers.outcomes(failed, 1)) as ran:
                outcomes |= {outcome.student: outcome for outcome in ran}
        settle(root, place, name, students)
    together = partial(group_of, place, name)
    same = boxed_inspection.same_files(submitted, name, students, together)
    for student, remarks in same.items():
        if student in outcomes:
            outcomes[student].remarks.extend(remarks)
    graded = [student for student in students if student in outcomes]
    reports = _reports(place, name, [outcomes[student] for student in graded])
    reasons = {
        job.student: journal.why(entry.key, job.key) or "graded again"
        for job in remaining
        if not job.feedback_only and (entry := entries[job.student]) is not None
    }
    return ClassReport(
        name,
        place,
        "bwrap" if boxed else "none",
        reports,
        changes(before, reports, reasons),
        [student for student in students if student not in outcomes],
    )


def changes(
    before: Sequence[Report], after: Sequence[Report], reasons: Mapping[str, str]
) -> list[Change]:
    """What has become of those who had been graded before, part by part, and of their totals.

    Args:
        before, after: what the gradebook said about them then and says now.
        reasons: student -> why their submission was run again; not those whose was not.
    """
    found = []
    earlier = {report.student: report for report in before if report.marks}
    for report in after:
        if (old := earlier.get(report.student)) is None:
            continue
        why = reasons.get(report.student, "a rule or a time for handing in late")
        parts = {mark.part: mark for mark in old.marks}
        own = []
        for mark in report.marks:
            was = parts.get(mark.part)
            score = was.score if was else None
            if score != mark.score or (mark.changed and not (was and was.changed)):
                own.append(Change(report.student, mark.part, score, mark.score, why, mark.changed))
        if old.deducted != report.deducted:
            taken = -old.deducted or None, -report.deducted or None
            own.append(Change(report.student, "late", *taken, why))
        if own:
            own.append(Change(report.student, "total", old.score, report.score, why))
        found += own
    return found


def _finished(
    tasks: list[Job], entries: Mapping[str, journal.Entry | None]
) -> tuple[list[Outcome], list[Job]]:
    """What is finished, and the jobs that remain: those whose marks have changed need new feedback.

    Finished is what the journal says and the gradebook and both folders bear out.
    """
    outcomes, remaining = [], []
    known = [job for job in tasks if (entry := entries[job.student]) and entry.key == job.key]
    if known and not known[0].again:
        root, place, name = known[0].root, known[0].place, known[0].assignment
        settle(root, place, name, [job.student for job in known])
    with nbgrader_messages(), Gradebook(db_url(tasks[0].place)) as gradebook:
        for job in tasks:
            entry = entries[job.student]
            marks = journal.marks_digest(gradebook, job.assignment, job.student)
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
                yield workers.failed(futures[future], type(future.exception()).__name__)


def _reports(place: Path, name: str, outcomes: list[Outcome]) -> list[Report]:
    """Outcomes together with what the gradebook says about them, manual scores included."""
    with nbgrader_messages(), Gradebook(db_url(place)) as gradebook:
        return [_report(gradebook, place, name, outcome) for outcome in outcomes]


def _report(gradebook: Gradebook, place: Path, name: str, outcome: Outcome) -> Report:
    order = [cell.name for cell in gradebook.find_notebook(name, name).source_cells]
    grades, seconds_late, deducted, extended, called = [], 0.0, 0.0, None, ""
    with suppress(MissingEntry):
        notebook = gradebook.find_submission_notebook(name, name, outcome.student)
        grades, deducted = notebook.grades, float(notebook.late_submission_penalty or 0)
        seconds_late = float(notebook.assignment.total_seconds_late)
        called = gradebooks.name_of(notebook.student)
        if notebook.assignment.extension and notebook.assignment.duedate:
            extended = notebook.assignment.duedate.replace(tzinfo=UTC).astimezone()
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
        extended=extended,
        name=called,
    )


def _mark(grade: Grade) -> Mark:
    # nbgrader counts a part that nobody has marked as 0
    marked = grade.auto_score is not None or grade.manual_score is not None
    to_read, changed = gradebooks.to_look_at(grade)
    return Mark(
        part=grade.name,
        score=float(grade.score) if marked else None,
        points=float(grade.max_score),
        automatic=grade.cell.cell_type == "code",
        to_read=to_read,
        changed=changed,
    )
