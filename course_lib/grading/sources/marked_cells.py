"""What nbgrader's marks on a cell say, read without nbgrader, which students need not install."""

import hashlib

from nbformat import NotebookNode


def is_grade(cell: NotebookNode) -> bool:
    """Whether a cell has points."""
    return bool(cell.metadata.get("nbgrader", {}).get("grade", False))


def is_solution(cell: NotebookNode) -> bool:
    """Whether a cell is a student's to write."""
    return bool(cell.metadata.get("nbgrader", {}).get("solution", False))


def is_locked(cell: NotebookNode) -> bool:
    """Whether a cell is put back as it was before it is graded."""
    locked = bool(cell.metadata.get("nbgrader", {}).get("locked", False))
    return not is_solution(cell) and (is_grade(cell) or locked)


def checksum(cell: NotebookNode) -> str:
    """The checksum that nbgrader wrote into a cell when it was released, computed anew."""
    marks = cell.metadata.nbgrader
    kinds = [str(bool(kind(cell))) for kind in (is_grade, is_solution, is_locked)]
    points = [str(float(marks["points"]))] if is_grade(cell) else []
    parts = [cell.source, cell.cell_type, *kinds, marks["grade_id"], *points]
    return hashlib.md5("".join(parts).encode(), usedforsecurity=False).hexdigest()
