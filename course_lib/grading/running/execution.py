"""Running a submission to a defined end, whatever its code does."""

import ast
import asyncio
import errno
import re
import textwrap
import time
from contextlib import suppress
from queue import Empty
from typing import Any

import zmq
from jupyter_client.asynchronous import AsyncKernelClient
from jupyter_client.kernelspec import KernelSpec
from jupyter_client.manager import AsyncKernelManager
from jupyter_core.utils import ensure_event_loop
from nbclient.client import CellExecutionComplete
from nbclient.exceptions import DeadKernelError
from nbconvert.preprocessors import ExecutePreprocessor
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_output
from traitlets import Bool, Dict, Integer, List, Unicode

from course_lib.assignments import opened
from course_lib.errors import CourseError
from course_lib.grading.running.judge import Judge
from course_lib.grading.running.outputs import MORE, printable, tidied
from course_lib.grading.sandbox.bubblewrap import PROVISIONER
from course_lib.grading.sandbox.limits import EXCEEDED, clocks
from course_lib.grading.sources.marked_cells import grade_id, is_grade, is_locked, is_solution

ENDINGS = {
    "KernelDied": "The Python process ended while this cell ran. Something called exit, crashed the"
    " interpreter or used up the memory.",
    "KernelStuck": "This cell did not end in time and could not be interrupted.",
    "KernelGarbled": "While this cell ran, the Python process sent something that is no message of"
    " a notebook's.",
    "OutOfTime": "The notebook as a whole took too long.",
    **EXCEEDED,
}
"""How a run can end early: the error's name in the graded notebook, and what it says there."""

OF_THE_MACHINE = {
    *(errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.ENOBUFS, errno.ENOSPC, errno.ETOOMANYREFS),
}
"""What a system call says where the machine, and no submission, has come to an end."""

NOT_RUN = "This cell was not run, because an earlier one had ended the notebook."

AGENT = "__import__('course_lib.assignments.agent').assignments.agent"
"""What answers the judge in the kernel. A notebook may have variables called exec or globals."""

TIMED_OUT = "CellTimeoutError"
"""The name of the error of a cell that was stopped."""

STOPPED = "This cell did not end in time, and was stopped."
"""What it says there."""

LEAST_SHARE = 0.5
"""Of a processor. A cell that had less until its time was over may have been kept waiting."""

LARGEST_MESSAGE = 8 * 1024**2
"""Bytes. What is larger never reaches the grader's memory."""


class Client(AsyncKernelClient):
    """jupyter_client's, which does not listen for a fifth of a second to what nobody asks for."""

    async def wait_for_ready(self, timeout: float | None = None) -> None:
        """Until the kernel answers and is heard.

        Raises:
            RuntimeError: it has died, or does neither in time.
        """
        until = time.monotonic() + (timeout or float("inf"))
        while time.monotonic() < until and await self.is_alive():
            self.kernel_info()
            with suppress(Empty):
                reply = await self.get_shell_msg(timeout=1)
                if reply["msg_type"] == "kernel_info_reply":
                    await self.get_iopub_msg(timeout=0.2)
                    return
        raise RuntimeError("The kernel has died, or does not answer in time")


