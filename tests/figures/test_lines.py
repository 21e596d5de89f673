"""Names at the ends of lines are moved apart no further than they have to be."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from course_lib.figures.lines import spread


@given(st.lists(st.floats(0, 50), max_size=8), st.floats(0.5, 5))
def test_labels_are_spread_no_further_than_needed(wanted: list[float], gap: float) -> None:
    placed = spread(wanted, gap)
    order = np.argsort(wanted, kind="stable")
    assert (np.diff(np.array(placed)[order]) >= gap - 1e-6).all()
    if (np.diff(np.sort(wanted)) >= gap).all():
        assert placed == pytest.approx(wanted)
    if wanted:
        assert np.mean(placed) == pytest.approx(np.mean(wanted), abs=1e-6)
