"""Numbers of a student's own, and the name the grader leaves for the tests to find."""

import random
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from course_lib.assignments import owner


def test_a_student_at_work_has_no_owner(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert owner.owner() is None
    (tmp_path / owner.FILE).write_text(" \n")
    assert owner.owner() is None
    (tmp_path / owner.FILE).write_text("Ada\n")
    assert owner.owner() == "Ada"


@given(st.text(st.characters(exclude_characters="\n", exclude_categories=["Cs"])))
@example("o'brien")
@example("UNI\\ada")
@example("eva müller")
@example("a" * 99 + "'b")
def test_an_id_as_typed_and_the_folder_made_of_it_are_one(name: str) -> None:
    for other in (f"  {name}\t", owner.as_folder(name), owner.as_folder(name).casefold()):
        assert owner.same(name, other)
        assert owner.seed(name) == owner.seed(other)
    assert 0 <= owner.seed(name) < 2**31


def test_everybody_has_numbers_of_their_own_and_the_same_ones_everywhere() -> None:
    assert owner.seed("ada") == 2112766733
    assert len({owner.seed(f"student{number}") for number in range(2000)}) == 2000
    assert owner.draw("Ada ").random() == random.Random(owner.seed("ada")).random()
    assert not owner.same("ada", "bea")


def test_a_backslash_is_one_however_python_reads_it() -> None:
    for letter in "abfnrtve":
        login = f"UNI\\{letter}ina"
        as_typed = {"a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}
        typed = f"UNI{as_typed.get(letter, chr(92) + letter)}ina"
        assert owner.same(typed, owner.as_folder(login)), letter


def test_of_a_group_any_member_may_be_named() -> None:
    assert owner.same("Bea", "ada\nbea")
    assert not owner.same("cem", "ada\nbea")