class ContainedExecute(ExecutePreprocessor):
    """Runs a notebook, every graded cell decided by a judge outside the kernel.

    nbgrader gives up on a notebook whose kernel dies, with no score at all; and a graded cell that
    never ran would count as passed. Here the cells before the end keep their results, the others
    get an error that says what happened. A test does not run in the kernel: a judge runs it, whom
    the kernel only answers. What ends a test ends no other.
    """

    enabled = Bool(True).tag(config=True)
    timeout = Integer(30, help="Seconds for a cell.").tag(config=True)
    allow_errors = Bool(True, help="Later cells run after an error, too.")
    interrupt_on_timeout = Bool(True)
    error_on_timeout = Dict({"ename": TIMED_OUT, "evalue": STOPPED, "traceback": [STOPPED]})
    submission_seconds = Integer(180, help="Wall time for all cells but tests.").tag(config=True)
    patience_seconds = Integer(
        30, help="How long a kernel may take to answer after a cell was interrupted."
    ).tag(config=True)
    most_output = Integer(
        10 * 1024**2, help="Characters that one cell may put out; what follows is dropped."
    ).tag(config=True)
    command = List(Unicode(), help="What starts a boxed kernel; if empty, Jupyter does.").tag(
        config=True
    )

    def __init__(self, judge: Judge, assignment: str, **settings: Any) -> None:
        """Ask this judge; the kernel may import what the assignment opens of the library."""
        super().__init__(**settings)
        self._judge, self._assignment = judge, assignment

    def create_kernel_manager(self) -> AsyncKernelManager:
        """Like nbclient's, with what starts a boxed kernel, and bounds on what is received."""
        self.km = AsyncKernelManager(
            kernel_name=self.kernel_name, client_factory=Client, config=self.config
        )
        if self.command:
            self.km._kernel_spec = KernelSpec(
                argv=self.command,
                # the kernel lives in another process namespace: a signal would only reach bwrap
                interrupt_mode="message",
                metadata={"kernel_provisioner": {"provisioner_name": PROVISIONER}},
            )
        self.km.context.setsockopt(zmq.MAXMSGSIZE, LARGEST_MESSAGE)
        self.km.context.setsockopt(zmq.RECONNECT_IVL, 10)  # ms, until the kernel listens
        self.km.context.setsockopt(zmq.RCVHWM, 100)
        return self.km

    def _cleanup_kernel(self) -> None:
        """End a box at once; else jupyter_client would ask, and look ten times a second."""
        if (box := self._of_kernel("box")) is not None:
            box.end()
        super()._cleanup_kernel()

    def _of_kernel(self, name: str) -> Any:
        """What holds the kernel, its `box` or its `pid`; None where there is none."""
        return getattr(self.km.provisioner, name, None) if self.km is not None else None

    def on_cell_executed(self, *, cell: NotebookNode, execute_reply: Any, **_: Any) -> None:
        """Keep an error that the reply alone tells of, as that of a cell which took too long."""
        reply = execute_reply["content"]
        known = [one.get("ename") for one in cell.outputs if one.output_type == "error"]
        if reply["status"] == "error" and reply["ename"] not in known:
            error = {name: reply[name] for name in ("ename", "evalue", "traceback")}
            cell.outputs.append(NotebookNode(output_type="error", **error))

    def preprocess(
        self, nb: NotebookNode, resources: Any = None, km: Any = None
    ) -> tuple[NotebookNode, dict[str, Any]]:
        """Run the cells of a notebook, in place."""
        # an output may get lost with a message that is too large; the reply decides
        self.raise_on_iopub_timeout = False
        self._left = float(self.submission_seconds)
        self._ended: str | None = None
        self.disturbed = False
        """Whether something was stopped that might have come to its end had nothing run beside."""
        self.starved = False
        """Whether it stood waiting for a processor when it was stopped, and did not sleep."""
        self._closed = False
        self._put_out, self._took = 0, 0.0
        return super().preprocess(nb, resources, km)

    def preprocess_cell(
        self, cell: NotebookNode, resources: dict[str, Any], index: int
    ) -> tuple[NotebookNode, dict[str, Any]]:
        """Run one cell, or say in its output why it was not run."""
        if cell.cell_type != "code":
            return cell, resources
        self._check_assign_resources(resources)
        if self._ended is not None:
            cell.outputs = [_ending(self._ended, NOT_RUN)]
            return cell, resources
        try:
            if not self._closed:
                self._run(f"{AGENT}.restrict_imports({self._assignment!r})", index, history=False)
                self._closed = True
            cell.outputs = self._tested(cell, index) if _is_test(cell) else self._ran(cell, index)
        except CourseError:
            raise
        except DeadKernelError:
            self._ended = "KernelDied"
        except Exception as error:  # student code can send the grader whatever it likes
            if getattr(error, "errno", None) in OF_THE_MACHINE:
                raise CourseError(f"The grader could not go on: {error}.") from error
            self._ended = "KernelGarbled"
            for task in asyncio.all_tasks(ensure_event_loop()):
                task.cancel()  # nbclient leaves some waiting
        if self._ended is not None:
            exceeded = getattr(self._of_kernel("box"), "exceeded", None)
            self.disturbed |= exceeded is None and self._ended == "KernelDied"
            self._ended = exceeded or self._ended
            cell.outputs = [_ending(self._ended)]
        return cell, resources

    def _clocks(self) -> tuple[float, float, float]:
        """Seconds: the clock's, and those that the kernel has run and waited until now."""
        box, process = self._of_kernel("box"), self._of_kernel("pid")
        roots = [process] if box is None else box.roots
        return time.monotonic(), *(clocks(roots) if roots[0] is not None else (0.0, 0.0))

    def _ran(self, cell: NotebookNode, index: int) -> list[NotebookNode]:
        """The outputs of a cell that is no test."""
        if self._left <= 0:
            return [_ending("OutOfTime")]
        outputs = tidied(self._run(cell.source, index, history=True))
        self._left -= self._took
        for output in outputs:
            if output.output_type == "error" and output.ename in ENDINGS:
                output.ename = f"{output.ename} (the notebook's own)"
            elif is_locked(cell) and opened.CLOSED in output.get("evalue", ""):
                return [new_output("stream", text=f"Left out: {output.evalue}\n")]
        if _timed_out(outputs):
            self._look_whether_it_answers(index)
        return outputs

    def _tested(self, cell: NotebookNode, index: int) -> list[NotebookNode]:
        """The outputs of a test: what was printed, and an error unless it is passed."""
        token = self._judge.begin(cell.source, self.timeout)
        asked = (self._judge.place, token, visible_imports(cell.source))
        try:
            outputs = self._run(f"{AGENT}.serve{asked!r}", index, history=False)
        finally:
            verdict = self._judge.verdict()
        printed = [output for output in outputs if output.get("output_type") == "stream"]
        for output in printed:
            output["name"] = "stdout"  # a warning is no reason to lose points
        kept = tidied(printed)
        if _timed_out(outputs):
            self._look_whether_it_answers(index)
        return kept if verdict.get("passed") is True else [*kept, self._refusal(verdict)]

    def _refusal(self, verdict: dict[str, Any]) -> NotebookNode:
        """The error of a test that was not passed: its message, and no code of the test."""
        kind = printable(verdict.get("kind"), 100)
        reason = printable(verdict.get("said"), 2000)
        text = f"The test stopped with {kind}: {reason}"
        if kind == "Refused":
            text = f"Not yet: {reason}"
        if kind in ENDINGS or kind == TIMED_OUT:
            kind = f"{kind} (the notebook's own)"
        lines = textwrap.wrap(text, width=88)
        return new_output("error", ename=kind or "Error", evalue=reason, traceback=lines)

    def _run(self, source: str, index: int, *, history: bool) -> list[NotebookNode]:
        """The outputs of `source`, as the kernel sent them."""
        cell, ran = self.nb.cells[index], new_code_cell(source)
        self._put_out, self._heard_all = 0, False
        before = self._clocks()
        try:
            self.execute_cell(ran, index, store_history=history)
        finally:
            now = zip(self._clocks(), before, strict=True)
            seconds, spent, waited = (after - one for after, one in now)
            self._took = seconds - min(max(waited, 0), seconds)
            if seconds >= self.timeout and spent < LEAST_SHARE * seconds:
                self.disturbed = True
                self.starved |= waited > LEAST_SHARE * seconds
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
        self, outs: list[NotebookNode], msg: dict[str, Any], display_id: str | None, cell_index: int
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
    return any(output.get("ename") == TIMED_OUT for output in outputs)


def _is_test(cell: NotebookNode) -> bool:
    return is_grade(cell) and not is_solution(cell)


def visible_imports(test: str) -> str:
    """The imports in the part of a test that students have: later cells of theirs may need them."""
    visible = re.sub(r"### BEGIN HIDDEN TESTS.*?### END HIDDEN TESTS", "", test, flags=re.DOTALL)
    try:
        statements = ast.parse(visible).body
    except SyntaxError:  # the hidden part is a block's only content
        return ""
    return "\n".join(
        ast.unparse(one) for one in statements if isinstance(one, ast.Import | ast.ImportFrom)
    )


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
            where = grade_id(cell) or "a cell of the student's"
            if name in ENDINGS:
                remarks.setdefault(name, f"{name} in {where}: {output.evalue}")
            elif name == TIMED_OUT:
                remarks.setdefault(f"{name} {where}", f"{where} was stopped: it took too long.")
    return list(remarks.values())
