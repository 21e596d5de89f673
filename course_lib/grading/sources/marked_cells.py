"""What nbgrader's marks on a cell say, read without nbgrader, which students need not install."""

import hashlib
from typing import Any

from nbformat import NotebookNode


def nbgrader_metadata(cell: NotebookNode) -> dict[str, Any]:
    """What nbgrader wrote into a cell; nothing where something else stands in its place."""
    marks = cell.get("metadata", {}).get("nbgrader")
    return marks if isinstance(marks, dict) else {}


def grade_id(cell: NotebookNode) -> str | None:
    """The name nbgrader knows a cell by."""
    name = nbgrader_metadata(cell).get("grade_id")
    return name if isinstance(name, str) else None


def comment(cell: NotebookNode) -> str:
    """What a test is called: its first line, if that is a comment."""
    first = cell.source.split("\n", 1)[0]
    return first.lstrip("# ").rstrip() if cell.cell_type == "code" and first.startswith("#") else ""


def is_grade(cell: NotebookNode) -> bool:
    """Whether a cell has points."""
    return bool(nbgrader_metadata(cell).get("grade"))


def is_solution(cell: NotebookNode) -> bool:
    """Whether a cell is a student's to write."""
    return bool(nbgrader_metadata(cell).get("solution"))


def is_locked(cell: NotebookNode) -> bool:
    """Whether a cell is put back as it was before it is graded."""
    return not is_solution(cell) and (is_grade(cell) or bool(nbgrader_metadata(cell).get("locked")))


def checksum(cell: NotebookNode) -> str:
    """The checksum that nbgrader wrote into a cell when it was released, computed anew."""
    marks = cell.metadata.nbgrader
    kinds = [str(bool(kind(cell))) for kind in (is_grade, is_solution, is_locked)]
    points = [str(float(marks["points"]))] if is_grade(cell) else []
    parts = [cell.source, cell.cell_type, *kinds, marks["grade_id"], *points]
    return hashlib.md5("".join(parts).encode(), usedforsecurity=False).hexdigest()
