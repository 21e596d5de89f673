"""Running a submission to a defined end, whatever its code does."""

import ast
import asyncio
import json
import secrets
import textwrap
import time
from typing import Any

import zmq
from jupyter_client.kernelspec import KernelSpecManager
from jupyter_client.manager import AsyncKernelManager
from jupyter_core.utils import ensure_event_loop
from nbclient.client import CellExecutionComplete
from nbclient.exceptions import DeadKernelError
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_output
from nbgrader.preprocessors import Execute
from nbgrader.utils import is_grade, is_solution
from traitlets import Integer, List, Unicode

from course_lib.grading.running import examination
from course_lib.grading.running.outputs import MORE, hidden_lines, plain, tidied
from course_lib.grading.sandbox.limits import EXCEEDED
from course_lib.grading.wording import visible

ENDINGS = {
    "KernelDied": "The Python process ended while this cell ran. Something called exit, crashed the"
    " interpreter or used up the memory.",
    "KernelStuck": "This cell did not end in time and could not be interrupted.",
    "KernelGarbled": "While this cell ran, the Python process sent something that is no message of"
    " a notebook's.",
    "OutOfTime": "The notebook as a whole took too long.",
    "CheckDisabled": "Code of this notebook has changed how tests work. No test from here on counts"
    " until that is taken out.",
    **EXCEEDED,
}
"""How a run can end early: the error's name in the graded notebook, and what it says there."""

NOT_RUN = "This cell was not run, because an earlier one had ended the notebook."

UNFIT = "how the grader's own code runs"
"""What is named as changed where the kernel no longer says what it is asked."""

LARGEST_MESSAGE = 8 * 1024**2
"""Bytes. What is larger never reaches the grader's memory."""


