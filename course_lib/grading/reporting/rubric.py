"""What a person looks for in a part that no test decides.

The criteria stand in the assignment itself, in the text above the answer, where the student reads
them before writing and whoever marks sees them in nbgrader's formgrader: a list with a line
`- 1 point: what for` for each.
"""

import re
from dataclasses import dataclass

from nbformat import NotebookNode

from course_lib.grading.sources.marked_cells import grade_id, is_grade, is_solution

_CRITERION = re.compile(r"^- (?P<points>\d+(\.\d+)?) points?: (?P<text>\S.*)$", re.MULTILINE)


@dataclass(frozen=True)
class Criterion:
    """What earns how many points."""

    points: float
    text: str


def rubrics(notebook: NotebookNode) -> dict[str, list[Criterion]]:
    """The criteria of every part that a person marks: grade id -> criteria."""
    listed: dict[str, list[Criterion]] = {}
    text = ""
    for cell in notebook.cells:
        name = grade_id(cell)
        if name is not None and is_grade(cell) and is_solution(cell):
            listed[name] = criteria(text)
        text = cell.source if cell.cell_type == "markdown" and name is None else ""
    return listed


def criteria(text: str) -> list[Criterion]:
    """The criteria that a text names."""
    return [
        Criterion(float(match["points"]), match["text"].strip())
        for match in _CRITERION.finditer(text)
    ]
