"""A class through `course grade`: made-up students, and one who hands in an empty folder.

What else folders may hold is tried in `test_hostile.py`.
"""

import csv
import io
import json
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import pytest

from course_lib.grading.authoring.demonstration import hand_in, read_class
from course_lib.grading.running.submission import Job, grade
from tests.conftest import ROOT, typed

NAME = "attention_by_hand"
RELEASED = (ROOT / "exercises" / NAME / f"{NAME}.ipynb").read_text()
CLASS = read_class(ROOT, NAME)
LOST = {one.name: one.loses for one in CLASS}
STUDENTS = ("reference", "blank", "endless")


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What the command says as JSON, its exit status and its table."""
    place = tmp_path_factory.mktemp("class")
    course = place / "course"
    course.mkdir()
    for folder in ("solutions", "exercises"):
        (course / folder).symlink_to(ROOT / folder)
    settings = (ROOT / "nbgrader_config.py").read_text() + "\nc.ContainedExecute.timeout = 10\n"
    (course / "nbgrader_config.py").write_text(settings)
    made_up = [one for one in CLASS if one.name in STUDENTS]
    hand_in(ROOT, NAME, RELEASED, place / "submitted", made_up)
    (place / "submitted" / "nothing" / NAME).mkdir(parents=True)
    words = ["--submitted", place / "submitted", "--export", place / "grades.csv"]
    printed = io.StringIO()
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(printed):
        patch.chdir(course)
        status = typed("grade", NAME, "--json", *words)
    with (place / "grades.csv").open(newline="") as stream:
        rows = list(csv.DictReader(stream))
    said = json.loads(printed.getvalue())
    return {
        "status": status,
        "students": {one["student"]: one for one in said["students"]},
        "rows": {row["student"]: row for row in rows},
    }


def scores(student: dict[str, Any]) -> dict[str, float]:
    """The parts that tests decide."""
    return {part: mark["score"] for part, mark in student["parts"].items() if not mark["to_read"]}


def test_made_up_students_get_exactly_the_marks_they_deserve(result: dict[str, Any]) -> None:
    assert len(LOST) == 12
    for name in STUDENTS:
        parts = result["students"][name]["parts"]
        full = {part for part, mark in parts.items() if mark["score"] == mark["points"]}
        assert full == {part for part in parts if part != "why"} - LOST[name], name
    assert result["students"]["blank"]["score"] == 0


def test_the_paragraph_waits_for_a_person_unless_nothing_is_written(result: dict[str, Any]) -> None:
    for name, waits in (("reference", True), ("blank", False)):
        assert result["students"][name]["parts"]["why"]["to_read"] is waits
        assert result["students"][name]["parts"]["why"]["score"] == (None if waits else 0)


def test_what_happened_to_an_unlucky_notebook_is_named(result: dict[str, Any]) -> None:
    endless = result["students"]["endless"]
    assert "context_answer was stopped: it took too long" in " ".join(endless["remarks"])
    assert "This cell did not end in time, and was stopped" in Path(endless["feedback"]).read_text()


def test_what_cannot_be_graded_is_marked_named_and_stops_nobody(result: dict[str, Any]) -> None:
    assert result["status"] == 1
    nothing = result["students"]["nothing"]
    assert nothing["score"] == 0
    assert set(scores(nothing).values()) == {0}
    assert nothing["remarks"][0].split("(")[0] in Path(nothing["feedback"]).read_text()
    graded = {name for name, one in result["students"].items() if one["graded"]}
    assert graded == set(STUDENTS)


def test_a_folder_nbgrader_cannot_name_is_told_apart(tmp_path: Path) -> None:
    outcome = grade(Job(ROOT, tmp_path, tmp_path, "ada [1]", NAME, RELEASED, boxed=True))
    assert not outcome.graded
    assert "Rename it" in outcome.remarks[0]
    assert not (tmp_path / "gradebook.db").exists()


def test_the_exported_table_has_a_line_a_student_and_the_same_marks(
    result: dict[str, Any],
) -> None:
    assert result["rows"].keys() == result["students"].keys()
    for name, row in result["rows"].items():
        one = result["students"][name]
        assert float(row["total"]) == one["score"]
        assert float(row["out of"]) == one["points"] == 38
        for part, score in scores(one).items():
            assert float(row[part]) == score
