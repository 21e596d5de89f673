"""Everything a class report says, gathered from gradebook, graded notebooks and the assignment."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

import nbformat
from nbformat import NotebookNode
from nbgrader.api import Gradebook

from course_lib.grading.intake.collecting import CollectedFile, recorded
from course_lib.grading.intake.late import rule_of
from course_lib.grading.intake.roster import Roster, RosterEntry, kept_roster, read_roster
from course_lib.grading.reporting import graded_notebook
from course_lib.grading.reporting.pseudonyms import pseudonyms
from course_lib.grading.reporting.similarity import SimilarAnswers, pairs
from course_lib.grading.running.classroom import ClassReport, Report
from course_lib.grading.sources.data import Criterion, criteria_of
from course_lib.grading.sources.marked_cells import grade_id, is_grade, is_solution
from course_lib.grading.sources.project import db_url, nbgrader_messages, source_of
from course_lib.grading.sources.release import source_notebook


@dataclass(frozen=True)
class PartSummary:
    """How a class did in one part.

    Attributes:
        part: its grade id.
        title: what it is called.
        points: the most one can get.
        full, partial, none: how many students have all, some and no points.
        waiting: whose work a person has still to read.
        messages: the most frequent ones, with how many students got them.
        criteria: what a person looks for.
    """

    part: str
    title: str
    points: float
    full: int
    partial: int
    none: int
    waiting: list[str]
    messages: list[tuple[str, int]]
    criteria: list[Criterion]


@dataclass(frozen=True)
class Overview:
    """A graded class, ready to be shown.

    Attributes:
        title: the assignment's.
        result: everybody's points and remarks.
        parts: in the assignment's order.
        pairs: submissions that resemble each other.
        rule: what being late costs, in words.
        absent: who is in the kept roster and has no submission here: id and name.
        not_taken: files of the platform's zips that no notebook was found in, or no owner of.
        disguised: whether students stand here under pseudonyms.
    """

    title: str
    result: ClassReport
    parts: list[PartSummary]
    pairs: list[SimilarAnswers]
    rule: str
    absent: list[tuple[str, str]] = field(default_factory=list)
    not_taken: list[CollectedFile] = field(default_factory=list)
    disguised: bool = False


def overview(root: Path, result: ClassReport) -> Overview:
    """Gather what there is to say about a graded class."""
    name = result.assignment
    text = source_of(root, name)
    source = source_notebook(text)
    autograded = result.place / "autograded"
    graded = {
        report.student: nbformat.read(path, as_version=4)
        for report in result.reports
        if (path := autograded / report.student / name / f"{name}.ipynb").is_file()
    }
    collected = recorded(result.place, name)
    path = kept_roster(result.place, name)
    missing = _absent(result, read_roster(path)) if path.is_file() else []
    return Overview(
        title=graded_notebook.notebook_title(source) or name,
        result=result,
        parts=_parts(result, source, criteria_of(text), graded),
        pairs=of_different_files(_pairs(result, graded), collected),
        rule=str(rule_of(root, result.place, name)),
        absent=[(one.student, _name(one)) for one in missing],
        not_taken=[one for one in collected if one.end != "taken"],
    )


def with_zeros(result: ClassReport, roster: Roster) -> ClassReport:
    """The same with no points for whoever is in the roster and has no submission here.

    Of whom the roster says that they handed in nothing is said.
    """
    marks = [replace(mark, score=0.0, to_read=False, changed=False) for mark in result.parts]
    reports = [
        Report(one.student, True, marks, ["No submission is here."], 0.0, None, name=_name(one))
        for one in _absent(result, roster)
        if not (one.handed_in or one.unread)
    ]
    return replace(result, reports=[*result.reports, *reports])


def _absent(result: ClassReport, roster: Roster) -> list[RosterEntry]:
    known = {*(report.student for report in result.reports), *result.not_graded}
    return [one for one in roster.people if one.student not in known]


def _name(person: RosterEntry) -> str:
    return f"{person.first} {person.last}".strip()


def under_pseudonyms(shown: Overview) -> Overview:
    """The same with every student under another name, and no text in which one could stand."""
    result = shown.result
    here = [report.student for report in result.reports]
    names = pseudonyms(result.place, [*here, *(student for student, _ in shown.absent)])
    reports = [
        replace(report, student=names[report.student], name="", remarks=[], feedback=None)
        for report in result.reports
    ]
    reports.sort(key=lambda report: report.student)
    return replace(
        shown,
        result=replace(
            result,
            reports=reports,
            changes=[replace(one, student=names[one.student]) for one in result.changes],
            not_graded=[],
        ),
        absent=sorted((names[student], "") for student, _ in shown.absent),
        parts=[
            replace(
                part,
                waiting=sorted(names[student] for student in part.waiting),
                messages=[],  # some quote an id
            )
            for part in shown.parts
        ],
        pairs=[
            replace(pair, one=names[pair.one], other=names[pair.other], one_text="", other_text="")
            for pair in shown.pairs
        ],
        not_taken=[],  # the names of files are people's
        disguised=True,
    )


def _parts(
    result: ClassReport,
    source: NotebookNode,
    criteria: Mapping[str, list[Criterion]],
    graded: Mapping[str, NotebookNode],
) -> list[PartSummary]:
    messages: dict[str, Counter[str]] = {}
    for notebook in graded.values():
        for cell in notebook.cells:
            part = grade_id(cell)
            if part and is_grade(cell) and (text := graded_notebook.message(cell)):
                messages.setdefault(part, Counter())[text] += 1
    summaries = []
    for part, title in graded_notebook.titles(source).items():
        marks = {
            report.student: mark
            for report in result.reports
            for mark in report.marks
            if mark.part == part
        }
        if not marks:
            continue
        decided = [mark for mark in marks.values() if not mark.to_read]
        full = sum((mark.score or 0) >= mark.points for mark in decided)
        none = sum((mark.score or 0) <= 0 < mark.points for mark in decided)
        summaries.append(
            PartSummary(
                part=part,
                title=title,
                points=next(iter(marks.values())).points,
                full=full,
                partial=len(decided) - full - none,
                none=none,
                waiting=[student for student, mark in marks.items() if mark.to_read],
                messages=messages.get(part, Counter()).most_common(3),
                criteria=criteria.get(part, []),
            )
        )
    return summaries


def _pairs(result: ClassReport, graded: Mapping[str, NotebookNode]) -> list[SimilarAnswers]:
    """Compare what was really handed in; what the grader put in place of it does not count."""
    handed_in = {report.student for report in result.reports if report.graded}
    with nbgrader_messages(), Gradebook(db_url(result.place)) as gradebook:
        notebook = gradebook.find_notebook(result.assignment, result.assignment)
        released = {cell.name: cell.source or "" for cell in notebook.source_cells}
    answers = {
        student: {
            name: cell for cell in notebook.cells if is_solution(cell) and (name := grade_id(cell))
        }
        for student, notebook in graded.items()
        if student in handed_in
    }
    return pairs(answers, released)


def of_different_files(
    found: list[SimilarAnswers], collected: list[CollectedFile]
) -> list[SimilarAnswers]:
    """Those that did not hand in one file together, as a group does."""
    return [
        pair
        for pair in found
        if not any({pair.one, pair.other} <= set(entry.students) for entry in collected)
    ]