class ContainedExecute(Execute):
    """nbgrader's Execute with every graded cell decided at the end.

    nbgrader gives up on a notebook whose kernel dies, with no score at all; and a graded cell that
    never ran would count as passed. Here the cells before the end keep their results, the others
    get an error that says what happened. A graded cell counts as passed if it says so with a word
    drawn for it, if known-wrong answers are refused after it, and if nothing that tests rest on
    has changed since before the notebook's first cell.
    """

    submission_seconds = Integer(180, help="Wall time for all cells together.").tag(config=True)
    patience_seconds = Integer(
        5, help="How long a kernel may take to answer after a cell was interrupted."
    ).tag(config=True)
    most_output = Integer(
        10 * 1024**2, help="Characters that one cell may put out; what follows is dropped."
    ).tag(config=True)
    kernel_dirs = List(Unicode(), help="Where kernelspecs lie, if not in Jupyter's places.").tag(
        config=True
    )

    def create_kernel_manager(self) -> AsyncKernelManager:
        """Like nbclient's, with this run's own kernelspecs and bounds on what is received."""
        extra = {}
        if self.kernel_dirs:
            extra["kernel_spec_manager"] = KernelSpecManager(kernel_dirs=self.kernel_dirs)
        self.km = AsyncKernelManager(kernel_name=self.kernel_name, config=self.config, **extra)
        self.km.context.setsockopt(zmq.MAXMSGSIZE, LARGEST_MESSAGE)
        self.km.context.setsockopt(zmq.RCVHWM, 100)
        return self.km

    def preprocess(
        self, nb: NotebookNode, resources: dict[str, Any], km: Any = None
    ) -> tuple[NotebookNode, dict[str, Any]]:
        """Run the cells of a notebook, in place."""
        # an output may get lost with a message that is too large; the reply decides
        self.raise_on_iopub_timeout = False
        self._deadline = time.monotonic() + self.submission_seconds
        self._ended: str | None = None
        self._changed: str | None = None
        self._state: dict[str, str] | None = None
        self._place: dict[str, Any] = {}
        self._hidden = hidden_lines(nb) | {examination.OPENING}
        self._put_out = 0
        return super().preprocess(nb, resources, km)

    def preprocess_cell(
        self, cell: NotebookNode, resources: dict[str, Any], index: int
    ) -> tuple[NotebookNode, dict[str, Any]]:
        """Run one cell, or say in its output why it was not run."""
        if cell.cell_type != "code":
            return cell, resources
        self._check_assign_resources(resources)
        if self._ended is None and time.monotonic() > self._deadline:
            self._ended = "OutOfTime"
            cell.outputs = [_ending("OutOfTime")]
        elif self._ended is not None:
            cell.outputs = [_ending(self._ended, NOT_RUN)]
        else:
            try:
                if self._state is None:
                    begun = self._ask("begin", index)
                    self._state = begun.get("state", {}) if begun else {}
                    self._place = {key: (begun or {}).get(key) for key in ("folder", "inode")}
                cell.outputs = (
                    self._examined(cell, index) if _is_test(cell) else self._ran(cell, index)
                )
            except DeadKernelError:
                self._ended = "KernelDied"
            except Exception:  # student code can send the grader whatever it likes
                self._ended = "KernelGarbled"
                for task in asyncio.all_tasks(ensure_event_loop()):
                    task.cancel()  # nbclient leaves some waiting
            if self._ended in {"KernelDied", "KernelGarbled", "KernelStuck"}:
                self._ended = self._exceeded() or self._ended
            if self._ended is not None:
                cell.outputs = [_ending(self._ended)]
        return cell, resources

    def _exceeded(self) -> str | None:
        """The limit at which a boxed kernel was stopped, a key of `limits.EXCEEDED`."""
        provisioner = self.km.provisioner if self.km is not None else None
        return getattr(provisioner, "exceeded", None)

    def _ran(self, cell: NotebookNode, index: int) -> list[NotebookNode]:
        """The outputs of a cell that is no test."""
        outputs = tidied(self._run(cell.source, index, history=True), self._hidden)
        for output in outputs:
            if output.output_type == "error" and output.ename in ENDINGS:
                output.ename = f"{output.ename} (the notebook's own)"
        if _timed_out(outputs):
            self._look_whether_it_answers(index)
        return outputs

    def _examined(self, cell: NotebookNode, index: int) -> list[NotebookNode]:
        """The outputs of a test: what was printed, and an error unless it is passed for certain."""
        if self._changed is not None:
            return [_ending("CheckDisabled", self._changed)]
        outputs: list[NotebookNode] = []
        test = {"source": cell.source, "shared": visible_names(cell.source)}
        verdict = self._ask("sit", index, outputs, **test, **self._place)
        printed = [output for output in outputs if output.get("output_type") == "stream"]
        for output in printed:
            output["name"] = "stdout"  # a warning is no reason to lose points
        kept = tidied(printed, self._hidden)
        if _timed_out(outputs):
            self._look_whether_it_answers(index)
            text = f"This test did not end within {self.timeout} seconds."
            return [
                *kept,
                new_output("error", ename="CellTimeoutError", evalue=text, traceback=[text]),
            ]
        changed = self._what_changed(index) if verdict is not None else [UNFIT]
        if changed:
            named = ", ".join(visible(name) for name in changed[:5])
            more = f" and {len(changed) - 5} more" if len(changed) > 5 else ""
            self._changed = f"{ENDINGS['CheckDisabled']} Changed: {named}{more}."
            return [*kept, _ending("CheckDisabled", self._changed)]
        if verdict is not None and verdict.get("passed") is not True:
            return [*kept, self._refusal(verdict)]
        return kept

    def _what_changed(self, index: int) -> list[str]:
        """What tests rest on and is no longer as it was before the notebook's first cell."""
        proof = self._ask("prove", index)
        if proof is None or not isinstance(proof.get("state"), dict) or not self._state:
            return [UNFIT]
        now = proof["state"]
        changed = [name for name, value in self._state.items() if now.get(name) != value]
        if not changed and proof.get("refused") is not True:
            changed = ["a known-wrong answer passes"]
        return changed

    def _refusal(self, verdict: dict[str, Any]) -> NotebookNode:
        """The error of a test that was not passed: its message, and no code of the test."""
        kind = plain(verdict.get("kind"), self._hidden, 100)
        reason = plain(verdict.get("said"), self._hidden, 2000)
        text = f"The test stopped with {kind}: {reason}"
        if kind == "Refused":
            text = f"Not yet: {reason}"
        if kind in ENDINGS or kind == "CellTimeoutError":
            kind = f"{kind} (the notebook's own)"
        lines = textwrap.wrap(text, width=88)
        return new_output("error", ename=kind or "Error", evalue=reason, traceback=lines)

    def _ask(
        self, call: str, index: int, outputs: list[NotebookNode] | None = None, **arguments: Any
    ) -> dict[str, Any] | None:
        """Run one of the grader's own functions in the kernel; None if it did not answer."""
        name = "Verdict" + secrets.token_hex(8)
        sent = self._run(examination.message(call, name=name, **arguments), index, history=False)
        if outputs is not None:
            outputs += sent
        errors = [output for output in sent if output.get("output_type") == "error"]
        if not errors or any(output.get("ename") != name for output in errors):
            return None
        answer = json.loads(errors[-1]["evalue"])
        return answer if isinstance(answer, dict) else None

    def _run(self, source: str, index: int, *, history: bool) -> list[NotebookNode]:
        """The outputs of `source`, as the kernel sent them."""
        cell, ran = self.nb.cells[index], new_code_cell(source)
        self._put_out, self._heard_all = 0, False
        try:
            self.execute_cell(ran, index, store_history=history)
        finally:
            self.nb.cells[index] = cell  # nbclient puts what it has run in its place
            self._display_id_map.clear()  # or later cells could change the outputs of earlier ones
        outputs: list[NotebookNode] = ran.outputs
        if not self._heard_all and not _timed_out(outputs):
            outputs.append(new_output("stream", text=MORE))
        return outputs

    def _look_whether_it_answers(self, index: int) -> None:
        """After a cell was stopped: a kernel that goes on nevertheless ends the notebook."""
        self.timeout_func: Any = lambda cell: self.patience_seconds
        try:
            if _timed_out(self._run("None", index, history=False)):
                self._ended = "KernelStuck"
        finally:
            self.timeout_func = None

    def process_message(
        self, msg: dict[str, Any], cell: NotebookNode, cell_index: int
    ) -> NotebookNode | None:
        """Take in one message, and remember whether it was the cell's last."""
        try:
            return super().process_message(msg, cell, cell_index)
        except CellExecutionComplete:
            self._heard_all = self._put_out <= self.most_output
            raise

    def output(
        self, outs: list[NotebookNode], msg: dict[str, Any], display_id: str, cell_index: int
    ) -> NotebookNode | None:
        """Take in one output, up to the limit."""
        self._put_out += _size(msg["content"])
        if self._put_out > self.most_output:
            raise CellExecutionComplete  # nobody listens any more; the cell's reply still counts
        return super().output(outs, msg, display_id, cell_index)

    def handle_comm_msg(
        self, outs: list[NotebookNode], msg: dict[str, Any], cell_index: int
    ) -> None:
        """Widgets have no say: they could redirect the outputs of tests."""


