"""What a person looks for stands in every assignment and adds up to the points."""

import pytest

from course_lib.grading.reporting.rubric import Criterion, criteria, rubrics
from course_lib.grading.sources.project import assignment_names, source_of
from course_lib.grading.sources.release import source_notebook
from tests.conftest import ROOT


def test_criteria_are_the_lines_of_a_list_that_begin_with_points() -> None:
    text = "It gives\n\n- 0.5 points: its length\n- 2 points: a; or b\n- no more"
    assert criteria(text) == [Criterion(0.5, "its length"), Criterion(2.0, "a; or b")]
    assert criteria("Three points.\n- 3 points") == []


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
