"""exercises/ is what solutions/ gives, and gives nothing away."""

import shutil
from pathlib import Path

import nbformat
import pytest

from course_lib.errors import CourseError
from course_lib.grading.sources.project import assignment_names, source_of
from course_lib.grading.sources.release import (
    differences,
    generate,
    release,
)
from tests.conftest import ROOT

NAMES = assignment_names(ROOT)


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the course's assignments, to spoil."""
    copy = tmp_path_factory.mktemp("course")
    shutil.copy(ROOT / "nbgrader_config.py", copy)
    for folder in ("solutions", "exercises"):
        shutil.copytree(ROOT / folder, copy / folder)
    return copy


def test_the_release_is_in_step_with_its_source() -> None:
    assert differences(ROOT, []) == {}


@pytest.mark.parametrize("name", NAMES)
def test_released_cells_are_named_by_their_grade_ids_and_locked_as_they_should(name: str) -> None:
    released = (ROOT / "exercises" / name / f"{name}.ipynb").read_text()
    assert "BEGIN SOLUTION" not in released
    assert "HIDDEN TESTS" not in released
    notebook = nbformat.reads(released, as_version=4)
    nbformat.validate(notebook)
    for cell in notebook.cells:
        metadata = cell.metadata.get("nbgrader")
        if metadata:
            assert cell["id"] == metadata["grade_id"]
            assert metadata["locked"] is not metadata["solution"]


def test_a_difference_is_named_and_a_release_removes_it(course: Path) -> None:
    name = NAMES[0]
    notebook = course / "exercises" / name / f"{name}.ipynb"
    stray = notebook.parent / "answers.txt"
    untouched = notebook.read_bytes()
    notebook.write_bytes(untouched.replace(b"pencil", b"abacus"))
    stray.write_text("energies = ...")
    assert differences(course, [name]) == {notebook: "different", stray: "left over"}
    release(course, [name])
    assert notebook.read_bytes() == untouched
    assert not stray.exists()
    notebook.unlink()
    assert differences(course, [name]) == {notebook: "missing"}


def test_a_source_nbgrader_does_not_take_is_a_plain_mistake(course: Path) -> None:
    source = source_of(course, NAMES[0])
    source.write_text(source.read_text().replace("### END SOLUTION", "### THE END", 1))
    with pytest.raises(CourseError, match=r"^nbgrader does not take solutions/.*no end solution"):
        generate(course, NAMES[0])


def test_an_unknown_assignment_is_answered_with_the_known_ones() -> None:
    with pytest.raises(CourseError, match=rf"called 'nope'\. Known: {', '.join(NAMES)}\."):
        generate(ROOT, "nope")
