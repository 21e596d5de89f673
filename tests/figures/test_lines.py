"""Lines named at their ends: each stands at what was measured, and no name touches another."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.figure import Figure

from course_lib.evaluation.saturation import saturation
from course_lib.figures.lines import spread
from course_lib.figures.saturation import PANELS, saturation_curves
from tests.figures.boxes import assert_legible, drawn_texts

RESULTS = saturation([4, 64, 1024], draws=200)


def drawn(figure: Figure) -> dict[str, tuple[list[float], list[float]]]:
    """Of every line that has a name of its own, its x and its y."""
    lines = [line for axes in figure.axes for line in axes.lines]
    return {str(line.get_gid()): (list(line.get_xdata()), list(line.get_ydata())) for line in lines}


def test_every_line_stands_at_its_measurements() -> None:
    figure = saturation_curves(RESULTS)
    lines = drawn(figure)
    for axes, key in zip(figure.axes, PANELS, strict=True):
        low, high = axes.get_ylim()
        for name, rows in RESULTS.items():
            values = [row[key] for row in rows]
            assert lines[f"{key}-{name}"] == ([4, 64, 1024], values)
            assert low <= min(values) <= max(values) <= high
        assert axes.get_xlabel() == "dimension d"


def test_the_theory_is_the_square_root_and_stands_in_the_panel_of_the_spread_alone() -> None:
    theories = [
        [line for line in axes.lines if line.get_gid() == "theory"]
        for axes in saturation_curves(RESULTS).axes
    ]
    assert [len(found) for found in theories] == [1, 0, 0]
    np.testing.assert_allclose(theories[0][0].get_ydata(), [2, 8, 32])


def test_names_never_touch_and_none_is_missing() -> None:
    measured = (
        RESULTS,
        saturation(draws=50),
        *(saturation(d, draws=50) for d in ([1, 2], [2, 4096])),
    )
    for figure in map(saturation_curves, measured):
        assert_legible(figure)
        found = [text.get_text() for text in drawn_texts(figure) if text.get_gid() == "label"]
        assert found == ["q·k / √d", "q·k"] * 3
        assert figure.get_figwidth() < 11


@given(st.lists(st.floats(0, 50), max_size=8), st.floats(0.5, 5))
def test_labels_are_spread_no_further_than_needed(wanted: list[float], gap: float) -> None:
    placed = spread(wanted, gap)
    order = np.argsort(wanted, kind="stable")
    assert (np.diff(np.array(placed)[order]) >= gap - 1e-6).all()
    if (np.diff(np.sort(wanted)) >= gap).all():
        assert placed == pytest.approx(wanted)
    if wanted:
        assert np.mean(placed) == pytest.approx(np.mean(wanted), abs=1e-6)
