"""The unit of a trained encoder is the one it reads with, and its gate that of the equations."""

import numpy as np
import pytest
import torch

from course_lib.corpora.batches import make_source
from course_lib.evaluation.gradients import fresh_unit
from course_lib.models import ModelConfig, build_model
from course_lib.models.units import state_size
from experiments.reading_units import reading_unit, sentence_ends, update_gate
from tests.models.paper_names import unit_parameters
from tests.reference.cells import cell_step, sigma, zero_state


@pytest.mark.parametrize("unit", ["paper", "tanh", "lstm"])
def test_the_unit_of_a_model_is_the_one_it_reads_with(unit: str) -> None:
    """From the state before a sentence's end it makes the annotations there."""
    model = build_model(ModelConfig(20, 20, 3, 4, unit=unit, encoder="forward")).double().eval()
    generator = torch.Generator().manual_seed(3)
    for parameter in model.parameters():
        parameter.data.normal_(std=0.5, generator=generator)
    sources = [[5, 6, 7, 8, 9], [9], [10, 11, 12]]
    inputs, start = sentence_ends(model, sources, 4)  # the second has too few words
    alone = reading_unit(model)
    assert inputs.shape == (2, 4, 3)
    assert start.shape == (2, state_size(alone))
    assert not start[1].any()  # the third has four with its end mark, and nothing before
    for row, source in enumerate((sources[0], sources[2])):
        annotations, _ = model.encoder(*make_source([source]))
        state = start[row : row + 1]
        for j, projected in enumerate(alone.W(inputs[row]), start=len(source) - 3):
            state = alone(projected[None], state)
            torch.testing.assert_close(state[0, -4:], annotations[0, j])


def test_the_update_gate_is_that_of_the_equations() -> None:
    """Against the NumPy reference."""
    unit = fresh_unit("paper", inputs=3, size=4, recurrence=2.0)
    inputs = torch.randn(6, 3, dtype=torch.double, generator=torch.Generator().manual_seed(0))
    p = unit_parameters({k: w.detach().numpy() for k, w in unit.named_parameters()}, "paper", "dec")
    expected, state = [], zero_state(4, "paper")
    for x in inputs.numpy():
        expected.append(sigma(p["dec.W_z"] @ x + p["dec.U_z"] @ state.h + p["dec.b_z"]))
        state = cell_step(p, "dec", "paper", [("W", x)], state)
    start = torch.zeros(1, 4, dtype=torch.double)
    np.testing.assert_allclose(update_gate(unit, inputs[None], start)[0], expected)
