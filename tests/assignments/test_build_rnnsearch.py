"""The assignment `build_rnnsearch`: what its variants do not prove."""

import json
from typing import Any

import numpy as np
import pytest
import torch
from nbformat import NotebookNode

from course_lib.grading.authoring.demonstration import (
    Student,
    answered,
    read_variants,
)
from course_lib.grading.sources.project import source_of
from course_lib.grading.sources.release import source_notebook
from tests.assignments.cells import failed_parts
from tests.assignments.record_inputs import FILE, stored_inputs
from tests.conftest import ROOT

NAME = "build_rnnsearch"
SOURCE = source_notebook(source_of(ROOT, NAME))
STORED = json.loads(FILE.read_text(encoding="utf-8"))
AGREE = "They agree. This is RNNsearch"

Answers = dict[str, str]


def hand_in(answers: Answers, blank: bool = False) -> NotebookNode:
    return answered(Student("somebody", answers, blank, loses=frozenset()), SOURCE, SOURCE)


@pytest.fixture(autouse=True)
def beside_the_data(monkeypatch: pytest.MonkeyPatch) -> None:
    """A notebook runs where its data lie."""
    monkeypatch.chdir(FILE.parent)


@pytest.fixture(scope="module")
def functions() -> dict[str, Any]:
    """The instructor's functions."""
    namespace: dict[str, Any] = {"torch": torch}
    for cell in hand_in({}).cells:
        marks = cell.metadata.get("nbgrader", {})
        ours = not str(marks.get("grade_id")).startswith("slip")
        if marks.get("solution") and ours and cell.cell_type == "code":
            exec(cell.source, namespace)
    return namespace


def arguments(part: str) -> list[torch.Tensor]:
    return [torch.tensor(value) for value in STORED[part].values()]


def test_the_stored_inputs_are_those_of_an_independent_pass() -> None:
    again = stored_inputs()
    assert {part: [*given] for part, given in STORED.items()} == {
        part: [*given] for part, given in again.items()
    }
    for part, given in STORED.items():
        for name, value in given.items():
            np.testing.assert_allclose(value, again[part][name], atol=1.5e-6, err_msg=part)


def test_no_stored_input_is_the_answer_to_another_part(functions: dict[str, Any]) -> None:
    c, alpha = functions["additive_attention"](*arguments("attention"))
    s = functions["gated_unit"](*arguments("unit"))
    logits = functions["maxout_readout"](*arguments("readout"))
    rows = [
        row
        for part, given in STORED.items()
        if part != "mask"
        for value in given.values()
        for row in np.asarray(value, dtype=float).reshape(-1, np.shape(value)[-1])
    ]
    for name, answer in {"c": c, "alpha": alpha, "s": s, "logits": logits}.items():
        for wanted in answer.numpy():
            near = [row for row in rows if row.shape == wanted.shape]
            assert not any(np.allclose(row, wanted, atol=1e-3) for row in near), name


@pytest.mark.parametrize("kind", ["", "loops", "numpy"])
def test_put_together_right_functions_agree_with_the_library(
    kind: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Loops rename every argument, and NumPy's results are no tensors."""
    variants = [
        variant
        for variant in read_variants(ROOT, NAME).answers
        if kind and kind in variant.name.split("-") and not variant.loses
    ]
    assert len(variants) == (5 if kind else 0)
    answers = {cell: text for variant in variants for cell, text in variant.cells.items()}
    assert failed_parts(hand_in(answers)) == {}
    out, err = capsys.readouterr()
    assert AGREE in out
    assert err == ""


@pytest.mark.parametrize(
    ("answers", "blank", "says"),
    [
        ({}, True, "does not run yet"),
        ({"step_answer": "decoder_step = None"}, False, "does not run yet"),
        (
            {
                "readout_answer": "def maxout_readout(s_prev, Ey, c, U_o, V_o, C_o, W_o):\n"
                "    pairs = s_prev @ U_o.T + Ey @ V_o.T + c @ C_o.T\n"
                "    return torch.maximum(*pairs.chunk(2, dim=1)) @ W_o.T"
            },
            False,
            "They differ",
        ),
    ],
)
def test_put_together_wrong_functions_are_told_in_a_sentence(
    answers: Answers, blank: bool, says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    notebook = hand_in(answers)
    for cell in notebook.cells:
        metadata = cell.metadata.get("nbgrader", {})
        if blank and metadata.get("solution") and cell.cell_type == "code":
            heads = [line for line in cell.source.splitlines() if line.startswith("def ")]
            cell.source = "\n".join(f"{head}\n    pass" for head in heads)
        if metadata.get("grade_id") == "together":
            # if this cell raises, `failed_parts` names it
            metadata["grade"] = True
    assert "together" not in failed_parts(notebook)
    out, _ = capsys.readouterr()
    assert says in out
    assert AGREE not in out
