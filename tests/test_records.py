"""Records are found by their name: in the course one works in, or else in the library's own."""

from pathlib import Path

import pytest

from course_lib.errors import CourseError
from course_lib.records import read_record, record_path, record_paths, work_in
from tests.conftest import ROOT


@pytest.fixture
def course(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A course with two chapters' records, and the working directory in one of its folders."""
    for place in ("book/notebooks", "experiments/01-one", "experiments/02-two"):
        (tmp_path / place).mkdir(parents=True)
    (tmp_path / "experiments" / "recording.py").touch()
    (tmp_path / "experiments" / "01-one" / "run-b.json").write_text('"für"', encoding="utf-8")
    (tmp_path / "experiments" / "02-two" / "run-a.json").write_text("[1]", encoding="utf-8")
    monkeypatch.chdir(tmp_path / "book" / "notebooks")
    monkeypatch.setattr("course_lib.records.LIBRARY", tmp_path / "site-packages")
    return tmp_path


def test_a_name_is_enough_in_every_folder_of_the_course(
    course: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for folder in (course, course / "book", course / "book" / "notebooks"):
        monkeypatch.chdir(folder)
        assert read_record("run-a") == [1]
        assert read_record("run-b") == "für"
    assert [path.stem for path in record_paths("run-*")] == ["run-a", "run-b"]


def test_elsewhere_the_clone_is_the_one_that_the_library_lies_in(
    course: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("course_lib.records.LIBRARY", course)
    monkeypatch.chdir(tmp_path_factory.mktemp("downloads"))
    assert read_record("run-a") == [1]
    work_in("book/notebooks")
    assert Path.cwd() == course / "book" / "notebooks"


def test_what_is_not_there_is_said_in_one_line(
    course: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(CourseError, match=r"^There is no record 'run-c'\. .+ lists them\.$"):
        record_path("run-c")
    (course / "experiments" / "recording.py").unlink()
    with pytest.raises(CourseError, match=r"^There are no records .+ Work in a clone"):
        read_record("run-a")


def test_no_two_records_of_the_course_have_one_name() -> None:
    names = [path.name for path in (ROOT / "experiments").glob("*/*.json")]
    assert names
    assert len(set(names)) == len(names)
