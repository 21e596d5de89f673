"""Judging an answer in milliseconds: the cells run here and now, without a kernel.

Only for answers written by ourselves (the demonstration class, tests): nothing is boxed in.
"""

from collections.abc import Iterable
from typing import Any

from nbformat import NotebookNode


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
    """Run one cell, if it is code; the exception it ends with, in a line, or None."""
    if cell.cell_type != "code":
        return None
    name = cell.metadata.get("nbgrader", {}).get("grade_id", "cell")
    try:
        exec(compile(cell.source, f"<{name}>", "exec"), namespace)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return None
