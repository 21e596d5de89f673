"""Vectors of a student's own: as the assignment's text says, for whatever id."""

import itertools
import math
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from course_lib.assignments import checks, instances, owner
from course_lib.assignments.checks import Refused


def energies(drawn: instances.ThreeVectors) -> list[float]:
    """Worked out here, too."""
    first, second = drawn.state
    return [math.tanh(first + x) + math.tanh(second + y) for x, y in drawn.annotations]


@given(st.text())
def test_the_numbers_are_friendly_and_the_energies_well_apart(name: str) -> None:
    drawn = instances.three_vectors(name)
    assert set(drawn.state) <= set(instances.STATE)
    assert {x for pair in drawn.annotations for x in pair} <= set(instances.ANNOTATION)
    low, middle, high = sorted(energies(drawn))
    assert min(middle - low, high - middle) >= instances.APART
    likeness = [drawn.state[0] * x + drawn.state[1] * y for x, y in drawn.annotations]
    winner = energies(drawn).index(high)
    assert likeness[winner] < max(likeness)
    assert all(len(set(column)) > 1 for column in zip(*drawn.annotations, strict=True))
    states = itertools.product(instances.GRID, repeat=2)
    assert any(
        energies(replace(drawn, state=state))[winner] < max(energies(replace(drawn, state=state)))
        for state in states
    )


def test_each_annotation_wins_for_about_a_third_and_neighbours_differ() -> None:
    drawn = [instances.three_vectors(f"student{number}") for number in range(600)]
    wins = Counter(energies(one).index(max(energies(one))) for one in drawn)
    assert all(150 < wins[place] < 250 for place in range(3))
    assert len(set(drawn)) > 590


def test_an_id_has_the_same_vectors_everywhere() -> None:
    assert instances.three_vectors(" Ada") == instances.three_vectors("ada")
    assert str(instances.three_vectors("ada")).splitlines() == ADA


def test_an_id_is_taken_unless_the_grader_knows_better(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert checks.whose("ada") == "ada"
    assert checks.whose(4711) == "4711"
    (tmp_path / owner.FILE).write_text("Ada\n")
    assert checks.whose(" ADA ") == "Ada"
    with pytest.raises(Refused, match="'bela', but 'Ada' handed this notebook in"):
        checks.whose("bela")
    (tmp_path / owner.FILE).write_text("ada\nbela\n")  # a group's
    assert checks.whose("Bela") == "bela"
    with pytest.raises(Refused, match="'cem', but 'ada' or 'bela' handed"):
        checks.whose("cem")
    for nobody in (None, "", "  ", True, ["ada"], 3.5):
        with pytest.raises(Refused, match="STUDENT_ID is"):
            checks.whose(nobody)


ADA = [
    "s_0 = (-1.0, -0.5)",
    "h_1 = ( 1.5, -1.5)",
    "h_2 = (-1.5, -1.5)",
    "h_3 = (-1.5, -0.5)",
]
