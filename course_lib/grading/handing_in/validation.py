"""What a student runs before handing in, on any system: the tests that stand in the notebook.

Nothing here asks for nbgrader, or for what only Linux has.
"""

import logging
import re
import tempfile
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from jupyter_client.kernelspec import NoSuchKernel
from nbclient.exceptions import DeadKernelError
from nbformat import NotebookNode

from course_lib.assignments import opened
from course_lib.assignments.checks import SECONDS
from course_lib.errors import CourseError
from course_lib.files import copy_files
from course_lib.grading.handing_in.packing import belonging, files_beside
from course_lib.grading.intake.notebooks import MOST_CELLS, Unfit, read_notebook
from course_lib.grading.running.execution import AGENT, ENDINGS, TIMED_OUT, ContainedExecute
from course_lib.grading.running.judge import Judge
from course_lib.grading.sources.marked_cells import (
    checksum,
    comment,
    grade_id,
    is_grade,
    is_solution,
)

TOGETHER = "together"
"""The grade id of an assignment's cell that lets all of a student's functions work."""

_nobody = logging.getLogger(f"{__name__}.nobody")
_nobody.disabled = True  # what nbclient says of a kernel that ended stands in the results


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


class _Run(ContainedExecute):
    """The grader's, with the whole library there for the cell that puts all together."""

    def _ran(self, cell: NotebookNode, index: int) -> list[NotebookNode]:
        if grade_id(cell) != TOGETHER:
            return super()._ran(cell, index)
        self._run(f"{AGENT}.reopen()", index, history=False)
        outputs = super()._ran(cell, index)
        self._run(f"{AGENT}.restrict_imports({self._assignment!r})", index, history=False)
        return outputs


def validate_notebook(path: Path) -> list[PartResult]:
    """Run a notebook as the grader will, in this environment, and judge its visible tests.

    It runs in a folder with what the grader will have beside it, and no more.

    Raises:
        CourseError: it is no notebook of this course, or it could not be run.
    """
    notebook, noticed = _read(path)
    with (
        # a kernel that is about to end may still hold what lies there
        tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder,
        closing(Judge(Path(folder), beside := _laid_out(path, Path(folder)))) as judge,
    ):
        run = _Run(
            judge,
            path.stem,
            kernel_name="python3",
            timeout=SECONDS,
            shutdown_kernel="immediate",
            extra_arguments=["--log-level=ERROR", "--InteractiveShellApp.ignore_cwd=True"],
            log=_nobody,
        )
        try:
            notebook, _ = run.preprocess(notebook, {"metadata": {"path": str(beside)}})
        except (NoSuchKernel, DeadKernelError, RuntimeError, OSError) as error:
            raise CourseError(
                f"{path.name} could not be run: Python's kernel did not start ({error})."
                " Install it where the course is: `python -m pip install ipykernel`."
            ) from error
    if run.starved:
        busy = "was busy with other things while a cell was stopped. Run it again when it is not."
        noticed.append(PartResult("This machine", None, busy))
    below = [(cell, notebook.cells[place + 1 :]) for place, cell in enumerate(notebook.cells)]
    return (
        noticed
        + [one for cell, later in below if (one := _stopped(cell, later))]
        + [_judge(cell, later) for cell, later in below if is_grade(cell)]
        + [shown for cell in notebook.cells if (shown := _together(cell))]
    )


def _laid_out(notebook: Path, folder: Path) -> Path:
    """A folder with copies of the files that the grader will find beside a notebook."""
    name, work = notebook.stem, folder / "work"
    copy_files(files_beside(notebook, opened.given(name)) | belonging(notebook, name), work)
    return work


