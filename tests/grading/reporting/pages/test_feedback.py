"""A student's page, made by nbgrader's feedback converter from a gradebook, in a browser."""

from collections.abc import Callable
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_markdown_cell, new_output
from nbgrader.api import Gradebook
from nbgrader.converters import GenerateFeedback
from nbgrader.coursedir import CourseDirectory

from course_lib.grading.intake.late import set_policy, settle
from course_lib.grading.sources.marked_cells import grade_id
from course_lib.grading.sources.project import (
    db_url,
    load_config,
    nbgrader_messages,
    source_of,
)
from course_lib.grading.sources.release import generate, source_notebook
from tests.conftest import ROOT
from tests.grading.tiny import cell_of

NAME = "attention_by_hand"
SPY = "https://example.org/spy"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of a late student with one wrong part, one crash, a comment, and bad intentions."""
    place = tmp_path_factory.mktemp("class")
    generate(ROOT, NAME, db_url(place))
    set_policy(ROOT, place, NAME, "2026-05-04T12:00Z", "{points: 1}")
    notebook = source_notebook(source_of(ROOT, NAME))
    cell_of(notebook, "weights").outputs = [
        new_output("error", ename="Refused", evalue="They do not add up to <one>.", traceback=[])
    ]
    cell_of(notebook, "function_mask").outputs = [
        new_output("error", ename="RuntimeError", evalue="shapes", traceback=[])
    ]
    cell_of(notebook, "why").source = (
        f'Because. <script>fetch("{SPY}")</script><img src="{SPY}" onerror="alert(1)">'
        f'<link rel=stylesheet href="{SPY}"><h1 style="background:url({SPY})">Grade: 25</h1>'
    )
    notebook.cells.append(new_markdown_cell(f"![spy]({SPY})\n\n<iframe src='{SPY}'></iframe>"))
    with nbgrader_messages(), Gradebook(db_url(place), "looking_back") as gradebook:
        gradebook.update_or_create_student("ada")
        gradebook.update_or_create_submission(NAME, "ada", timestamp="2026-05-05 13:00:00 UTC")
        graded = gradebook.find_submission_notebook(NAME, NAME, "ada")
        for grade in graded.grades:
            failed = grade.name in {"weights", "function_mask"}
            grade.auto_score = 0 if failed else grade.max_score
        grade = gradebook.find_grade("why", NAME, NAME, "ada")
        grade.auto_score, grade.needs_manual_grade = None, True
        gradebook.find_comment("why", NAME, NAME, "ada").manual_comment = "Say *why* $h_3$ wins."
        gradebook.db.commit()
    settle(ROOT, place, NAME, ["ada"])
    folder = place / "autograded" / "ada" / NAME
    folder.mkdir(parents=True)
    nbformat.write(notebook, folder / f"{NAME}.ipynb")
    config = load_config(ROOT)
    config.CourseDirectory.root = str(place)
    config.CourseDirectory.db_url = db_url(place)
    with nbgrader_messages():
        course = CourseDirectory(config=config)
        course.assignment_id, course.student_id = NAME, "ada"
        GenerateFeedback(coursedir=course, config=config).start()
    return place / "feedback" / "ada" / NAME / f"{NAME}.html"


def test_it_works_offline_for_everybody_and_runs_nothing(
    made: Path, visit: Callable[[Path], object]
) -> None:
    seen = visit(made)
    assert seen.requests == []
    assert seen.errors == []
    assert seen.grave == []
    assert seen.sideways == 0
    assert seen.formulas > 20


def test_it_says_the_points_what_was_not_right_and_what_being_late_cost(
    made: Path, visit: Callable[[Path], object]
) -> None:
    text = visit(made).text
    points = {
        grade_id(cell): cell.metadata.nbgrader.points
        for cell in source_notebook(source_of(ROOT, NAME)).cells
        if cell.metadata.get("nbgrader", {}).get("grade")
    }
    # all but the two parts that failed, the one to be read, and 2 for two days begun
    so_far = sum(points.values()) - sum(points[p] for p in ("weights", "function_mask", "why")) - 2
    assert f"{so_far:g} of {sum(points.values()):g} points, so far" in text
    assert "2 points were taken away" in text
    assert "They do not add up to <one>." in text
    assert "RuntimeError: shapes" in text
    assert "to be read, of 3" in text
    assert "Say why" in text


def test_every_part_of_the_list_leads_to_its_cell(made: Path) -> None:
    page = made.read_text()
    parts = ["energies", "weights", "function_empty", "why"]
    for part in parts:
        assert page.count(f'href="#part-{part}"') == 1
        assert page.count(f'id="part-{part}"') == 1
