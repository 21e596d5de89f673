"""What a person looks for is written beside every assignment and adds up to the points."""

from itertools import pairwise

import pytest

from course_lib.grading.sources.data import Criterion, criteria_of
from course_lib.grading.sources.marked_cells import grade_id, is_grade, is_solution
from course_lib.grading.sources.project import assignment_names, source_of
from course_lib.grading.sources.release import source_notebook
from tests.conftest import ROOT


def test_a_criterion_is_said_with_its_points() -> None:
    criteria = Criterion(0.5, "its length"), Criterion(1, "a; or b")
    assert list(map(str, criteria)) == ["0.5 points: its length", "1 point: a; or b"]


@pytest.mark.parametrize("name", assignment_names(ROOT))
def test_every_part_that_a_person_marks_has_criteria_for_all_its_points(name: str) -> None:
    criteria, points = criteria_of(source_of(ROOT, name)), {}
    for above, cell in pairwise(source_notebook(source_of(ROOT, name)).cells):
        if is_grade(cell) and is_solution(cell):
            part = str(grade_id(cell))
            points[part] = cell.metadata.nbgrader.points
            assert above.cell_type == "markdown"
            assert above.source.endswith("\n".join(f"- {one}" for one in criteria[part]))
    assert points
    assert {part: sum(one.points for one in listed) for part, listed in criteria.items()} == points
