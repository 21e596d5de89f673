"""The grader's own proof: every variant of every answer, run against every test, in seconds.

The cells run here, without kernels. All variants of one cell share the cells before it: a process
runs the instructor's solution from the top, and at each answer cell it forks a child for every
variant of that cell, which runs the notebook to its end and reports which parts it lost. So what a
variant does, to the interpreter as well, concerns nobody else. A slow test hands the same variants
in as a class, where tests run outside the students' boxes, and compares the marks.

`python -m experiments.proof NAME` prints its result, as JSON.
"""

import gc
import io
import json
import os
import shutil
import signal
import sys
import tempfile
from collections.abc import Container
from contextlib import redirect_stdout
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

import nbformat
import torch
from nbformat import NotebookNode

from course_lib.assignments import agent, inspection, owner
from course_lib.files import copy_files
from course_lib.grading.authoring.demonstration import (
    Student,
    answered,
    automatic_parts,
    cell_of,
    read_variants,
    solution_cells,
    write_files,
)
from course_lib.grading.running.execution import visible_imports
from course_lib.grading.runs import comparison
from course_lib.grading.sources.marked_cells import grade_id, is_grade, is_solution
from course_lib.grading.sources.project import project_root, source_of
from course_lib.grading.sources.release import data_files, handed_in, source_notebook
from experiments.contentless import contentless

SECONDS = 60
"""Of a processor's time; after that a child is ended. Ten times as much if it sleeps."""

REFERENCE = Student("reference", loses=frozenset())

Lost = dict[str, str]
"""Graded parts that were lost, each with the message."""


def new_namespace() -> dict[str, Any]:
    """What a notebook's first cell finds."""
    return {"__name__": "__main__", "display": lambda *_, **__: None}


def _inspect(name: str, folder: Path, student: str) -> None:
    """Judge trained models of our own in this process, where the assignment has some."""
    if name == inspection.ASSIGNMENT:
        report = comparison.inspect(folder, student)
        (folder / inspection.FILE).write_text(json.dumps(report), encoding="utf-8")


def execute(cell: NotebookNode, namespace: dict[str, Any]) -> str | None:
    """Run one cell, if it is code; the exception it ends with, in a line, or None.

    As in the grader, a test runs beside the student's names, and only what its visible part imports
    is there for the cells that follow.
    """
    if cell.cell_type != "code":
        return None
    test = is_grade(cell) and not is_solution(cell)
    names = dict(namespace) if test else namespace
    try:
        exec(compile(cell.source, f"<{grade_id(cell) or 'cell'}>", "exec"), names)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    if test:
        agent.lend(visible_imports(cell.source), namespace)
    return None


def belonging(notebook: NotebookNode) -> dict[str, list[str]]:
    """Answer cell -> the parts that tests decide on it: those up to the next answer cell."""
    parts: dict[str, list[str]] = {}
    for cell in notebook.cells:
        name = str(grade_id(cell))
        if cell.cell_type == "code" and is_solution(cell):
            parts[name] = []
        elif cell.cell_type == "code" and is_grade(cell):
            parts[list(parts)[-1]].append(name)
    return {cell: own for cell, own in parts.items() if own}


class Way(NamedTuple):
    """One way to hand in.

    Attributes:
        student: what is answered, and what lies beside it.
        cell: the answer cell it is about, if it is about one.
        kind: "complete", "blank", "one answer", "one gap", "right" or "wrong".
    """

    student: Student
    cell: str
    kind: str


def ways(root: Path, name: str) -> list[Way]:
    """All ways of handing in an assignment that are tried.

    They are its variants; besides them "reference", "blank", and for every answer cell "only CELL"
    (nothing else is answered, but for cells it hangs on by design) and "without CELL" (everything
    else is).
    """
    variants = read_variants(root, name)
    released = nbformat.read(root / "exercises" / name / f"{name}.ipynb", as_version=4)
    stubs = solution_cells(released)
    parts = belonging(source_notebook(source_of(root, name)))

    def answering(way: str, given: Container[str]) -> Student:
        left = {cell: stub for cell, stub in stubs.items() if cell not in given}
        return Student(way, left, loses=frozenset())

    listed = [Way(REFERENCE, "", "complete"), Way(answering("blank", ()), "", "blank")]
    for cell, own in parts.items():
        above = [needed for needed, hanging in variants.also.items() if hanging & {*own}]
        listed.append(Way(answering(f"only {cell}", {cell, *above}), cell, "one answer"))
    for cell in parts:
        student = answering(f"without {cell}", stubs.keys() - {cell})
        listed.append(Way(student, cell, "one gap"))
    for cell in parts:
        listed += [
            Way(variant, cell, "wrong" if variant.loses else "right")
            for variant in variants.answers
            if cell_of(variant) == cell
        ]
    return listed


def prove(root: Path, name: str) -> dict[str, Lost]:
    """What each way of handing in an assignment loses, by its name.

    With them are tried the answers without content, "CELL FILLING".
    """
    source = source_of(root, name)
    parts = belonging(source_notebook(source))
    students = [(way.student, "") for way in ways(root, name)]
    for cell, own in parts.items():  # beyond its own parts nobody looks
        students += [(student, own[-1]) for student in contentless(root, name, cell)]
    with tempfile.TemporaryDirectory(prefix="proof-") as folder:
        runner = _Runner(name, source_notebook(source), Path(folder))
        copy_files(data_files(source) | handed_in(source), runner.work)
        return runner.go(students)


