"""Every model equals its equations in float64 NumPy: probabilities, weights and derivatives."""

import numpy as np
import pytest
import torch
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from course_lib.errors import CourseError
from course_lib.evaluation.forced import forced_alpha, sentence_log_probs
from course_lib.models.config import CHOICES
from tests.models.paper_names import paper_parameters
from tests.models.tiny import (
    EVERYTHING,
    LUONG,
    PAIRS,
    batch_of,
    every_context,
    label,
    tiny_model,
    with_end,
)
from tests.reference import translator
from tests.reference.translator import DECODERS, SCORES, Choices, alpha_matrix, decode


def check_against_equations(choices: Choices, seed: int = 0) -> None:
    """Each sentence's probability, and the loss's derivative in a random direction.

    A wrong derivative anywhere is seen in a direction that moves everything; only then is it worth
    asking every weight for itself.
    """
    model = tiny_model(choices, seed)
    batch = batch_of(PAIRS)
    p, pairs = paper_parameters(model), with_end(PAIRS)
    expected = [translator.log_prob(p, x, y, choices) for x, y in pairs]
    np.testing.assert_allclose(sentence_log_probs(model, batch).numpy(), expected, atol=1e-10)

    loss, _ = model.loss(batch)
    loss.backward()
    assert loss.item() == pytest.approx(-sum(expected), abs=1e-10)
    gradients = paper_parameters(model, gradients=True)
    rng = np.random.default_rng(seed)
    direction = {name: rng.normal(size=value.shape) for name, value in p.items()}

    def found(names: list[str]) -> float:
        return sum(float((gradients[name] * direction[name]).sum()) for name in names)

    def slope(names: list[str]) -> float:
        return translator.slope(p, pairs, choices, {name: direction[name] for name in names})

    if found(list(p)) != pytest.approx(slope(list(p)), abs=1e-9):
        for name in p:
            assert found([name]) == pytest.approx(slope([name]), abs=1e-9), name
        raise AssertionError("the derivatives differ in sum")


@pytest.mark.parametrize("choices", EVERYTHING, ids=label)
def test_probabilities_and_gradients_equal_the_equations(choices: Choices) -> None:
    check_against_equations(choices)


any_choices = st.builds(
    Choices,
    context=st.sampled_from(CHOICES["context"]),
    window=st.sampled_from([0, 1, 3]),
    decoder=st.sampled_from(DECODERS),
    unit=st.sampled_from(CHOICES["unit"]),
    layers=st.integers(1, 3),
    encoder=st.sampled_from(["bidirectional", "forward"]),
    reverse_source=st.booleans(),
)


@settings(max_examples=60, deadline=None)
@given(choices=any_choices, seed=st.integers(0, 9))
def test_whatever_can_be_combined_equals_the_equations(choices: Choices, seed: int) -> None:
    try:
        tiny_model(choices)
    except CourseError:
        assume(False)
    check_against_equations(choices, seed)


def looks_back(choices: Choices) -> bool:
    return choices.context in SCORES and choices.decoder != "sutskever"


@pytest.mark.parametrize(
    "choices", [c for c in [*every_context(), LUONG] if looks_back(c)], ids=label
)
def test_searching_and_forced_decoding_look_where_the_equations_look(choices: Choices) -> None:
    model = tiny_model(choices, seed=2)
    batch = batch_of(PAIRS)
    state = model.start(batch.source, batch.source_lengths, batch.source_mask)
    rows = []
    for y_prev in batch.target_in.T:
        _, alpha, state = model.step(y_prev, state)
        rows.append(alpha.detach())
    searched, forced = torch.stack(rows, dim=1), forced_alpha(model, batch)
    p = paper_parameters(model)
    for row, (source, target) in enumerate(with_end(PAIRS)):
        expected = alpha_matrix(decode(p, source, target, choices))
        for found in (searched[row], forced[row]):
            written = found[: len(target)]
            np.testing.assert_allclose(written[:, : len(source)], expected, atol=1e-12)
            assert not written[:, len(source) :].any()
