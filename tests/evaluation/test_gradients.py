"""Gradients through time equal what can be worked out, and finite differences elsewhere."""

import numpy as np
import pytest
import torch
from torch import Tensor

from course_lib.evaluation.gradients import fresh_unit, gradient_norms, gradients_through_time
from course_lib.models.units import UNITS, state_size


def words(*shape: int, seed: int = 0) -> Tensor:
    return torch.randn(shape, dtype=torch.double, generator=torch.Generator().manual_seed(seed))


@pytest.mark.parametrize("scale", [0.5, 1.0, 1.25])
def test_an_orthogonal_recurrence_multiplies_by_its_scale_each_step(scale: float) -> None:
    """At 0 the tanh is a straight line of slope 1, so d h_T / d h_{T-k} is the matrix U^k."""
    unit = fresh_unit("tanh", inputs=3, size=6, recurrence=scale)
    norms = gradient_norms(unit, torch.zeros(2, 12, 3, dtype=torch.double))
    expected = scale ** torch.arange(13, dtype=torch.double)
    torch.testing.assert_close(norms, expected.expand(2, 13))


@pytest.mark.parametrize("name", UNITS)
def test_every_unit_agrees_with_finite_differences(name: str) -> None:
    unit = fresh_unit(name, inputs=3, size=4, recurrence=1.5)
    inputs = words(1, 6, 3)
    projected = unit.W(inputs).detach()[0]
    states = [torch.zeros(1, state_size(unit), dtype=torch.double)]
    with torch.no_grad():
        for product in projected:
            states.append(unit(product[None], states[-1]))

        def last(k: int, change: np.ndarray) -> np.ndarray:
            """h_T after the state k steps before it has changed."""
            state = states[-1 - k] + torch.from_numpy(change)
            for product in projected[len(projected) - k :]:
                state = unit(product[None], state)
            return state[0, -unit.U.in_features :].numpy()

        for k, norm in enumerate(gradient_norms(unit, inputs)[0].tolist()):
            moves = 1e-6 * np.eye(state_size(unit))
            jacobian = np.stack([(last(k, move) - last(k, -move)) / 2e-6 for move in moves])
            wanted = np.sqrt((jacobian**2).sum() / unit.U.in_features)
            assert norm == pytest.approx(wanted, rel=1e-7, abs=1e-9)


@pytest.mark.parametrize("name", UNITS)
def test_sentences_do_not_see_each_other(name: str) -> None:
    unit, inputs = fresh_unit(name, inputs=3, size=4), words(5, 7, 3)
    together = gradient_norms(unit, inputs)
    for b in range(5):
        torch.testing.assert_close(together[b : b + 1], gradient_norms(unit, inputs[b : b + 1]))
    assert unit.W.weight.grad is None


def test_rows_are_quartiles_over_the_sentences() -> None:
    unit, inputs = fresh_unit("tanh", inputs=3, size=4), words(9, 5, 3)
    norms = gradient_norms(unit, inputs).numpy()
    rows = gradients_through_time(unit, inputs)
    assert [row["distance"] for row in rows] == [0, 1, 2, 3, 4, 5]
    for name, quantile in (("low", 25), ("median", 50), ("high", 75)):
        wanted = np.percentile(norms, quantile, axis=0)
        np.testing.assert_allclose([row[name] for row in rows], wanted)


def test_the_same_seed_draws_the_same_unit_and_leaves_the_others_alone() -> None:
    torch.manual_seed(5)
    before = torch.random.get_rng_state()
    one, two, other = (
        fresh_unit("lstm", inputs=3, size=4, seed=seed).U.weight for seed in (1, 1, 2)
    )
    assert torch.equal(one, two)
    assert not torch.equal(one, other)
    assert torch.equal(torch.random.get_rng_state(), before)


def test_what_lies_before_the_ends_only_moves_the_state() -> None:
    unit, inputs = fresh_unit("lstm", inputs=3, size=4, recurrence=2.0), words(2, 9, 3)
    start = torch.zeros(2, 8, dtype=torch.double)
    with torch.no_grad():
        for projected in unit.W(inputs)[:, :5].unbind(dim=1):
            start = unit(projected, start)
    ends = gradient_norms(unit, inputs[:, 5:], start)
    torch.testing.assert_close(ends, gradient_norms(unit, inputs)[:, :5])
    assert (ends[:, 1:] - gradient_norms(unit, inputs[:, 5:])[:, 1:]).abs().min() > 1e-6