def _stopped(cell: NotebookNode, below: list[NotebookNode]) -> PartResult | None:
    """What a student's own cell stopped with: whatever is missing further down is missing since."""
    errors = [one for one in cell.get("outputs", []) if one.output_type == "error"]
    if not errors or (is_grade(cell) and not is_solution(cell)):
        return None
    [error] = errors[:1]
    place = re.search(r"Cell In\[\d+\], line (\d+)", "\n".join(error.traceback))
    line = f" in line {place[1]}" if place else ""
    first = cell.source.strip().split("\n", 1)[0]
    name = grade_id(cell) or f"that begins with `{first[:40]}`"
    if error.ename in ENDINGS:
        text = _message(error, below)
    else:
        text = f"{error.ename}: {error.evalue}{_made_below(error, below)}"
    return PartResult(f"The cell {name}", None, f"stopped{line} with {text}")


def _made_below(error: NotebookNode, below: list[NotebookNode]) -> str:
    """Whoever ran the cells in another order may use a name above the cell that makes it.

    Only cells that a student writes in count: nobody is sent to a test for an import. The name is
    to be made further up, not the cell moved, for the grader puts an answer's cell back.
    """
    found = re.match(r"name '(\w+)' is not defined", error.evalue)
    if not found:
        return ""
    name = found[1]
    made = rf"^(?:(?:def|class) {name}\b|{name}\s*=[^=]|(?:from .+ )?import .*\b{name}\b)"
    written = [one.source for one in below if not grade_id(one) or is_solution(one)]
    if not any(re.search(made, source, re.M) for source in written):
        return ""
    return (
        f". `{name}` is made in a cell further down, and the grader begins at the top: make it"
        " above this one."
    )


def _judge(cell: NotebookNode, below: list[NotebookNode]) -> PartResult:
    part = comment(cell) or f"The text {grade_id(cell)!r}"
    untouched = cell.metadata.nbgrader.get("checksum") == checksum(cell)
    if is_solution(cell):
        return PartResult(part, None, "still to be written" if untouched else "a person reads this")
    if not untouched:
        return PartResult(
            part,
            False,
            "The test itself has been changed. The grader uses the original: copy it back from"
            " the notebook you were given.",
        )
    errors = [output for output in cell.get("outputs", []) if output.output_type == "error"]
    return PartResult(part, not errors, _message(errors[0], below) if errors else "")


def _together(cell: NotebookNode) -> PartResult | None:
    """What a student's own pieces do together, as a cell shows it; nothing is decided."""
    if grade_id(cell) != TOGETHER:
        return None
    lines = [
        line
        for output in cell.get("outputs", [])
        for line in str(output.get("text", output.get("evalue", ""))).splitlines()
    ]
    return PartResult("Put it together", None, "\n        ".join(["", *lines])) if lines else None


def _message(error: NotebookNode, below: list[NotebookNode]) -> str:
    if error.ename == "Refused" or error.ename in ENDINGS:
        return str(error.evalue)
    if error.ename == TIMED_OUT:
        return f"It did not come to an end within {SECONDS} seconds."
    if error.ename == "NameError":
        if where := _made_below(error, below):
            return f"{error.evalue}{where}"
        return (
            f"{error.evalue}. Keep the names that the task gives, and put a text in quotation"
            " marks. Did an earlier cell fail? Then mend that first, and run the whole notebook."
        )
    return f"{error.ename}: {error.evalue}"


def _read(path: Path) -> tuple[NotebookNode, list[PartResult]]:
    """A notebook as the grader reads it, and what that says of it."""
    if not path.is_file():
        raise CourseError(f"There is no file {path}. Give the notebook's path.")
    try:
        notebook, noticed = read_notebook(path)
    except Unfit as error:
        raise CourseError(f"{path} {error} Give an .ipynb file saved by Jupyter.") from error
    if not any(is_grade(cell) for cell in notebook.cells):
        raise CourseError(
            f"{path} has no graded parts: it is another notebook, or a program took away what marks"
            " them. Copy your answers into the notebook of the course's exercises folder."
        )
    if len(notebook.cells) > MOST_CELLS:
        noticed.append(f"has {len(notebook.cells)} cells; the grader takes {MOST_CELLS}.")
    for place, cell in enumerate(notebook.cells):
        cell["id"] = f"cell-{place}"
    return notebook, [PartResult("The notebook", None, one) for one in noticed]
