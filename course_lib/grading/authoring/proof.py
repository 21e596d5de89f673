"""The grader's own proof: every variant of every answer, run against every test, in seconds.

The cells run here, without kernels. All variants of one cell share the cells before it: a process
runs the instructor's solution from the top, and at each answer cell it forks a child for every
variant of that cell, which runs the notebook to its end and reports which parts it lost. So what a
variant does, to the interpreter as well, concerns nobody else.

`python -m course_lib.grading.authoring.proof NAME` prints its result, as JSON.
"""

import gc
import io
import json
import os
import shutil
import signal
import sys
import tempfile
from collections.abc import Iterator
from contextlib import redirect_stdout
from dataclasses import replace
from pathlib import Path
from typing import Any, NoReturn

import nbformat
import torch
from nbformat import NotebookNode

from course_lib.assignments import agent, owner
from course_lib.grading.authoring.demonstration import (
    Student,
    Variants,
    answered,
    automatic_parts,
    cell_of,
    read_variants,
    write_files,
)
from course_lib.grading.running.execution import visible_names
from course_lib.grading.runs import boxed_inspection
from course_lib.grading.sources.marked_cells import grade_id, is_grade, is_solution
from course_lib.grading.sources.project import project_root, source_of
from course_lib.grading.sources.release import data_files, handed_in, source_notebook

SECONDS = 60
"""Of a processor's time; after that a child is ended. Ten times as much if it sleeps."""

REFERENCE = Student("reference", {}, False, frozenset())

Lost = dict[str, str]
"""Graded parts that were lost, each with the message."""


def new_namespace() -> dict[str, Any]:
    """What a notebook's first cell finds."""
    return {"__name__": "__main__", "display": lambda *_, **__: None}


def execute(cell: NotebookNode, namespace: dict[str, Any]) -> str | None:
    """Run one cell, if it is code; the exception it ends with, in a line, or None.

    As in the grader, a test runs beside the student's names, and only what its visible part names
    is there for the cells that follow.
    """
    if cell.cell_type != "code":
        return None
    metadata = cell.metadata.get("nbgrader", {})
    test = metadata.get("grade") and not metadata.get("solution")
    names = dict(namespace) if test else namespace
    try:
        exec(compile(cell.source, f"<{metadata.get('grade_id', 'cell')}>", "exec"), names)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    if test:
        shared = visible_names(cell.source)
        namespace.update({name: names[name] for name in shared if name in names})
    return None


def belonging(notebook: NotebookNode) -> dict[str, list[str]]:
    """Answer cell -> the parts that tests decide on it: those up to the next answer cell."""
    parts: dict[str, list[str]] = {}
    for cell in notebook.cells:
        metadata = cell.metadata.get("nbgrader", {})
        if cell.cell_type != "code":
            continue
        if metadata.get("solution"):
            parts[metadata["grade_id"]] = []
        elif metadata.get("grade"):
            parts[list(parts)[-1]].append(metadata["grade_id"])
    return {cell: own for cell, own in parts.items() if own}


def prove(root: Path, name: str) -> dict[str, Lost]:
    """What each way of handing in an assignment loses.

    The names are those of the variants; besides them "reference", "blank", and for every answer
    cell "only CELL" (nothing else is answered, but for cells it hangs on by design) and "without
    CELL" (everything else is).
    """
    variants = read_variants(root, name)
    source = source_notebook(source_of(root, name))
    released = root / "exercises" / name / f"{name}.ipynb"
    with tempfile.TemporaryDirectory(prefix="proof-") as folder:
        runner = _Runner(name, source, nbformat.read(released, as_version=4), Path(folder))
        text = source_of(root, name)
        for given, path in {**data_files(text), **handed_in(text)}.items():
            target = runner.work / given
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, target)
        runner.go(variants)
        return runner.results()


