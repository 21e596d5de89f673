"""What a student runs before handing in: the tests that stand in the notebook."""

import re
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import nbformat
from jupyter_client.kernelspec import NoSuchKernel
from nbclient.exceptions import DeadKernelError
from nbconvert.filters import strip_ansi
from nbformat import NotebookNode
from nbgrader.preprocessors import ClearOutput
from nbgrader.utils import compute_checksum, determine_grade, is_grade, is_locked, is_solution

from course_lib.assignments.checks import SECONDS
from course_lib.errors import CourseError
from course_lib.grading.running.execution import ENDINGS, ContainedExecute
from course_lib.grading.running.judging import Judge
from course_lib.grading.running.scratch import scratch_folder
from course_lib.grading.sources.project import nbgrader_messages

TOGETHER = "together"
"""The grade id of an assignment's last cell, which lets all of a student's functions work."""


@dataclass(frozen=True)
class PartResult:
    """One graded part of a student's notebook.

    Attributes:
        part: the part's name, as the test cell gives it.
        passed: whether the visible tests pass; None for what no test decides.
        message: what to look at, where something is.
    """

    part: str
    passed: bool | None
    message: str


def validate(path: Path) -> list[PartResult]:
    """Run a notebook as the grader will, in this environment, and judge its visible tests.

    Raises:
        CourseError: it is no notebook of this course, or it could not be run.
    """
    notebook = _read(path)
    changed = {
        cell.metadata.nbgrader.grade_id
        for cell in notebook.cells
        if is_locked(cell) and cell.metadata.nbgrader.get("checksum") != compute_checksum(cell)
    }
    with nbgrader_messages():
        notebook, resources = ClearOutput().preprocess(notebook, {})
        resources = {"metadata": {"path": str(path.resolve().parent)}}
        try:
            with scratch_folder() as folder, closing(Judge(folder, path.resolve().parent)) as judge:
                notebook, _ = ContainedExecute(
                    judge,
                    path.stem,
                    kernel_name="python3",
                    timeout=SECONDS,
                    shutdown_kernel="immediate",
                    extra_arguments=["--log-level=ERROR"],
                ).preprocess(notebook, resources)
        except (NoSuchKernel, DeadKernelError, RuntimeError, OSError) as error:
            raise CourseError(
                f"{path.name} could not be run: Python's kernel did not start ({error})."
                " Reinstall the course's environment: `pip install -e '.[classes]'`."
            ) from error
        found = [_judge(cell, changed) for cell in notebook.cells if is_grade(cell)]
        return found + [shown for cell in notebook.cells if (shown := _together(cell))]


def _judge(cell: NotebookNode, changed: set[str]) -> PartResult:
    part = _title(cell)
    if is_solution(cell):
        untouched = cell.metadata.nbgrader.get("checksum") == compute_checksum(cell)
        return PartResult(part, None, "still to be written" if untouched else "a person reads this")
    if cell.metadata.nbgrader.grade_id in changed:
        return PartResult(
            part,
            False,
            "The test itself has been changed. The grader uses the original: copy it back from"
            " the notebook you were given.",
        )
    score, points = determine_grade(cell)
    if score is not None and score >= points:
        return PartResult(part, True, "")
    return PartResult(part, False, _message(cell))


def _together(cell: NotebookNode) -> PartResult | None:
    """What a student's own pieces do together, as the last cell shows it; nothing is decided."""
    if cell.metadata.get("nbgrader", {}).get("grade_id") != TOGETHER:
        return None
    lines = [
        line
        for output in cell.get("outputs", [])
        for line in str(output.get("text", output.get("evalue", ""))).splitlines()
    ]
    return PartResult("Put it together", None, "\n        ".join(["", *lines]))


def _title(cell: NotebookNode) -> str:
    """The test cell's first line, a comment; for anything else the grade id."""
    first = cell.source.split("\n")[0]
    if cell.cell_type == "code" and first.startswith("#"):
        return first.lstrip("# ")
    return f"The text {cell.metadata.nbgrader.grade_id!r}"


def _message(cell: NotebookNode) -> str:
    for output in cell.outputs:
        if output.output_type == "error":
            if output.ename == "Refused" or output.ename in ENDINGS:
                return str(output.evalue)
            if output.ename == "CellTimeoutError":
                return f"It did not come to an end within {SECONDS} seconds."
            if output.ename == "NameError":
                return f"{output.evalue}. Run the whole notebook: did an earlier cell fail?"
            return f"{output.ename}: {strip_ansi(output.evalue)}"
    return "It did not pass."


def _read(path: Path) -> NotebookNode:
    if not path.is_file():
        raise CourseError(f"There is no file {path}. Give the notebook's path.")
    try:
        notebook = nbformat.read(path, as_version=4)
        nbformat.validate(notebook)
    except (nbformat.reader.NotJSONError, nbformat.ValidationError, ValueError) as error:
        kind = re.sub(r"\s+", " ", str(error))[:80]
        raise CourseError(
            f"{path} is not a notebook ({kind}). Give an .ipynb file saved by Jupyter."
        ) from error
    if not any(is_grade(cell) for cell in notebook.cells):
        raise CourseError(
            f"{path} has no graded parts. Start from the notebook in the course's exercises folder."
        )
    return notebook
