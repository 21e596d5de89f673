"""Random dot products spread as sqrt(d), and what their softmax loses by it."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from course_lib.evaluation.saturation import saturation, softmax_slope

ROWS = saturation(seed=3)


def column(name: str, key: str) -> np.ndarray:
    return np.array([row[key] for row in ROWS[name]])


def test_the_spread_is_the_square_root_of_the_dimension() -> None:
    """8,000 products a dimension; products of one query share it, which costs a little."""
    dimensions = column("dot", "dimension")
    assert dimensions[0] == 4
    assert dimensions[-1] == 1024
    np.testing.assert_allclose(column("dot", "sd"), np.sqrt(dimensions), rtol=0.06)
    np.testing.assert_allclose(column("scaled-dot", "sd"), 1.0, rtol=0.06)


def test_without_scaling_one_word_takes_all_and_the_slope_dies() -> None:
    assert (np.diff(column("dot", "largest")) > 0).all()
    assert column("dot", "largest")[-1] > 0.99
    assert column("dot", "slope")[-1] < 0.01 * column("dot", "slope")[0]


def test_with_scaling_nothing_depends_on_the_dimension() -> None:
    for key in ("largest", "slope"):
        values = column("scaled-dot", key)
        assert values.max() / values.min() < 1.15
    assert column("scaled-dot", "largest").max() < 0.3


def test_a_dimension_has_its_own_draws() -> None:
    alone = saturation([64], seed=3)
    for name, rows in ROWS.items():
        assert alone[name] == [row for row in rows if row["dimension"] == 64]
    assert saturation([64], seed=4) != alone


weights = arrays.arrays(np.float64, (2, 5), elements=st.floats(0.01, 1.0)).map(
    lambda rows: rows / rows.sum(axis=1, keepdims=True)
)


@settings(max_examples=50)
@given(alpha=weights)
def test_the_slope_is_that_of_torchs_softmax(alpha: np.ndarray) -> None:
    for row, found in zip(alpha, softmax_slope(alpha), strict=True):
        energies = torch.from_numpy(np.log(row))
        jacobian = torch.autograd.functional.jacobian(lambda e: e.softmax(dim=0), energies)
        assert found == pytest.approx(jacobian[row.argmax(), row.argmax()].item(), abs=1e-12)
        assert found <= 0.25


def test_the_slope_of_known_weights() -> None:
    two = np.array([[0.5, 0.5, 0.0], [1.0, 0.0, 0.0]])
    np.testing.assert_allclose(softmax_slope(two), [0.25, 0.0])