def table(root: Path, name: str, lost: dict[str, Lost]) -> dict[str, Any]:
    """What `prove` returns, in a form to be recorded: the parts, and a row for each way to hand in.

    A row has its name, the answer cell it is about, its kind ("complete", "blank", "one answer",
    "one gap", "right", "wrong") and the parts it lost, in the assignment's order.
    """
    notebook = source_notebook(source_of(root, name))
    points, parts = automatic_parts(notebook), belonging(notebook)
    rows = [("reference", "", "complete"), ("blank", "", "blank")]
    rows += [(f"only {cell}", cell, "one answer") for cell in parts]
    rows += [(f"without {cell}", cell, "one gap") for cell in parts]
    for cell in parts:
        rows += [
            (variant.name, cell, "wrong" if variant.loses else "right")
            for variant in read_variants(root, name).sections
            if cell_of(variant) == cell
        ]
    return {
        "parts": [
            {"part": part, "cell": cell, "points": points[part]}
            for cell, own in parts.items()
            for part in own
        ],
        "rows": [
            {"name": way, "cell": cell, "kind": kind, "lost": list(lost[way])}
            for way, cell, kind in rows
        ],
    }


class _Runner:
    """The process that runs the solution, its children, and the files they report in."""

    def __init__(
        self, name: str, source: NotebookNode, released: NotebookNode, folder: Path
    ) -> None:
        self.name = name
        self.source = source
        self.stubs = _stubs(released)
        self.work, self.reports = folder / "work", folder / "reports"
        self.work.mkdir()
        self.reports.mkdir()
        self.children: dict[int, str] = {}
        self.started: dict[str, list[str]] = {}

    def go(self, variants: Variants) -> None:
        """Run everything, as many at a time as there are cores."""
        torch.set_num_threads(1)  # a process with several threads must not be forked
        os.chdir(self.work)
        (self.work / owner.FILE).write_text(REFERENCE.id)
        boxed_inspection.inspect_here(self.name, self.work, REFERENCE.id)
        cells = answered(REFERENCE, self.source, self.source).cells
        namespace = new_namespace()
        self._fork(REFERENCE.name, cells, namespace)
        for variant in variants.sections:
            if variant.files or variant.owner:
                student = variant if variant.owner else replace(variant, owner=REFERENCE.id)
                own = answered(student, self.source, self.source).cells
                self._fork(variant.name, own, namespace, student)
        first = next(place for place, cell in enumerate(cells) if _solution_id(cell))
        for place, cell in enumerate(cells):
            if place == first:
                self._little_answered(variants, cells[first:], namespace)
            self._at(cell, cells[place + 1 :], variants, namespace)
            with redirect_stdout(io.StringIO()):  # what the notebook prints is no part of the proof
                execute(cell, namespace)
        while self.children:
            self._wait()

    def _little_answered(
        self, variants: Variants, cells: list[NotebookNode], namespace: dict[str, Any]
    ) -> None:
        """From the first answer on: none is given, and each by itself."""
        self._fork("blank", _filled(cells, self.stubs), namespace)
        answers = {name: cell.source for cell in cells if (name := _solution_id(cell))}
        for answer, own in belonging(self.source).items():
            above = {cell for cell, hanging in variants.also.items() if hanging & {*own}}
            given = {cell: answers[cell] for cell in (*above, answer)}
            self._fork(f"only {answer}", _filled(cells, {**self.stubs, **given}), namespace)

    def _at(
        self,
        cell: NotebookNode,
        rest: list[NotebookNode],
        variants: Variants,
        namespace: dict[str, Any],
    ) -> None:
        """What can stand in an answer's place, where all before it is the reference's."""
        grade_id = _solution_id(cell)
        if grade_id not in belonging(self.source):
            return
        self._fork(f"without {grade_id}", [_with(cell, self.stubs[grade_id]), *rest], namespace)
        for variant in variants.sections:
            if cell_of(variant) == grade_id and not (variant.files or variant.owner):
                student = replace(variant, owner=REFERENCE.id)
                [changed] = answered(student, self.source, NotebookNode(cells=[cell])).cells
                self._fork(variant.name, [changed, *rest], namespace)

    def results(self) -> dict[str, Lost]:
        """What the children reported, in the order they were started in."""
        lost = {}
        for name, parts in self.started.items():
            lines = (self.reports / name).read_text().splitlines()
            reported = dict(map(json.loads, lines))
            ended = "Ended: the process did not live to run this."
            messages = {part: reported.get(part, ended) for part in parts}
            lost[name] = {part: text for part, text in messages.items() if text is not None}
        return lost

    def _fork(
        self,
        name: str,
        cells: list[NotebookNode],
        namespace: dict[str, Any],
        student: Student | None = None,
    ) -> None:
        while len(self.children) >= (os.cpu_count() or 1):
            self._wait()
        self.started[name] = [part for cell in cells if (part := _part_id(cell))]
        child = os.fork()
        if child:
            self.children[child] = name
        else:
            self._run(name, cells, namespace, student)

    def _run(
        self,
        name: str,
        cells: list[NotebookNode],
        namespace: dict[str, Any],
        student: Student | None,
    ) -> NoReturn:
        """The child's whole life."""
        gc.disable()  # it would touch, and so copy, all that is shared with the parent
        # their default action ends the process, whatever runs
        signal.setitimer(signal.ITIMER_PROF, SECONDS)
        signal.alarm(10 * SECONDS)
        quiet = os.open(os.devnull, os.O_WRONLY)
        report = os.open(self.reports / name, os.O_WRONLY | os.O_CREAT)
        errors = os.open(self.reports / f"{name}.stderr", os.O_RDWR | os.O_CREAT)
        os.dup2(quiet, 1)
        os.dup2(errors, 2)
        if student is not None:
            folder = Path(tempfile.mkdtemp(dir=self.reports.parent))
            shutil.copytree(self.work, folder, dirs_exist_ok=True)
            os.chdir(folder)
            (folder / owner.FILE).write_text(student.id)
            write_files(student, folder)
            boxed_inspection.inspect_here(self.name, folder, student.id)
        agent.close(self.name)
        for cell in cells:
            before = _size(errors)
            message = execute(cell, namespace)
            part = _part_id(cell)
            if part is None:
                continue
            if name == REFERENCE.name and _size(errors) > before:
                warning = os.pread(errors, 200, before).decode(errors="replace")
                message = f"Warned: it wrote on stderr: {warning}"  # plain nbgrader would give 0
            # at once: the child may end at any moment
            os.write(report, json.dumps([part, message]).encode() + b"\n")
        os._exit(0)

    def _wait(self) -> None:
        child, _ = os.wait()
        self.children.pop(child, None)


def _size(file: int) -> int:
    for stream in (sys.stderr, sys.__stderr__):
        if stream is not None:
            stream.flush()
    return os.fstat(file).st_size


def _stubs(released: NotebookNode) -> dict[str, str]:
    return {name: cell.source for cell in released.cells if (name := _solution_id(cell))}


def _filled(cells: list[NotebookNode], sources: dict[str, str]) -> list[NotebookNode]:
    return [_with(cell, sources[name]) if (name := _solution_id(cell)) else cell for cell in cells]


def _with(cell: NotebookNode, source: str) -> NotebookNode:
    return NotebookNode({**cell, "source": source})


def _solution_id(cell: NotebookNode) -> str | None:
    return grade_id(cell) if is_solution(cell) else None


def _part_id(cell: NotebookNode) -> str | None:
    return grade_id(cell) if is_grade(cell) and cell.cell_type == "code" else None


def main(names: list[str]) -> Iterator[tuple[str, dict[str, Lost]]]:
    """Prove these assignments, of the course in or above this folder."""
    root = project_root()
    for name in names:
        yield name, prove(root, name)


if __name__ == "__main__":
    print(json.dumps(dict(main(sys.argv[1:])), indent=1))
