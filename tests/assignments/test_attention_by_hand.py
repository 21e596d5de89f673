"""The assignment `attention_by_hand`: what the proof of its variants does not cover."""

from pathlib import Path

import pytest
import torch

from course_lib.assignments import checks, owner
from course_lib.files import copy_files
from course_lib.grading.authoring.demonstration import Student, answered, read_class
from course_lib.grading.sources.project import source_of
from course_lib.grading.sources.release import data_files
from tests.assignments.cells import ROOT, defined, failed_parts, source

NAME = "attention_by_hand"
SOURCE = source(NAME)
CLASS = read_class(ROOT, NAME)
# the others stall or change the interpreter: they are graded in a kernel of their own
IN_PROCESS = [student for student in CLASS if not student.blank and student.name != "endless"]


def fails(answers: dict[str, str], blank: bool = False) -> dict[str, str]:
    """The parts that fail when these cells are answered like this and all others rightly."""
    student = Student("somebody", answers, blank, loses=frozenset())
    return failed_parts(answered(student, SOURCE, SOURCE))


def assign(cell: str, value: str) -> dict[str, str]:
    return {cell: f"{cell.removesuffix('_answer')} = {value}"}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The files that lie beside the notebook."""
    copy_files(data_files(source_of(ROOT, NAME)), tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("student", IN_PROCESS, ids=lambda student: student.name)
def test_the_demonstration_class_loses_exactly_what_it_declares(
    student: Student, folder: Path
) -> None:
    (folder / owner.FILE).write_text(student.id)
    failed = failed_parts(answered(student, SOURCE, SOURCE))
    assert failed.keys() == student.loses, failed


def test_later_parts_follow_from_a_students_own_numbers_but_not_from_anything() -> None:
    equal = {**assign("energies_answer", "[1, 1, 1]"), **assign("weights_answer", "[1/3] * 3")}
    assert fails({**equal, **assign("context_answer", "[2/3, 2/3]")}).keys() == {"energies"}
    unequal = {**assign("energies_answer", "[1, 1, 2]"), **assign("weights_answer", "[1/3] * 3")}
    assert fails(unequal).keys() == {"energies", "weights"}
    slip = {
        **assign("energies_answer", "[1.2, 1.2, 2.0]"),
        **assign("weights_answer", "[0.2366, 0.2366, 0.5267]"),
        **assign("context_answer", "[0.7634, 0.7634]"),
    }
    assert fails(slip).keys() == {"energies"}


def test_the_numbers_in_the_text_are_those_of_the_equations() -> None:
    """Independent of the test cells: the numbers worked out with tensors."""
    h = torch.tensor([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]], dtype=torch.float64)
    for s, solution in ((0.5, "energies_answer"), (-0.5, "energies_negated_answer")):
        energies = torch.tanh(h + s).sum(1)
        written = _solution(solution)
        checks.close(written, energies, solution, hint="", tolerance=5e-5 + 1e-12)
        if s > 0:
            alpha = torch.softmax(energies, 0)
            checks.close(_solution("weights_answer"), alpha, "alpha", hint="", tolerance=6e-5)
            checks.close(_solution("context_answer"), alpha @ h, "context", hint="", tolerance=6e-5)
        assert int(energies.argmax()) + 1 == _solution("winner_answer") == 3


def test_a_slip_in_own_numbers_is_paid_for_once_and_a_neighbours_numbers_earn_nothing() -> None:
    """Weights and context may follow from own energies; not from those of somebody else."""
    follow = {
        "my_weights_answer": "my_weights = torch.tensor(my_energies).softmax(0).tolist()",
        "my_context_answer": "my_context = [sum(w * h[k] for w, h in zip(my_weights,"
        " mine.annotations)) for k in range(2)]",
    }
    energies = "[sum(math.tanh(s + x) for s, x in zip({0}.state, h)) for h in {0}.annotations]"
    slip = f"my_energies = {energies.format('mine')}\nmy_energies[1] += 0.3"
    no_tangent = "my_energies = [sum(mine.state) + sum(h) for h in mine.annotations]"
    rounded = f"my_energies = [round(e, 2) for e in {energies.format('mine')}]"
    for one in (slip, no_tangent, f"{rounded}\nmy_energies[0] += 0.004"):
        assert fails({"my_energies_answer": one, **follow}).keys() == {"my_energies"}
    theirs = f"bela = instances.three_vectors('bela')\nmy_energies = {energies.format('bela')}"
    copied = fails({"my_energies_answer": theirs, **follow})
    assert copied.keys() == {"my_energies", "my_weights", "my_context"}


def _solution(cell: str) -> object:
    return defined(SOURCE, cell)[cell.removesuffix("_answer")]