def _size(content: Any) -> int:
    if isinstance(content, dict):
        return 100 + sum(_size(value) for value in content.values())
    if isinstance(content, list):
        return 100 + sum(_size(value) for value in content)
    return len(content) if isinstance(content, str) else 10


def _timed_out(outputs: list[NotebookNode]) -> bool:
    return any(output.get("ename") == "CellTimeoutError" for output in outputs)


def _is_test(cell: NotebookNode) -> bool:
    return is_grade(cell) and not is_solution(cell)


def visible_names(source: str) -> list[str]:
    """What the part of a test that students have gives names to."""
    visible_part, hidden = [], False
    for line in source.split("\n"):
        hidden = hidden or "BEGIN HIDDEN TESTS" in line
        if not hidden:
            visible_part.append(line)
        hidden = hidden and "END HIDDEN TESTS" not in line
    names: set[str] = set()
    try:
        tree = ast.parse("\n".join(visible_part))
    except SyntaxError:  # the hidden part is a block's only content
        return []
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
        elif isinstance(node, ast.alias):
            names.add((node.asname or node.name).partition(".")[0])
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            names.add(node.name)
    return sorted(names)


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
                remarks.setdefault(name, f"{name} in {where}: {output.evalue}")
            elif name == "CellTimeoutError":
                remarks.setdefault(f"{name} {where}", f"{where} was stopped: it took too long.")
    return list(remarks.values())
