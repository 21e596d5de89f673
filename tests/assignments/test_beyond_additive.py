"""The assignment `beyond_additive`: its text and its numbers; the answers are tried elsewhere."""

import pytest
import torch

from course_lib.evaluation.saturation import saturation
from course_lib.models import masked_softmax
from course_lib.models.scores import DotAttention
from tests.assignments.cells import defined, source

SOURCE = source("beyond_additive")


def test_the_weights_by_hand_are_those_of_the_library() -> None:
    score = DotAttention(2, 2, scale=2**-0.5)
    h = torch.tensor([[[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]])
    energies = score.energies(torch.tensor([[2.0, -1.0]]), score.keys(h))
    right = masked_softmax(energies, torch.ones(1, 3, dtype=torch.bool))
    assert defined(SOURCE, "setup", "by_hand_answer")["by_hand"] == pytest.approx(
        right[0].tolist(), abs=5e-5
    )


def test_the_measured_medians_are_near_those_of_the_chapter() -> None:
    """Other draws of the same kind; the assignment's own are few."""
    measured = torch.tensor(
        defined(SOURCE, "setup", "draws", "measured_answer")["measured"]
    ).tolist()
    for row, name in zip(measured, ("dot", "scaled-dot"), strict=True):
        chapter = [one["largest"] for one in saturation((4, 64, 1024), keys=20)[name]]
        assert row == pytest.approx(chapter, abs=0.05)
