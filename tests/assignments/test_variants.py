"""Every assignment's tests, proved: right answers of every kind pass, and each wrong one costs what
it should and nothing else.

The answers are in `solutions/NAME/variants.yaml`; an assignment that has the file is proved.
"""

import json
import os
import re
import subprocess
import sys
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import pytest

from course_lib.assignments import inspection
from course_lib.grading.authoring.demonstration import (
    MadeUp,
    Student,
    automatic_parts,
    cell_of,
    disagreements,
    hand_in,
    read_variants,
)
from course_lib.grading.running.classroom import grade_class
from course_lib.grading.sources.project import (
    assignment_names,
    source_of,
)
from course_lib.grading.sources.release import source_notebook
from course_lib.records import read_record
from experiments.contentless import FILLINGS
from experiments.proof import belonging, table, ways
from tests.conftest import ROOT

NAMES = [
    name
    for name in assignment_names(ROOT)
    if (ROOT / "solutions" / name / "variants.yaml").is_file()
]
WRONG, RIGHT = 4, 2
"""How many of each kind a part needs at least."""


GUESSED = {"my_winner": {"one"}, "monotonic": {"word"}}
"""Parts whose answer is one of a few, and what happens to hit it; an id is no number at all."""


@dataclass(frozen=True)
class Proof:
    """An assignment's variants, and what each way of handing it in lost."""

    name: str
    variants: MadeUp
    parts: dict[str, list[str]]
    lost: dict[str, dict[str, str]]

    def every_part(self) -> list[str]:
        return [part for parts in self.parts.values() for part in parts]

    def hanging_on(self, cell: str) -> set[str]:
        """The parts that an answer decides: its own, and those that hang on it by design."""
        return {*self.parts[cell], *self.variants.also.get(cell, ())}


