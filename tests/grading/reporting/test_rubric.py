"""What a person looks for stands in every assignment and adds up to the points."""

import pytest
from nbformat.v4 import new_markdown_cell, new_notebook

from course_lib.grading.reporting.graded_notebook import Criterion, rubrics
from course_lib.grading.sources.project import assignment_names, source_of
from course_lib.grading.sources.release import source_notebook
from tests.conftest import ROOT

PART = {"grade_id": "why", "grade": True, "solution": True}


def test_criteria_are_the_lines_of_a_list_that_begin_with_points() -> None:
    text = "It gives\n\n- 0.5 points: its length\n- 2 points: a; or b\n- no more"
    answer = new_markdown_cell(metadata={"nbgrader": PART})
    for above, found in (
        (text, [Criterion(0.5, "its length"), Criterion(2.0, "a; or b")]),
        ("Three points.\n- 3 points", []),
    ):
        assert rubrics(new_notebook(cells=[new_markdown_cell(above), answer])) == {"why": found}


@pytest.mark.parametrize("name", assignment_names(ROOT))
def test_every_part_that_a_person_marks_has_criteria_for_all_its_points(name: str) -> None:
    notebook = source_notebook(source_of(ROOT, name))
    points = {
        cell.metadata.nbgrader.grade_id: cell.metadata.nbgrader.points
        for cell in notebook.cells
        if cell.metadata.get("nbgrader", {}).get("grade") and cell.metadata.nbgrader.solution
    }
    found = rubrics(notebook)
    assert points
    assert {part: sum(one.points for one in found[part]) for part in points} == points
