"""Running a notebook's cells here and now: for answers of our own, since nothing is boxed in."""

from nbformat import NotebookNode

from course_lib.grading.authoring.proof import execute, new_namespace


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