@cache
def proofs(names: tuple[str, ...]) -> "subprocess.CompletedProcess[str]":
    """What was lost, by assignment: one run, in an interpreter of its own, since it forks."""
    return subprocess.run(
        [sys.executable, "-m", "experiments.proof", *names],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture(
    params=[NAMES[0], *(pytest.param(name, marks=pytest.mark.slow) for name in NAMES[1:])]
)
def proof(request: pytest.FixtureRequest) -> Proof:
    """Each assignment's proof."""
    name = request.param
    asked = {
        item.callspec.params.get("proof")
        for item in request.session.items
        if hasattr(item, "callspec")
    }
    done = proofs(tuple(one for one in NAMES if one in asked))
    assert done.returncode == 0, done.stderr
    lost = json.loads(done.stdout)[name]
    parts = belonging(source_notebook(source_of(ROOT, name)))
    return Proof(name, read_variants(ROOT, name), parts, lost)


def test_the_reference_gets_every_point_and_the_blank_release_none(proof: Proof) -> None:
    assert proof.lost["reference"] == {}
    assert list(proof.lost["blank"]) == proof.every_part()
    assert proof.every_part() == list(automatic_parts(source_notebook(source_of(ROOT, proof.name))))


def test_partial_work_gets_its_parts_and_one_gap_costs_no_other(proof: Proof) -> None:
    wrong = []
    for cell, own in proof.parts.items():
        lost = proof.lost[f"only {cell}"]
        gets = set(proof.every_part()) - lost.keys()
        above = {
            part
            for needed, hanging in proof.variants.also.items()
            if hanging & set(own)
            for part in proof.parts.get(needed, ())  # an id alone has none
        }
        if gets != {*own, *above}:
            wrong.append(f"{cell} alone gets {sorted(gets)}, not {own}: {lost}")
        loses = proof.lost[f"without {cell}"]
        if not set(own) <= loses.keys() <= proof.hanging_on(cell):
            wrong.append(f"without {cell} is lost: {loses}")
    assert wrong == []


def test_each_variant_loses_exactly_what_it_declares(proof: Proof) -> None:
    wrong = []
    for variant in proof.variants.answers:
        lost = proof.lost[variant.name]
        wrong += [
            f"{variant.name} keeps {part}, which should refuse it"
            for part in sorted(variant.loses - lost.keys())
        ]
        wrong += [
            f"{variant.name} loses {part}, undeclared: {lost[part]}"
            for part in sorted(lost.keys() - variant.loses)
        ]
    assert wrong == []


def test_an_answer_without_content_earns_nothing(proof: Proof) -> None:
    """Found by trying: numbers that are all alike, empty sentences, the sum of all inputs.

    What a handed-in run is worth (`runs_...`) is read from its files, whatever the cell says.
    """
    earned = [
        f"{cell} {filling} earns {part}"
        for cell, own in proof.parts.items()
        for filling in FILLINGS
        for part in own
        if part not in proof.lost[f"{cell} {filling}"]
        and part != "whose"
        and not part.startswith("runs_")
        and filling not in GUESSED.get(part, ())
    ]
    assert earned == []


def test_a_variant_is_caught_by_the_parts_it_belongs_to_and_only_there(proof: Proof) -> None:
    astray = {
        variant.name: variant.loses - proof.hanging_on(cell_of(variant))
        for variant in proof.variants.answers
        if not variant.loses <= proof.hanging_on(cell_of(variant))
    }
    assert astray == {}


def test_every_part_refuses_enough_wrong_answers_and_takes_enough_right_ones(
    proof: Proof,
) -> None:
    few = []
    for cell, own in proof.parts.items():
        here = [variant for variant in proof.variants.answers if cell_of(variant) == cell]
        right = [variant.name for variant in here if not variant.loses]
        if len(right) < RIGHT:
            few.append(f"{cell}: {len(right)} right variants of {RIGHT}")
        for part in own:
            wrong = [variant.name for variant in here if part in variant.loses]
            if len(wrong) < WRONG:
                few.append(f"{part}: {len(wrong)} wrong variants of {WRONG}")
    assert few == []


def test_a_part_that_builds_on_another_can_be_lost_without_it(proof: Proof) -> None:
    """Else the two are one part, and a mistake in the first is paid for twice."""
    alone = {part for lost in proof.lost.values() if len(lost) == 1 for part in lost}
    further = {part for own in proof.parts.values() for part in own[1:]}
    assert further - alone == set()


def test_no_two_variants_are_the_same(proof: Proof) -> None:
    seen: dict[str, str] = {}
    for variant in proof.variants.answers:
        text = json.dumps([variant.cells, variant.files, variant.owner])
        assert seen.setdefault(text, variant.name) == variant.name


def test_what_is_refused_is_said_in_a_sentence_that_gives_no_answer_away(proof: Proof) -> None:
    """A number with three decimals or more would; only the tolerances are named."""
    bad = []
    for name, lost in proof.lost.items():
        for part, message in lost.items():
            kind, _, text = message.partition(": ")
            told = set(re.findall(r"\d+\.\d{3,}", text)) - {"0.001", "0.002", "0.005"}
            if kind not in {"Refused", "NameError", "Ended"} or told or not text.strip():
                bad.append(f"{name}, {part}: {message}")
    assert bad == []


def test_the_recorded_matrix_is_what_the_tests_say_today(proof: Proof) -> None:
    """The page of the instructor's guide is made of it."""
    again = f"Run `make record CHAPTER=grader-proof PART={proof.name}` and commit what it writes."
    assert read_record(f"proof-{proof.name}") == table(ROOT, proof.name, proof.lost), again


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_across_the_seam_every_way_to_hand_in_gets_the_marks_on_record(
    name: str, tmp_path: Path
) -> None:
    """End to end: each a student, handed in, graded and marked as a class is."""
    trained = name == inspection.ASSIGNMENT
    rows = read_record(f"proof-{name}")["rows"]
    lost = {row["name"]: frozenset(row["lost"]) for row in rows}
    released = (ROOT / "exercises" / name / f"{name}.ipynb").read_text(encoding="utf-8")
    classes: list[list[Student]] = []
    for student in (way.student for way in ways(ROOT, name)):
        loses = lost[student.name]
        if trained and student.id != "reference":  # the files have the reference's seed
            loses |= {"runs_recipe"}
        one = replace(student, name=student.id.replace(" ", "-"), owner="", loses=loses)
        # those that hand in under one id cannot sit in one class
        free = (group for group in classes if one.name not in {other.name for other in group})
        group = next(free, None)
        if group is None:
            classes.append([one])
        else:
            group.append(one)
    wrong = []
    for number, students in enumerate(classes):
        submitted = tmp_path / str(number) / "submitted"
        hand_in(ROOT, name, released, submitted, students)
        result = grade_class(ROOT, name, submitted=submitted, jobs=os.cpu_count() or 1)
        wrong += disagreements(result, students)
        for report in result.reports:
            spotless = report.student != "reference" or not report.remarks or trained
            if not report.graded or not spotless:
                wrong.append(f"{report.student}: {report.remarks}")
    assert wrong == []