def table(root: Path, name: str, lost: dict[str, Lost]) -> dict[str, Any]:
    """What `prove` returns, in a form to be recorded: the parts, and a row for each way to hand in.

    A row has the way's name, the answer cell it is about, its kind and the parts it lost, in the
    assignment's order.
    """
    notebook = source_notebook(source_of(root, name))
    points = automatic_parts(notebook)
    return {
        "parts": [
            {"part": part, "cell": cell, "points": points[part]}
            for cell, own in belonging(notebook).items()
            for part in own
        ],
        "rows": [
            {
                "name": way.student.name,
                "cell": way.cell,
                "kind": way.kind,
                "lost": list(lost[way.student.name]),
            }
            for way in ways(root, name)
        ],
    }


class _Runner:
    """The process that runs the solution, its children, and the files they report in."""

    def __init__(self, name: str, source: NotebookNode, folder: Path) -> None:
        self.name = name
        self.source = source
        self.work, self.reports = folder / "work", folder / "reports"
        self.work.mkdir()
        self.reports.mkdir()
        self.children: set[int] = set()
        self.started: dict[str, list[str]] = {}

    def go(self, students: list[tuple[Student, str]]) -> dict[str, Lost]:
        """Run everything, as many at a time as there are cores.

        Beside a student stands the part after which no more cells are run, if it is not the last.

        A child is forked where its student's notebook first differs from the reference's; at the
        top, if other files or another name come with it.

        Returns what the children reported, in the order they were started in.
        """
        torch.set_num_threads(1)  # a process with several threads must not be forked
        os.chdir(self.work)
        (self.work / owner.FILE).write_text(REFERENCE.id)
        _inspect(self.name, self.work, REFERENCE.id)
        cells, namespace = answered(REFERENCE, self.source, self.source).cells, new_namespace()
        waiting = [self._placed(student, cells, last) for student, last in students]
        for place, cell in enumerate(cells):
            for first, student, own in waiting:
                if first == place:
                    self._fork(student, own[place:], namespace)
            with redirect_stdout(io.StringIO()):  # what the notebook prints is no part of the proof
                execute(cell, namespace)
        while self.children:
            self._wait()
        return {name: self._reported(name, parts) for name, parts in self.started.items()}

    def _placed(
        self, student: Student, cells: list[NotebookNode], last: str
    ) -> tuple[int, Student, list[NotebookNode]]:
        """Where a student's notebook begins to be another, the student, and the notebook."""
        student = replace(student, owner=student.owner or REFERENCE.id)
        own = answered(student, self.source, self.source).cells
        same = [one.source == other.source for one, other in zip(own, cells, strict=True)]
        first = 0 if _brings_more(student) or all(same) else same.index(False)
        end = next((i for i, cell in enumerate(own, 1) if last and grade_id(cell) == last), None)
        return first, student, own[:end]

    def _reported(self, name: str, parts: list[str]) -> Lost:
        """Which of the parts a child was to run it says are lost, or did not live to run."""
        messages = dict.fromkeys(parts, "Ended: the process did not live to run this.")
        messages |= map(json.loads, (self.reports / name).read_text().splitlines())
        return {part: text for part, text in messages.items() if text is not None}

    def _fork(self, student: Student, cells: list[NotebookNode], namespace: dict[str, Any]) -> None:
        while len(self.children) >= (os.cpu_count() or 1):
            self._wait()
        self.started[student.name] = [part for cell in cells if (part := _part_id(cell))]
        child = os.fork()
        if not child:
            self._run(student, cells, namespace)
        self.children.add(child)

    def _run(
        self, student: Student, cells: list[NotebookNode], namespace: dict[str, Any]
    ) -> NoReturn:
        """The child's whole life."""
        gc.disable()  # it would touch, and so copy, all that is shared with the parent
        # their default action ends the process, whatever runs
        signal.setitimer(signal.ITIMER_PROF, SECONDS)
        signal.alarm(10 * SECONDS)
        quiet = os.open(os.devnull, os.O_WRONLY)
        report = os.open(self.reports / student.name, os.O_WRONLY | os.O_CREAT)
        os.dup2(quiet, 1)
        os.dup2(quiet, 2)
        if _brings_more(student):
            folder = Path(tempfile.mkdtemp(dir=self.reports.parent))
            shutil.copytree(self.work, folder, dirs_exist_ok=True)
            os.chdir(folder)
            (folder / owner.FILE).write_text(student.id)
            write_files(student, folder)
            _inspect(self.name, folder, student.id)
        agent.restrict_imports(self.name)
        for cell in cells:
            message = execute(cell, namespace)
            if part := _part_id(cell):
                # at once: the child may end at any moment
                os.write(report, json.dumps([part, message]).encode() + b"\n")
        os._exit(0)

    def _wait(self) -> None:
        self.children.discard(os.wait()[0])


def _brings_more(student: Student) -> bool:
    """Whether other files than the reference's come along, or another name."""
    return bool(student.files) or student.id != REFERENCE.id


def _part_id(cell: NotebookNode) -> str | None:
    return grade_id(cell) if is_grade(cell) and cell.cell_type == "code" else None


if __name__ == "__main__":
    course = project_root()  # before a proof changes the current folder
    print(json.dumps({name: prove(course, name) for name in sys.argv[1:]}, indent=1))
