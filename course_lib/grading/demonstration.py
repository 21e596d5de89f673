"""A class made up for trying the grader out: right, plausibly wrong, unlucky and hostile answers.

It is written down beside the assignment's source, in `demonstration.md`: a section for each
student, with what they do, the cells they answer in their own way, and the parts they deserve to
lose. It stays out of the package and of the release, like the solutions.
"""

import re
from dataclasses import dataclass
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from course_lib.errors import CourseError
from course_lib.grading.classroom import ClassReport
from course_lib.grading.project import source_of
from course_lib.grading.release import source_notebook

_SECTION = re.compile(
    r"^## (?P<student>[\w-]+)\n(?P<body>.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL
)
_LOSES = re.compile(r"^Loses: (?P<parts>.*?)\.$", re.MULTILINE | re.DOTALL)
_CELL = re.compile(r"^```python (?P<cell>\w+)\n(?P<code>.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Student:
    """One made-up student.

    Attributes:
        name: the student's id.
        answers: cell's grade id -> what stands there in place of the instructor's solution.
        blank: whether nothing else is answered either.
        loses: the graded parts that deserve no points.
    """

    name: str
    answers: dict[str, str]
    blank: bool
    loses: frozenset[str]


def read_class(root: Path, name: str) -> list[Student]:
    """The demonstration class of an assignment.

    Raises:
        CourseError: it has none, or it names a cell or part the assignment does not have.
    """
    source = source_of(root, name)
    path = source.parent / "demonstration.md"
    if not path.is_file():
        raise CourseError(f"{name} has no demonstration class. Write one in {path}.")
    notebook = source_notebook(source)
    automatic, answers = automatic_parts(notebook), _cells(notebook, "solution")
    students = []
    for section in _SECTION.finditer(path.read_text(encoding="utf-8")):
        body = section["body"]
        said = _LOSES.search(body)
        if said is None:
            raise CourseError(f"{path}: {section['student']} has no line 'Loses: parts.'. Add one.")
        parts = said["parts"].replace("\n", " ")
        loses = {"nothing": set[str](), "everything": set(automatic)}.get(
            parts, set(re.split(r",\s*", parts))
        )
        cells = {match["cell"]: match["code"].rstrip("\n") for match in _CELL.finditer(body)}
        unknown = (loses - set(automatic)) | (cells.keys() - answers.keys())
        if unknown:
            raise CourseError(
                f"{path}: {section['student']} names {', '.join(sorted(unknown))}, which"
                f" {name} does not have. Use the grade ids of its cells."
            )
        blank = "\nBlank otherwise.\n" in body
        students.append(Student(section["student"], cells, blank, frozenset(loses)))
    return students


def automatic_parts(notebook: NotebookNode) -> dict[str, float]:
    """The parts that tests decide, in order: grade id -> points."""
    return {
        cell.metadata.nbgrader.grade_id: float(cell.metadata.nbgrader.points)
        for cell in notebook.cells
        if cell.metadata.get("nbgrader", {}).get("grade") and cell.cell_type == "code"
    }


def answered(student: Student, source: NotebookNode, released: NotebookNode) -> NotebookNode:
    """The notebook this student hands in: the released one with the answers filled in."""
    solutions = _cells(source, "solution")
    notebook = nbformat.from_dict(released)
    for cell in notebook.cells:
        metadata = cell.metadata.get("nbgrader", {})
        if not metadata.get("solution"):
            continue
        grade_id = metadata["grade_id"]
        if grade_id in student.answers:
            cell.source = student.answers[grade_id]
        elif not student.blank:
            cell.source = "\n".join(
                line
                for line in solutions[grade_id].split("\n")
                if "### BEGIN SOLUTION" not in line and "### END SOLUTION" not in line
            )
    return notebook


def write_class(root: Path, name: str, released: str, submitted: Path) -> list[Student]:
    """Hand in for everybody: `submitted`/STUDENT/NAME/NAME.ipynb."""
    source = source_notebook(source_of(root, name))
    students = read_class(root, name)
    for student in students:
        folder = submitted / student.name / name
        folder.mkdir(parents=True, exist_ok=True)
        notebook = answered(student, source, nbformat.reads(released, as_version=4))
        nbformat.write(notebook, folder / f"{name}.ipynb")
    return students


def disagreements(result: ClassReport, declared: list[Student]) -> list[str]:
    """Where the marks of a graded demonstration class are not the declared ones, a line each."""
    lines = []
    reports = {report.student: report for report in result.reports}
    for student in declared:
        for mark in reports[student.name].marks:
            if not mark.automatic:
                continue
            deserved = 0.0 if mark.part in student.loses else mark.points
            if mark.score != deserved:
                lines.append(
                    f"{student.name}, {mark.part}: {mark.score} points, deserves {deserved:g}."
                )
        if not reports[student.name].marks:
            lines.append(f"{student.name}: nothing is recorded.")
    return lines


def _cells(notebook: NotebookNode, kind: str) -> dict[str, str]:
    return {
        cell.metadata.nbgrader.grade_id: cell.source
        for cell in notebook.cells
        if cell.metadata.get("nbgrader", {}).get(kind)
    }
