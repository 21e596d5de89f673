"""What a notebook says about its parts: titles, and messages of tests that failed."""

import re

from nbformat import NotebookNode

from course_lib.grading.running.execution import ENDINGS
from course_lib.grading.sources.marked_cells import comment, grade_id, is_grade
from course_lib.grading.untrusted import MOST_REPEATED

_POINTS = re.compile(r"\([^()]*points?\)$")
# What a test says on purpose: the words alone are enough.
_PLAIN_ERRORS = {"AssertionError", "Refused"}


def notebook_title(notebook: NotebookNode) -> str | None:
    """The first heading."""
    for cell in notebook.cells:
        if cell.cell_type == "markdown" and (found := _headings(cell.source)):
            return found[0]
    return None


def titles(notebook: NotebookNode) -> dict[str, str]:
    """What each graded part is called, in order: its first comment, or the heading above it."""
    named, heading = {}, ""
    for cell in notebook.cells:
        name = grade_id(cell)
        if name is not None and is_grade(cell):
            named[name] = comment(cell) or heading or name
        elif cell.cell_type == "markdown" and name is None:
            heading = (_headings(cell.source) or [heading])[-1]
    return named


def _headings(text: str) -> list[str]:
    """The headings in a text, without their points."""
    found = []
    for line in text.split("\n"):
        if marked := re.match(r"#{1,6} +(\S.*)", line):
            heading = marked[1].rstrip()
            points = _POINTS.search(heading[-MOST_REPEATED:])
            found.append(heading[: -len(points[0])].rstrip() if points else heading)
    return found


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
