"""The assignment `attention_by_hand`: right answers pass, wrong ones fail where they belong."""

import math
import re
from pathlib import Path

import nbformat
import pytest
import torch
from nbformat import NotebookNode

from course_lib.grading import checks
from course_lib.grading.cells import failed_parts
from course_lib.grading.demonstration import Student, answered, automatic_parts, read_class
from course_lib.grading.project import project_root, source_of
from course_lib.grading.release import source_notebook

NAME = "attention_by_hand"
ROOT = project_root(Path(__file__).parent)
SOURCE = source_notebook(source_of(ROOT, NAME))
CLASS = read_class(ROOT, NAME)
# the others end, stall or change the interpreter: they are graded in a kernel of their own
IN_PROCESS = [
    student
    for student in CLASS
    if not student.blank and student.name not in {"crashing", "endless"}
]
FUNCTION = {"function_example", "function_general", "function_mask", "function_empty"}
HEAD = "def additive_attention(s_prev, annotations, W_s, W_h, v, mask=None):\n    "

RIGHT_FUNCTIONS = {
    "einsum": """query = torch.einsum("pn,bn->bp", W_s, s_prev)
    keys = torch.einsum("pd,btd->btp", W_h, annotations)
    energies = torch.einsum("p,btp->bt", v, torch.tanh(query[:, None] + keys))
    if mask is not None:
        energies = energies.masked_fill(~mask, float("-inf"))
    alpha = torch.nan_to_num(torch.softmax(energies, dim=-1))
    return torch.einsum("bt,btd->bd", alpha, annotations), alpha""",
    "double precision": """s, h = s_prev.double(), annotations.double()
    energies = torch.tanh((s @ W_s.double().T)[:, None] + h @ W_h.double().T) @ v.double()
    if mask is None:
        mask = torch.ones_like(energies, dtype=torch.bool)
    powers = torch.exp(energies - energies.max(1, keepdim=True).values) * mask
    alpha = powers / powers.sum(1, keepdim=True).clamp_min(1e-30)
    return (alpha[..., None] * h).sum(1), alpha""",
    "NumPy": """import numpy as np
    s, h, W, U, w = (x.detach().numpy() for x in (s_prev, annotations, W_s, W_h, v))
    energies = np.tanh((s @ W.T)[:, None] + h @ U.T) @ w
    powers = np.exp(energies) * (1 if mask is None else mask.numpy())
    total = powers.sum(1, keepdims=True)
    alpha = np.divide(powers, total, out=np.zeros_like(powers), where=total > 0)
    return np.einsum("bt,btd->bd", alpha, h), alpha""",
    "a helper and other names": """def score(state, note):
        return v @ torch.tanh(W_s @ state + W_h @ note)
    rows = []
    for i in range(s_prev.shape[0]):
        keep = range(annotations.shape[1]) if mask is None else mask[i].nonzero()[:, 0].tolist()
        row = torch.zeros(annotations.shape[1])
        if len(keep):
            scores = torch.stack([score(s_prev[i], annotations[i, j]) for j in keep])
            row[list(keep)] = torch.softmax(scores, 0)
        rows.append(row)
    alpha = torch.stack(rows)
    return torch.bmm(alpha[:, None], annotations)[:, 0], alpha""",
}

TANH = "torch.tanh((s_prev @ W_s.T).unsqueeze(1) + annotations @ W_h.T)"
MASKED = """if mask is not None:
        empty = ~mask.any(1, keepdim=True)
        energies = energies.masked_fill(~mask, float("-inf")).masked_fill(empty, 0.0)
    alpha = torch.softmax(energies, dim=1) * (1 if mask is None else mask)
    """
