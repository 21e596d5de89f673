"""Answers made up for trying the grader out: right, plausibly wrong, unlucky and hostile ones.

They are written down beside the assignment's source: in `demonstration.yaml` a class, an entry for
each student; in `variants.yaml` single answers, an entry for each way to answer one cell. An entry
says what is done, the cells that are answered so, and the parts that deserve to be lost. Both stay
out of the package and of the release, like the solutions.
"""

import re
from collections.abc import Set
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import nbformat
from nbformat import NotebookNode
from pydantic import AfterValidator, BeforeValidator, Field
from pydantic.dataclasses import dataclass

from course_lib.errors import CourseError
from course_lib.files import copy_files
from course_lib.grading.sources.data import STRICT, read_data
from course_lib.grading.sources.marked_cells import grade_id, is_grade, is_solution
from course_lib.grading.sources.project import source_of
from course_lib.grading.sources.release import MADE_UP, handed_in, source_notebook

if TYPE_CHECKING:
    from course_lib.grading.running.classroom import ClassReport

DEMONSTRATION, VARIANTS = MADE_UP
EVERYTHING = "everything"
"""In place of the names of all parts that tests decide."""
_REGION = re.compile(r"^[ \t]*### (BEGIN|END) SOLUTION[ \t]*(\n|$)", re.MULTILINE)
OWNER = '"OWNER"'
"""In a solution or a made-up answer it stands for the id of whoever hands it in."""

_Code = Annotated[str, AfterValidator(lambda text: text.rstrip("\n"))]
_Parts = Annotated[
    frozenset[str], BeforeValidator(lambda entry: {entry} if entry == EVERYTHING else entry)
]


@dataclass(frozen=True, config=STRICT)
class Student:
    """One made-up student, or one way to answer a cell: an entry of a file.

    Attributes:
        name: the student's id.
        cells: cell's grade id -> what stands there in place of the instructor's solution.
        blank: whether nothing else is answered either.
        loses: the graded parts that deserve no points.
        does: what is done, for whoever reads the file.
        files: code that puts files into `folder`, for what is handed in beside the notebook.
        owner: the id the answers are handed in under, if not the name.
        about: the answer cell an entry belongs to that only brings files.
    """

    name: Annotated[str, Field(pattern=r"^[\w -]+$")]
    cells: dict[str, _Code] = Field(default_factory=dict)
    blank: bool = False
    loses: _Parts = Field(kw_only=True)
    does: str = ""
    files: _Code = ""
    owner: str = ""
    about: str = ""

    @property
    def id(self) -> str:
        """Who hands it in."""
        return self.owner or self.name


@dataclass(frozen=True, config=STRICT)
class MadeUp:
    """What stands in a file.

    Attributes:
        students: a class.
        answers: ways to answer single cells; `cell_of` says which cell each is for.
        also: answer cell -> parts further on that hang on it by design.
    """

    students: list[Student] = Field(default_factory=list)
    answers: list[Student] = Field(default_factory=list)
    also: dict[str, frozenset[str]] = Field(default_factory=dict)

    @property
    def all(self) -> list[Student]:
        """Every entry."""
        return self.students + self.answers


def read_class(root: Path, name: str) -> list[Student]:
    """The demonstration class of an assignment.

    Raises:
        CourseError: it has none, or it names a cell or part the assignment does not have.
    """
    return _made_up(root, name, DEMONSTRATION).students


def read_variants(root: Path, name: str) -> MadeUp:
    """The variants of an assignment's answers.

    Raises:
        CourseError: it has none, one answers no cell or several, or one names a cell or part the
            assignment does not have.
    """
    written = _made_up(root, name, VARIANTS)
    path = source_of(root, name).with_name(VARIANTS)
    names = [variant.name for variant in written.answers]
    for variant in written.answers:
        if len(variant.cells) + bool(variant.about) != 1:
            raise CourseError(
                f"{path}: {variant.name} has to answer one cell, under `cells:`. (With nothing but"
                " files, say which cell they are for: 'about: CELL'.)"
            )
        if names.count(variant.name) > 1:
            raise CourseError(f"{path}: there are two entries {variant.name}. Rename one.")
    return written


