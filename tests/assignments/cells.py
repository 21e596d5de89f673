"""An assignment's notebook, solution and all, and its cells run here and now.

For answers of our own, since nothing is boxed in.
"""

from typing import Any

from nbformat import NotebookNode

from course_lib.grading.sources.project import source_of
from course_lib.grading.sources.release import source_notebook
from experiments.proof import execute, new_namespace
from tests.conftest import ROOT


def failed_parts(notebook: NotebookNode) -> dict[str, str]:
    """Run all code cells of a notebook; the graded parts that fail: grade id -> message.

    Hidden tests count where the notebook has them. As in a notebook, a cell that fails does not
    keep the next one from running.
    """
    namespace, failed = new_namespace(), {}
    for cell in notebook.cells:
        message = execute(cell, namespace)
        metadata = cell.metadata.get("nbgrader", {})
        if message is not None and metadata.get("grade"):
            failed[metadata["grade_id"]] = message
    return failed


def source(name: str) -> NotebookNode:
    """The notebook of an assignment's text source."""
    return source_notebook(source_of(ROOT, name))


def text_of(notebook: NotebookNode, grade_id: str) -> str:
    """One cell's text."""
    return next(
        str(cell.source)
        for cell in notebook.cells
        if cell.metadata.get("nbgrader", {}).get("grade_id") == grade_id
    )


def defined(notebook: NotebookNode, *grade_ids: str) -> dict[str, Any]:
    """What some cells define, one after another."""
    namespace: dict[str, Any] = {}
    for grade_id in grade_ids:
        exec(text_of(notebook, grade_id), namespace)
    return namespace
