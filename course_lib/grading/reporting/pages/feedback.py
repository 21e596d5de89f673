"""One student's page: every part's points, what was not right, and the notebook they belong to.

nbgrader's own feedback converter makes it, here and from its formgrader: it reads points, comments
and the deduction for being late out of the gradebook and hands the notebook to this exporter.
"""

import functools
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup
from nbconvert.exporters import Exporter
from nbformat import NotebookNode
from nbgrader.preprocessors import GetGrades

from course_lib.figures.templates import render
from course_lib.grading.reporting import graded_notebook
from course_lib.grading.reporting.pages import safe_html
from course_lib.grading.running.execution import remarks_of
from course_lib.grading.running.gradebooks import to_look_at
from course_lib.grading.sources.marked_cells import grade_id, is_grade, is_solution

LONGEST_NOTEBOOK = 300_000
"""Characters that students wrote or printed; what is graded is shown beyond them."""


@dataclass(frozen=True)
class GradedPart:
    """A graded part, as the list at the top shows it."""

    part: str
    title: str
    score: float
    points: float
    state: str  # "full", "lost" or "waits"
    changed: bool  # the answer, since a person gave these points
    message: str | None
    comment: Markup | None


class Marks(GetGrades):
    """nbgrader's step that puts the points into the notebook, and whether a person has to read."""

    def preprocess_cell(
        self, cell: NotebookNode, resources: Any, cell_index: int
    ) -> tuple[NotebookNode, Any]:
        """Add what the gradebook says about one cell."""
        cell, resources = super().preprocess_cell(cell, resources, cell_index)
        if is_grade(cell):
            grade = self.gradebook.find_grade(
                grade_id(cell),
                self.notebook_id,
                self.assignment_id,
                self.student_id,
            )
            mark = cell.metadata.nbgrader
            mark["waits"], mark["changed"] = to_look_at(grade)
        return cell, resources


class FeedbackExporter(Exporter):
    """Makes the page; this and `Marks` are chosen in nbgrader_config.py."""

    file_extension = ".html"
    output_mimetype = "text/html"

    def from_notebook_node(
        self, nb: NotebookNode, resources: Any = None, **more: Any
    ) -> Any:  # text, as every exporter but nbconvert's base class returns
        """The page, after the preprocessors have put points and comments into the notebook.

        nbgrader names what stands above: notebook, student, score, max_score and late_penalty.
        """
        nb, resources = super().from_notebook_node(nb, resources, **more)
        record, rows = resources["nbgrader"], _rows(nb)
        page = render(
            *("course_lib.grading.reporting", "pages", "feedback.html.j2"),
            title=graded_notebook.notebook_title(nb) or record["notebook"],
            student=record["student"],
            score=record["score"],
            points=record["max_score"],
            deducted=record["late_penalty"],
            waits=any(row.state == "waits" for row in rows.values()),
            changed=any(row.changed for row in rows.values()),
            rows=list(rows.values()),
            remarks=remarks_of(nb),
            blocks=[_block(cell, rows) for cell in _shown(nb)],
        )
        return page, resources


def _rows(notebook: NotebookNode) -> dict[str, GradedPart]:
    titles = graded_notebook.titles(notebook)
    rows, comment = {}, None
    for cell in notebook.cells:
        part = grade_id(cell)
        if is_solution(cell):  # what is said of an answer is said of its tests
            comment = _comment(cell)
        if part is None or not is_grade(cell):
            continue
        mark = cell.metadata.nbgrader
        by_tests = cell.cell_type == "code" and not is_solution(cell)
        score, points = float(mark.get("score") or 0), float(mark.get("points") or 0)
        waits = not by_tests and bool(mark.get("waits"))
        rows[part] = GradedPart(
            part=part,
            title=titles[part],
            score=score,
            points=points,
            state="waits" if waits else "full" if score >= points else "lost",
            changed=bool(mark.get("changed")),
            message=graded_notebook.message(cell) if by_tests and score < points else None,
            comment=comment,
        )
    return rows


def _shown(notebook: NotebookNode) -> list[NotebookNode]:
    """The cells worth a place on the page: all that nbgrader knows, others while they are few."""
    cells, length = [], 0
    for cell in notebook.cells:
        length += len(cell.source) + len(str(cell.get("outputs", "")))
        if cell.source.strip() and (grade_id(cell) or length < LONGEST_NOTEBOOK):
            cells.append(cell)
    return cells


def _block(cell: NotebookNode, rows: dict[str, GradedPart]) -> dict[str, Any]:
    """What the template says of a cell: "text", "code", "answer" or "test"."""
    part = grade_id(cell)
    row = rows.get(part) if part and is_grade(cell) else None
    answer = is_solution(cell)
    if cell.cell_type == "code":
        kind = "answer" if answer else "test" if row else "code"
        body = safe_html.code(cell.source)
    else:
        kind = "answer" if answer else "text"
        pasted = cell.get("attachments")
        body = safe_html.markdown(cell.source, 2, pasted) if pasted else _text(cell.source)
    return {
        "kind": kind,
        "row": row,
        "body": body,
        "outputs": [] if kind == "test" else safe_html.outputs(cell),
        "comment": _comment(cell) if answer else None,
    }


# Most of a notebook is the same in a whole class.
@functools.lru_cache(maxsize=256)
def _text(source: str) -> Markup:
    return safe_html.markdown(source, shift=2)


def _comment(cell: NotebookNode) -> Markup | None:
    """What a person wrote about an answer; what nbgrader says by itself is in the points."""
    comment = cell.metadata.nbgrader.get("comment")
    return safe_html.markdown(comment) if comment and comment != "No response." else None
