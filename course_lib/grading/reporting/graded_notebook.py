"""What a notebook says about its parts: titles, criteria, and messages of tests that failed.

What a person looks for in a part that no test decides stands in the assignment itself, in the text
above the answer, where the student reads it before writing and whoever marks sees it in nbgrader's
formgrader: a list with a line `- 1 point: what for` for each criterion.
"""

import re
from typing import NamedTuple

from nbformat import NotebookNode

from course_lib.grading.running.execution import ENDINGS
from course_lib.grading.sources.marked_cells import grade_id, is_grade, is_solution

_HEADING = re.compile(r"^#{1,6}\s+(?P<text>.+?)\s*(\(.*points?\))?\s*$", re.MULTILINE)
_CRITERION = re.compile(r"^- (?P<points>\d+(\.\d+)?) points?: (?P<text>\S.*)$", re.MULTILINE)
# What a test says on purpose: the words alone are enough.
_PLAIN_ERRORS = {"AssertionError", "Refused"}


class Criterion(NamedTuple):
    """What earns how many points."""

    points: float
    text: str


def notebook_title(notebook: NotebookNode) -> str | None:
    """The first heading."""
    for cell in notebook.cells:
        if cell.cell_type == "markdown" and (heading := _HEADING.search(cell.source)):
            return heading["text"]
    return None


def titles(notebook: NotebookNode) -> dict[str, str]:
    """What each graded part is called, in order: its first comment, or the heading above it."""
    named, heading = {}, ""
    for cell in notebook.cells:
        name = grade_id(cell)
        if name is not None and is_grade(cell):
            first = cell.source.split("\n", 1)[0]
            comment = first.lstrip("# ").strip() if first.startswith("#") else ""
            named[name] = (comment if cell.cell_type == "code" else heading) or heading or name
        elif cell.cell_type == "markdown" and name is None:
            for match in _HEADING.finditer(cell.source):
                heading = match["text"]
    return named


def rubrics(notebook: NotebookNode) -> dict[str, list[Criterion]]:
    """The criteria of every part that a person marks: grade id -> criteria."""
    listed: dict[str, list[Criterion]] = {}
    text = ""
    for cell in notebook.cells:
        name = grade_id(cell)
        if name is not None and is_grade(cell) and is_solution(cell):
            criteria = _CRITERION.finditer(text)
            listed[name] = [
                Criterion(float(one["points"]), one["text"].strip()) for one in criteria
            ]
        text = cell.source if cell.cell_type == "markdown" and name is None else ""
    return listed


def message(cell: NotebookNode) -> str | None:
    """Why a cell failed, in the words of its test; None if it did not."""
    for output in cell.get("outputs", []):
        if output.output_type == "error":
            kind, text = str(output.get("ename", "")), str(output.get("evalue", "")).strip()
            if text and kind in _PLAIN_ERRORS:
                return text
            if kind in ENDINGS:  # the rest is said once, about the whole notebook
                text = re.split(r"(?<=\.)\s", text)[0]
            return f"{kind}: {text}" if text else kind
    return None