MIX = "return (alpha.unsqueeze(2) * annotations).sum(1), alpha"
# what is done wrong, and the parts that see it
WRONG_FUNCTIONS = {
    "no tangent": (
        f"energies = ((s_prev @ W_s.T).unsqueeze(1) + annotations @ W_h.T) @ v\n    {MASKED}{MIX}",
        {"function_example", "function_general"},
    ),
    "the state is left out": (
        f"energies = torch.tanh(annotations @ W_h.T) @ v\n    {MASKED}{MIX}",
        {"function_example", "function_general"},
    ),
    "v is left out": (
        f"energies = {TANH}.sum(2)\n    {MASKED}{MIX}",
        {"function_general"},
    ),
    "the results change places": (
        f"energies = {TANH} @ v\n    {MASKED}context, alpha = (alpha.unsqueeze(2) * annotations)"
        ".sum(1), alpha\n    return alpha, context",
        FUNCTION,
    ),
    "an average without the weights": (
        f"energies = {TANH} @ v\n    {MASKED}return annotations.mean(1), alpha",
        FUNCTION,
    ),
    "weights off by one position": (
        f"energies = torch.roll({TANH} @ v, 1, dims=1)\n    {MASKED}{MIX}",
        {"function_example", "function_general", "function_mask"},
    ),
    "the mask the other way round": (
        f"energies = {TANH} @ v\n    mask = None if mask is None else ~mask\n    {MASKED}{MIX}",
        {"function_mask", "function_empty"},
    ),
    "NaN in an empty row": (
        f"energies = {TANH} @ v\n    if mask is not None:\n"
        '        energies = energies.masked_fill(~mask, float("-inf"))\n'
        f"    alpha = torch.softmax(energies, 1)\n    {MIX}",
        {"function_empty"},
    ),
    "an empty row spreads its weight": (
        f"energies = {TANH} @ v\n    if mask is not None:\n"
        "        energies = energies.masked_fill(~mask, -1e9)\n"
        f"    alpha = torch.softmax(energies, 1)\n    {MIX}",
        {"function_empty"},
    ),
    "one empty row empties the batch": (
        f"energies = {TANH} @ v\n    {MASKED}"
        "alpha = alpha * 0 if mask is not None and not mask.any(1).all() else alpha\n    " + MIX,
        {"function_empty"},
    ),
    "the inputs are damaged": (
        f"energies = {TANH} @ v\n    {MASKED}"
        "return annotations.mul_(alpha.unsqueeze(2)).sum(1), alpha",
        {"function_general"},
    ),
    "the answer to the example is hard-coded": (
        "return torch.tensor([[0.7189, 0.7189]]), torch.tensor([[0.2811, 0.2811, 0.4378]])",
        FUNCTION,
    ),
    "weights without their batch axis": (
        f"energies = {TANH} @ v\n    {MASKED}"
        "return (alpha.unsqueeze(2) * annotations).sum(1), alpha[0]",
        FUNCTION,
    ),
    "only the context is returned": (
        f"energies = {TANH} @ v\n    {MASKED}return (alpha.unsqueeze(2) * annotations).sum(1)",
        FUNCTION,
    ),
}

RIGHT_NUMBERS = {
    "energies_answer": ["(1.367, 1.367, 1.81)", "torch.tensor([1.3673, 1.3673, 1.8103])"],
    "weights_answer": [
        "[0.281, 0.281, 0.438]",
        "__import__('numpy').array([0.2811, 0.2811, 0.4378])",
    ],
    "context_answer": ["[0.7189, 0.7189]", "[torch.tensor(0.719), 0.719]"],
    "winner_answer": ["3", "3.0", "'h3'", "torch.tensor(3)"],
    "energies_negated_answer": ["[0, 0, 0.9242]", "(0.001, -0.001, 0.924)"],
    "winner_negated_answer": ["[3]", "' h_3 '"],
}
WRONG_NUMBERS = {
    "energies_answer": [
        "[0.7616, 0.7616, 1.5232]",  # without the state
        "[2, 2, 3]",  # without the tangent
        "[0.9640, 0.9640, 0.9951]",  # the tangent of the sum
        "[1.8103, 1.3673, 1.3673]",  # in another order
        "[1.3673, 1.8103]",
        "[[1.3673], [1.3673], [1.8103]]",
        "[1, 3673, 1, 3673, 1, 8103]",  # decimal commas
        "['1.3673', '1.3673', '1.8103']",
        "[True, True, True]",
        "[float('nan')] * 3",
        "[1.5, 1.5, 1.8103]",
    ],
    "weights_answer": [
        "[1 / 3, 1 / 3, 1 / 3]",
        "[0.3008, 0.3008, 0.3983]",  # energies divided by their sum
        "[0.4378, 0.2811, 0.2811]",
        "[3.9248, 3.9248, 6.1123]",
        "[-0.2811, -0.2811, 1.5622]",
        "0.4378",
        "[float('inf')] * 3",
        "'0.28 0.28 0.44'",
    ],
    "context_answer": [
        "[1, 1]",
        "[2 / 3, 2 / 3]",  # the plain average
        "[0.2811, 0.4378]",
        "[3.1776, 3.1776]",
        "[0.7189]",
        "[0.7189, 0.7189, 0.7189]",
        "0.7189",
        "[0.4378, 0.4378]",
    ],
    "winner_answer": ["1", "2", "0", "4", "'third'", "[1, 2, 3]", "3.5", "float('nan')"],
    "energies_negated_answer": [
        "[0.9242, 0.9242, 0]",
        "[-0.0, -0.0, -0.9242]",
        "[-1.3673, -1.3673, -1.8103]",
        "[1.3673, 1.3673, 1.8103]",
        "[0.9242, 0.9242, 0.9242]",
        "[0, 0, 1]",
        "[0, 0, 0]",
        "[0, 0.9242]",
    ],
    "winner_negated_answer": ["1", "2", "0", "-3", "'none'", "None", "[]", "{}"],
}


