"""What a person looks for in a part that no test decides.

The criteria stand in the assignment itself, in the text above the answer, where the student reads
them before writing and whoever marks sees them in nbgrader's formgrader: one sentence "One point
each for: a; b; c." or "Two points for: a. One point for: b."
"""

import re
from dataclasses import dataclass

from nbformat import NotebookNode

from course_lib.grading.reporting.findings import grade_id, is_answer, is_graded

_WORDS = {"half a": 0.5, "one": 1.0, "two": 2.0, "three": 3.0, "four": 4.0, "five": 5.0}
_SENTENCE = re.compile(
    rf"\b(?P<points>{'|'.join(_WORDS)}|\d+)\s+points?\s+(?P<each>each\s+)?for:\s*"
    r"(?P<what>.+?)\.(?=\s|\Z)",
    re.IGNORECASE | re.DOTALL,
)


@dataclass(frozen=True)
class Criterion:
    """What earns how many points."""

    points: float
    text: str


def rubrics(notebook: NotebookNode) -> dict[str, list[Criterion]]:
    """The criteria of every part that a person marks: grade id -> criteria."""
    found: dict[str, list[Criterion]] = {}
    text = ""
    for cell in notebook.cells:
        name = grade_id(cell)
        if name is not None and is_graded(cell) and is_answer(cell):
            found[name] = criteria(text)
        text = cell.source if cell.cell_type == "markdown" and name is None else ""
    return found


def criteria(text: str) -> list[Criterion]:
    """The criteria that a text names."""
    listed = []
    for match in _SENTENCE.finditer(text):
        word = " ".join(match["points"].casefold().split())
        points = _WORDS.get(word) or float(word)
        what = " ".join(match["what"].split())
        parts = re.split(r";\s*(?:and\s+)?", what) if match["each"] else [what]
        listed += [Criterion(points, part.strip()) for part in parts if part.strip()]
    return listed