def cell_of(variant: Student) -> str:
    """The answer cell a variant is for."""
    return variant.about or next(iter(variant.cells))


def _made_up(root: Path, name: str, file: str) -> MadeUp:
    """The entries of a file, held to the cells and parts of its assignment."""
    source = source_of(root, name)
    path, notebook = source.with_name(file), source_notebook(source)
    if (written := read_data(path, MadeUp)) is None:
        raise CourseError(f"{name} has no made-up answers of this kind. Write them in {path}.")
    parts, cells = automatic_parts(notebook).keys(), solution_cells(notebook).keys()

    def check(who: str, named_parts: Set[str], named_cells: Set[str]) -> None:
        if unknown := (named_parts - parts) | (named_cells - cells):
            raise CourseError(
                f"{path}: {who} names {', '.join(sorted(unknown))}, which {name} does not have."
                " Use the grade ids of its cells."
            )

    def resolved(student: Student) -> Student:
        if EVERYTHING in student.loses:
            student = replace(student, loses=frozenset(parts))
        check(student.name, student.loses, {*student.cells, student.about} - {""})
        return student

    check("also", set().union(*written.also.values()), written.also.keys())
    return replace(
        written,
        students=[resolved(one) for one in written.students],
        answers=[resolved(one) for one in written.answers],
    )


def automatic_parts(notebook: NotebookNode) -> dict[str, float]:
    """The parts that tests decide, in order: grade id -> points."""
    return {
        str(grade_id(cell)): float(cell.metadata.nbgrader.points)
        for cell in notebook.cells
        if is_grade(cell) and cell.cell_type == "code"
    }


def answered(student: Student, source: NotebookNode, released: NotebookNode) -> NotebookNode:
    """The notebook this student hands in: the released one with the answers filled in."""
    solutions = solution_cells(source)
    notebook = nbformat.from_dict(released)
    for cell in filter(is_solution, notebook.cells):
        name = str(grade_id(cell))
        if name in student.cells:
            cell.source = student.cells[name]
        elif not student.blank:  # as a student would write it, without marks
            cell.source = _REGION.sub("", solutions[name])
        cell.source = cell.source.replace(OWNER, repr(student.id))
    return notebook


def write_files(student: Student, folder: Path) -> None:
    """Put what a made-up student hands in beside the notebook into `folder`."""
    if student.files:
        code = student.files.replace(OWNER, repr(student.id))
        exec(compile(code, f"<files of {student.name}>", "exec"), {"folder": folder})


def hand_in(root: Path, name: str, released: str, submitted: Path, students: list[Student]) -> None:
    """What each of these made-up students hands in, into `submitted`/STUDENT/NAME/."""
    text = source_of(root, name)
    source = source_notebook(text)
    for student in students:
        folder = submitted / student.name / name
        folder.mkdir(parents=True, exist_ok=True)
        notebook = answered(student, source, nbformat.reads(released, as_version=4))
        nbformat.write(notebook, folder / f"{name}.ipynb")
        if not student.blank:
            copy_files(handed_in(text), folder)
        write_files(student, folder)


def disagreements(result: "ClassReport", declared: list[Student]) -> list[str]:
    """Where the marks of a graded demonstration class are not the declared ones, a line each."""
    lines = []
    reports = {report.student: report for report in result.reports}
    for student in declared:
        marks = reports[student.name].marks
        if not marks:
            why = " ".join(reports[student.name].remarks)
            lines.append(f"{student.name}: nothing is recorded. {why}".rstrip())
        for mark in marks:
            due = 0.0 if mark.part in student.loses else mark.points
            if mark.automatic and mark.score != due:
                lines.append(f"{student.name}, {mark.part}: {mark.score} points, deserves {due:g}.")
    return lines


def solution_cells(notebook: NotebookNode) -> dict[str, str]:
    """The text of a notebook's answer cells: grade id -> source."""
    return {str(grade_id(cell)): cell.source for cell in notebook.cells if is_solution(cell)}
