"""Judging an answer in milliseconds: the cells run here and now, without a kernel.

Only for answers written by ourselves (the demonstration class, tests): nothing is boxed in.
"""

from collections.abc import Iterable
from typing import Any

from nbformat import NotebookNode

from course_lib.grading.running.execution import visible_names


def failed_parts(notebook: NotebookNode) -> dict[str, str]:
    """Run all code cells of a notebook; the graded parts that fail: grade id -> message.

    Hidden tests count where the notebook has them. As in a notebook, a cell that fails does not
    keep the next one from running.
    """
    return run(notebook.cells, new_namespace())


def new_namespace() -> dict[str, Any]:
    """What a notebook's first cell finds."""
    return {"__name__": "__main__", "display": lambda *_, **__: None}


def run(cells: Iterable[NotebookNode], namespace: dict[str, Any]) -> dict[str, str]:
    """Run code cells one after the other; the graded parts among them that fail."""
    failed = {}
    for cell in cells:
        message = execute(cell, namespace)
        metadata = cell.metadata.get("nbgrader", {})
        if message is not None and metadata.get("grade"):
            failed[metadata["grade_id"]] = message
    return failed


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
