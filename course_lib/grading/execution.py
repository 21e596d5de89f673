"""Running a submission to a defined end, whatever its code does."""

import secrets
import textwrap
import time
from typing import Any

from jupyter_client.kernelspec import KernelSpecManager
from jupyter_client.manager import AsyncKernelManager
from nbclient.exceptions import CellTimeoutError, DeadKernelError
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_output
from nbgrader.preprocessors import Execute
from nbgrader.utils import is_grade
from traitlets import Integer, List, Unicode

ENDINGS = {
    "KernelDied": "The Python process ended while this cell ran. Something called exit, crashed the"
    " interpreter or used up the memory.",
    "KernelStuck": "This cell did not end in time and could not be interrupted.",
    "OutOfTime": "The notebook as a whole took too long.",
    "CheckDisabled": "A known-wrong answer passes here: code of this notebook has changed how tests"
    " work. No test counts until that is taken out.",
}
"""How a run can end early: the error's name in the graded notebook, and what it says there."""

NOT_RUN = "This cell was not run, because an earlier one had ended the notebook."

# It fails with a word drawn for this run, unless tests have stopped working.
_CANARY = """
from course_lib.grading import checks
try:
    checks.close([0.0], [1.0], "a known-wrong answer", hint="")
except checks.Refused:
    raise AssertionError("{word}")
"""


class ContainedExecute(Execute):
    """nbgrader's Execute with every graded cell decided at the end.

    nbgrader gives up on a notebook whose kernel dies, with no score at all; and a graded cell that
    never ran would count as passed. Here the cells before the end keep their results, the others
    get an error that says what happened.
    """

    submission_seconds = Integer(180, help="Wall time for all cells together.").tag(config=True)
    kernel_dirs = List(Unicode(), help="Where kernelspecs lie, if not in Jupyter's places.").tag(
        config=True
    )

    def create_kernel_manager(self) -> AsyncKernelManager:
        """Like nbclient's, with this run's own kernelspecs."""
        extra = {}
        if self.kernel_dirs:
            extra["kernel_spec_manager"] = KernelSpecManager(kernel_dirs=self.kernel_dirs)
        self.km = AsyncKernelManager(kernel_name=self.kernel_name, config=self.config, **extra)
        return self.km

    def preprocess(
        self, nb: NotebookNode, resources: dict[str, Any], km: Any = None
    ) -> tuple[NotebookNode, dict[str, Any]]:
        """Run the cells of a notebook, in place."""
        self._deadline = time.monotonic() + self.submission_seconds
        self._ended: str | None = None
        return super().preprocess(nb, resources, km)

    def preprocess_cell(
        self, cell: NotebookNode, resources: dict[str, Any], index: int
    ) -> tuple[NotebookNode, dict[str, Any]]:
        """Run one cell, or say in its output why it was not run."""
        if cell.cell_type != "code":
            return cell, resources
        if self._ended is None and time.monotonic() > self._deadline:
            self._ended = "OutOfTime"
            cell.outputs = [_ending("OutOfTime")]
        elif self._ended is not None:
            cell.outputs = [_ending(self._ended, NOT_RUN)]
        else:
            try:
                cell, resources = super().preprocess_cell(cell, resources, index)
                # after each graded cell: the kernel may not live to the end of the notebook
                if is_grade(cell) and not self._tests_work(resources, index):
                    cell.outputs = [_ending("CheckDisabled")]
                return cell, resources
            except DeadKernelError:
                self._ended = "KernelDied"
            except CellTimeoutError:
                self._ended = "KernelStuck"
            cell.outputs = [_ending(self._ended)]
        return cell, resources

    def _tests_work(self, resources: dict[str, Any], index: int) -> bool:
        """Whether a known-wrong answer is still refused where the student's code has run."""
        word = secrets.token_hex(8)
        canary = new_code_cell(_CANARY.format(word=word))
        cell = self.nb.cells[index]
        super().preprocess_cell(canary, resources, index)
        self.nb.cells[index] = cell  # nbclient puts what it has run in its place
        return any(output.get("evalue") == word for output in canary.outputs)


def _ending(name: str, text: str | None = None) -> NotebookNode:
    text = text or ENDINGS[name]
    lines = textwrap.wrap(f"{name}: {text}", width=88)
    return new_output("error", ename=name, evalue=text, traceback=lines)


def remarks_of(notebook: NotebookNode) -> list[str]:
    """What an instructor should know about how a graded notebook ran, one line a matter."""
    remarks: dict[str, str] = {}
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            name = output.get("ename")
            where = cell.metadata.get("nbgrader", {}).get("grade_id") or "a cell of the student's"
            if name in ENDINGS:
                remarks.setdefault(name, f"{name} in {where}: {ENDINGS[name]}")
            elif name == "CellTimeoutError":
                remarks.setdefault(f"{name} {where}", f"{where} was stopped: it took too long.")
    return list(remarks.values())
