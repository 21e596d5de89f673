"""Answers made up for trying the grader out: right, plausibly wrong, unlucky and hostile ones.

They are written down beside the assignment's source: in `demonstration.yaml` a class, an entry for
each student; in `variants.yaml` single answers, an entry for each way to answer one cell. An entry
says what is done, the cells that are answered so, and the parts that deserve to be lost. Both stay
out of the package and of the release, like the solutions.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jsonschema
import nbformat
import yaml
from nbformat import NotebookNode

from course_lib.errors import CourseError
from course_lib.grading.sources.marked_cells import grade_id, is_grade, is_solution
from course_lib.grading.sources.project import source_of
from course_lib.grading.sources.release import MADE_UP, copy_files, handed_in, source_notebook

if TYPE_CHECKING:
    from course_lib.grading.running.classroom import ClassReport

DEMONSTRATION, VARIANTS = MADE_UP
_NAMES = {"type": "array", "items": {"type": "string"}}
_ENTRY = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "pattern": r"^[\w-]+$"},
        "does": {"type": "string"},
        "loses": {"anyOf": [{"const": "everything"}, _NAMES]},
        "blank": {"type": "boolean"},
        "cells": {"type": "object", "additionalProperties": {"type": "string"}},
        "files": {"type": "string"},
        "for": {"type": "string"},
        "owner": {"type": "string"},
    },
    "required": ["name", "loses"],
    "additionalProperties": False,
}
_SCHEMA = {
    "type": "object",
    "properties": {
        "students": {"type": "array", "items": _ENTRY},
        "answers": {"type": "array", "items": _ENTRY},
        "also": {"type": "object", "additionalProperties": _NAMES},
    },
    "additionalProperties": False,
}
_REGION = re.compile(r"^[ \t]*### (BEGIN|END) SOLUTION[ \t]*(\n|$)", re.MULTILINE)
OWNER = '"OWNER"'
"""In a solution or a made-up answer it stands for the id of whoever hands it in."""


@dataclass(frozen=True)
class Student:
    """One made-up student.

    Attributes:
        name: the student's id.
        answers: cell's grade id -> what stands there in place of the instructor's solution.
        blank: whether nothing else is answered either.
        loses: the graded parts that deserve no points.
        files: code that puts files into `folder`, for what is handed in beside the notebook.
        owner: the id the answers are handed in under, if not the name.
        about: the answer cell a section belongs to that only brings files.
    """

    name: str
    answers: dict[str, str]
    blank: bool
    loses: frozenset[str]
    files: str = ""
    owner: str = ""
    about: str = ""

    @property
    def id(self) -> str:
        """Who hands it in."""
        return self.owner or self.name


@dataclass(frozen=True)
class Variants:
    """Ways to answer single cells of an assignment.

    Attributes:
        sections: each of them; its `cell_of` says which cell it answers.
        also: answer cell -> parts further on that hang on it by design.
    """

    sections: list[Student]
    also: dict[str, frozenset[str]] = field(default_factory=dict)


def read_class(root: Path, name: str) -> list[Student]:
    """The demonstration class of an assignment.

    Raises:
        CourseError: it has none, or it names a cell or part the assignment does not have.
    """
    source = source_of(root, name)
    path = source.parent / DEMONSTRATION
    if not path.is_file():
        raise CourseError(f"{name} has no demonstration class. Write one in {path}.")
    return _students(path, entries(path).get("students", []), source_notebook(source))


def read_variants(root: Path, name: str) -> Variants:
    """The variants of an assignment's answers.

    Raises:
        CourseError: it has none, one answers no cell or several, or one names a cell or part the
            assignment does not have.
    """
    source = source_of(root, name)
    path = source.parent / VARIANTS
    if not path.is_file():
        raise CourseError(f"{name} has no variants of its answers. Write them in {path}.")
    notebook, written = source_notebook(source), entries(path)
    sections = _students(path, written.get("answers", []), notebook)
    names = [section.name for section in sections]
    for section in sections:
        if len(section.answers) + bool(section.about) != 1:
            raise CourseError(
                f"{path}: {section.name} has to answer one cell, under `cells:`. (With nothing but"
                " files, say which cell they are for: 'for: CELL'.)"
            )
        if names.count(section.name) > 1:
            raise CourseError(f"{path}: there are two entries {section.name}. Rename one.")
    also = {cell: frozenset(parts) for cell, parts in written.get("also", {}).items()}
    unknown = (also.keys() - solution_cells(notebook).keys()) | (
        set().union(*also.values()) - automatic_parts(notebook).keys()
    )
    if unknown:
        raise CourseError(f"{path}: {name} does not have {', '.join(sorted(unknown))}.")
    return Variants(sections, also)


def cell_of(variant: Student) -> str:
    """The answer cell a variant is for."""
    return variant.about or next(iter(variant.answers))


def entries(path: Path) -> dict[str, Any]:
    """What stands in such a file.

    Raises:
        CourseError: it is no YAML, or holds something that nobody would read.
    """
    try:
        written: dict[str, Any] = yaml.safe_load(path.read_text(encoding="utf-8"))
        jsonschema.validate(written, _SCHEMA)
    except yaml.YAMLError as error:
        raise CourseError(f"{path} is no YAML: {' '.join(str(error).split())}.") from error
    except jsonschema.ValidationError as error:
        raise CourseError(f"{path}, {error.json_path}: {error.message}.") from error
    return written


def _students(
    path: Path, written: Iterable[dict[str, Any]], notebook: NotebookNode
) -> list[Student]:
    """The entries of a file, held to the cells and parts of its assignment."""
    automatic, answers = automatic_parts(notebook), solution_cells(notebook)
    students = []
    for entry in written:
        everything = entry["loses"] == "everything"
        student = Student(
            name=entry["name"],
            answers={cell: code.rstrip("\n") for cell, code in entry.get("cells", {}).items()},
            blank=entry.get("blank", False),
            loses=frozenset(automatic if everything else entry["loses"]),
            files=entry.get("files", "").rstrip("\n"),
            owner=entry.get("owner", ""),
            about=entry.get("for", ""),
        )
        cells = {*student.answers, student.about} - {""}
        unknown = (student.loses - automatic.keys()) | (cells - answers.keys())
        if unknown:
            raise CourseError(
                f"{path}: {student.name} names {', '.join(sorted(unknown))}, which"
                f" {path.parent.name} does not have. Use the grade ids of its cells."
            )
        students.append(student)
    return students


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
        if name in student.answers:
            cell.source = student.answers[name]
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


def solution_cells(notebook: NotebookNode) -> dict[str, str]:
    """The text of a notebook's answer cells: grade id -> source."""
    return {str(grade_id(cell)): cell.source for cell in notebook.cells if is_solution(cell)}
