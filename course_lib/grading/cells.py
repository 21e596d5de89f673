"""Judging an answer in milliseconds: the cells run here and now, without a kernel.

Only for answers written by ourselves (the demonstration class, tests): nothing is boxed in.
"""

from typing import Any

from nbformat import NotebookNode


def failed_parts(notebook: NotebookNode) -> dict[str, str]:
    """Run all code cells of a notebook; the graded parts that fail: grade id -> message.

    Hidden tests count where the notebook has them. As in a notebook, a cell that fails does not
    keep the next one from running.
    """
    namespace: dict[str, Any] = {"__name__": "__main__"}
    failed = {}
    for cell in notebook.cells:
        if cell.cell_type != "code":
            continue
        metadata = cell.metadata.get("nbgrader", {})
        try:
            exec(compile(cell.source, f"<{metadata.get('grade_id', 'cell')}>", "exec"), namespace)
        except Exception as error:
            if metadata.get("grade"):
                failed[metadata["grade_id"]] = f"{type(error).__name__}: {error}"
    return failed
