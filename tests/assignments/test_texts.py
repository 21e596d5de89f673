"""What an assignment's texts say of points, and which names its tests take."""

import dis
import re

import pytest

from course_lib.grading.authoring.demonstration import automatic_parts
from course_lib.grading.sources.data import ANSWER, orals_of
from course_lib.grading.sources.marked_cells import grade_id, is_grade
from course_lib.grading.sources.project import assignment_names, source_of
from course_lib.grading.sources.release import source_notebook
from tests.conftest import ROOT

MODULES = {
    *("np", "torch", "json", "math", "Path"),
    *("checks", "inspection", "instances", "owner", "pictures", "slips", "steps"),
}
"""What a test may import under its usual name, as the notebooks' first cells do."""


HIDDEN = re.compile(r"### BEGIN HIDDEN TESTS.*?### END HIDDEN TESTS", re.DOTALL)


def given_names(source: str) -> set[str]:
    steps = dis.get_instructions(compile(source, "<test>", "exec"))
    return {str(step.argval) for step in steps if step.opname == "STORE_NAME"}


def text(path: str) -> str:
    return (ROOT / "book" / path).read_text(encoding="utf-8")


@pytest.mark.parametrize("name", assignment_names(ROOT))
def test_the_points_in_the_texts_are_those_of_the_cells(name: str) -> None:
    source = source_notebook(source_of(ROOT, name))
    opening = source.cells[0].source
    graded = [cell for cell in source.cells if cell.metadata.get("nbgrader", {}).get("grade")]
    total = sum(cell.metadata.nbgrader.points for cell in graded)
    automatic = sum(automatic_parts(source).values())
    assert 0 < automatic < total
    assert f"| | **total** | **{total}** |" in opening
    page = text(f"assignments/{name}.md")
    assert f"**Points:** {total}, of which {total - automatic:g} for a paragraph" in page
    rows = [line for line in opening.splitlines() if line[:4].strip("| ").isdigit()]
    assert rows
    assert [line for line in rows if line not in page] == []
    shares = f"{total}: {automatic:g} by tests, {total - automatic:g} by a person"
    [line] = [
        line for line in text("teaching/instructors.md").splitlines() if f"[`{name}`]" in line
    ]
    assert shares in line


@pytest.mark.parametrize("name", assignment_names(ROOT))
def test_there_is_something_to_ask_about_every_part(name: str) -> None:
    source = source_of(ROOT, name)
    parts = [cell for cell in source_notebook(source).cells if is_grade(cell)]
    orals = orals_of(source)
    assert [grade_id(cell) for cell in parts] == [*orals]
    for one in orals.values():
        assert one.question.replace(ANSWER, "").count("{") == 0
        assert one.question.rstrip()[-1] in "?."
        assert one.owner.endswith(".")


@pytest.mark.parametrize("name", assignment_names(ROOT))
def test_the_top_says_what_is_understood_afterwards(name: str) -> None:
    opening = source_notebook(source_of(ROOT, name)).cells[0].source
    assert opening.count("**What you understand afterwards:** ") == 1


@pytest.mark.parametrize("name", assignment_names(ROOT))
def test_a_visible_test_takes_no_name_that_may_be_a_students(name: str) -> None:
    """In a student's own notebook a helper called `one` is still theirs after every test."""
    taken = {}
    for cell in source_notebook(source_of(ROOT, name)).cells:
        marks = cell.metadata.get("nbgrader", {})
        if cell.cell_type == "code" and marks.get("grade") and not marks["solution"]:
            names = given_names(re.sub(HIDDEN, "pass", cell.source)) - MODULES
            taken[marks["grade_id"]] = {one for one in names if not one.startswith("_")}
    assert taken
    assert {part: names for part, names in taken.items() if names} == {}