def fails(answers: dict[str, str], blank: bool = False) -> dict[str, str]:
    """The parts that fail when these cells are answered like this and all others rightly."""
    student = Student("somebody", answers, blank, frozenset())
    return failed_parts(answered(student, SOURCE, SOURCE))


def tells_an_answer(message: str) -> bool:
    """Whether a message gives away a number that was asked for."""
    return bool(re.search(r"1\.367|1\.81|0\.281|0\.43[78]|0\.71[89]|0\.924", message))


def assign(cell: str, value: str) -> dict[str, str]:
    return {cell: f"{cell.removesuffix('_answer')} = {value}"}


@pytest.mark.parametrize("student", IN_PROCESS, ids=lambda student: student.name)
def test_the_demonstration_class_loses_exactly_what_it_declares(student: Student) -> None:
    failed = failed_parts(answered(student, SOURCE, SOURCE))
    assert failed.keys() == student.loses, failed


@pytest.mark.parametrize("body", RIGHT_FUNCTIONS.values(), ids=RIGHT_FUNCTIONS)
def test_every_right_function_is_accepted(body: str) -> None:
    assert fails({"function_answer": HEAD + body}) == {}


@pytest.mark.parametrize(("body", "parts"), WRONG_FUNCTIONS.values(), ids=WRONG_FUNCTIONS)
def test_a_wrong_function_loses_the_parts_that_see_it(body: str, parts: set[str]) -> None:
    failed = fails({"function_answer": HEAD + body})
    assert failed.keys() == parts, failed
    assert not any(map(tells_an_answer, failed.values())), failed


@pytest.mark.parametrize(
    ("cell", "value"), [(cell, value) for cell, all_ in RIGHT_NUMBERS.items() for value in all_]
)
def test_right_numbers_of_any_kind_are_accepted(cell: str, value: str) -> None:
    assert fails(assign(cell, value)) == {}


@pytest.mark.parametrize(
    ("cell", "value"), [(cell, value) for cell, all_ in WRONG_NUMBERS.items() for value in all_]
)
def test_wrong_numbers_cost_their_own_part_and_no_other(cell: str, value: str) -> None:
    failed = fails(assign(cell, value))
    assert failed.keys() == {cell.removesuffix("_answer")}
    assert all(message.startswith("Refused") for message in failed.values())
    assert not any(map(tells_an_answer, failed.values())), failed


def test_later_parts_follow_from_a_students_own_numbers_but_not_from_anything() -> None:
    uniform = {**assign("energies_answer", "[1, 1, 1]"), **assign("weights_answer", "[1/3] * 3")}
    assert fails({**uniform, **assign("context_answer", "[2/3, 2/3]")}).keys() == {
        "energies",
        "weights",
    }
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


def test_the_points_in_the_text_are_those_of_the_cells() -> None:
    cells = SOURCE.cells
    total = sum(
        cell.metadata.nbgrader.points
        for cell in cells
        if cell.metadata.get("nbgrader", {}).get("grade")
    )
    assert f"| | **total** | **{total}** |" in cells[0].source
    assert sum(automatic_parts(SOURCE).values()) == total - 3
    assert math.isclose(checks.TOLERANCE, 0.002)
    assert any("within **0.002**" in cell.source for cell in cells)


def test_the_blank_release_runs_to_its_end_without_an_answer_passing() -> None:
    released = _release()
    assert failed_parts(released).keys() == automatic_parts(released).keys()


def _solution(cell: str) -> object:
    namespace: dict[str, object] = {}
    source = next(
        c.source for c in SOURCE.cells if c.metadata.get("nbgrader", {}).get("grade_id") == cell
    )
    exec(source, namespace)
    return namespace[cell.removesuffix("_answer")]


def _release() -> NotebookNode:
    return nbformat.read(ROOT / "exercises" / NAME / f"{NAME}.ipynb", as_version=4)
