"""Numbers of a student's own, and the name the grader leaves for the tests to find."""

import random
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from course_lib.assignments import owner


def test_a_student_at_work_has_no_owner(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert owner.owner() is None
    (tmp_path / owner.FILE).write_text(" \n")
    assert owner.owner() is None
    (tmp_path / owner.FILE).write_text("Ada\n")
    assert owner.owner() == "Ada"


@given(st.text())
def test_spelling_an_id_differently_changes_nothing(name: str) -> None:
    other = f"  {name.casefold()}\t"
    assert owner.same(name, other)
    assert owner.seed(name) == owner.seed(other)
    assert 0 <= owner.seed(name) < 2**31


def test_everybody_has_numbers_of_their_own_and_the_same_ones_everywhere() -> None:
    assert owner.seed("ada") == 2112766733
    assert len({owner.seed(f"student{number}") for number in range(2000)}) == 2000
    assert owner.draw("Ada ").random() == random.Random(owner.seed("ada")).random()
    assert not owner.same("ada", "bea")
