"""The instructor's own solution has to get every point before anything is released."""

from pathlib import Path

import pytest

from course_lib.assignments import instances
from course_lib.grading.authoring import own_solution
from course_lib.grading.authoring.own_solution import faults
from tests.conftest import ROOT, Course
from tests.grading.tiny import NAME, write_course


def test_a_hidden_test_that_the_solution_fails_stops_the_release(
    tmp_path: Path, course: Course, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_course(tmp_path, answer="number = 42", test="assert number == 43, 'Not 43.'")
    monkeypatch.chdir(tmp_path)
    done = course("release", NAME)
    assert done.status == 1
    assert "tiny, part: your own solution gets 0 of 2 points. Not 43." in done.out
    assert not (tmp_path / "exercises").exists()
    source = tmp_path / "solutions" / NAME / f"{NAME}.md"
    source.write_text(source.read_text().replace("43", "42"))
    assert course("release", NAME).status == 0
    assert (tmp_path / "exercises" / NAME / f"{NAME}.ipynb").is_file()


def test_a_solution_is_graded_with_the_numbers_that_are_to_be_released(
    tmp_path: Path, course: Course, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And where it fails, those of the last release stay."""
    write_course(tmp_path, answer="number = 42", test="assert number == 42")
    monkeypatch.chdir(tmp_path)
    drawn = tmp_path / "solutions" / NAME / instances.CLASS

    def lost(root: Path, name: str) -> list[str]:
        salted = drawn.is_file() and "salt" in drawn.read_text()
        return [f"{name}: drawn"] if salted else []

    monkeypatch.setattr(own_solution, "faults", lost)
    for before in (None, "an earlier word's"):
        if before is not None:
            drawn.write_text(before)
        done = course("release", NAME, "--variants", "a word")
        assert (done.status, done.out) == (1, f"{NAME}: drawn\n")
        assert (drawn.read_text() if drawn.is_file() else None) == before
    assert course("release", NAME).status == 0
    assert not drawn.exists()
    monkeypatch.setattr(own_solution, "faults", lambda *_: ["wrong"])
    assert course("release", NAME, "--check").out == "wrong\n"


def test_what_git_could_not_merge_is_not_released(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(own_solution, "_lost", lambda *_: [])
    write_course(tmp_path, answer="number = 42", test="assert number == 42")
    source = tmp_path / "solutions" / NAME / f"{NAME}.md"
    text = source.read_text()
    source.write_text(text.replace("Because.", "<<<<<<< HEAD\nBecause.\n=======\n>>>>>>> theirs"))
    found = faults(tmp_path, NAME)
    assert len(found) == 2
    assert "solutions/tiny/tiny.md, line" in found[0]
    source.write_text(text.replace("Because.", "Because\n======="))  # a heading, to Markdown
    assert faults(tmp_path, NAME) == []


def test_a_solution_of_the_course_gets_every_point() -> None:
    assert faults(ROOT, "attention_by_hand") == []
