"""The three panels of saturation: what was measured, beside the theory, legible and told."""

import numpy as np
import pytest

from course_lib.evaluation.saturation import saturation
from course_lib.figures.saturation import PANELS, saturation_curves
from tests.figures.boxes import assert_legible, drawn_texts

RESULTS = saturation([4, 64, 1024], draws=200)


def test_each_panel_draws_its_measure_both_ways() -> None:
    figure = saturation_curves(RESULTS)
    for axes, key in zip(figure.axes, PANELS, strict=True):
        lines = {line.get_gid(): line for line in axes.lines}
        for name, rows in RESULTS.items():
            assert list(lines[f"{key}-{name}"].get_xdata()) == [4, 64, 1024]
            values = [row[key] for row in rows]
            assert list(lines[f"{key}-{name}"].get_ydata()) == values
            low, high = axes.get_ylim()
            assert low <= min(values) <= max(values) <= high
        assert axes.get_xlabel() == "dimension d"


def test_the_theory_is_the_square_root_and_stands_in_the_panel_of_the_spread_alone() -> None:
    theories = [
        [line for line in axes.lines if line.get_gid() == "theory"]
        for axes in saturation_curves(RESULTS).axes
    ]
    assert [len(found) for found in theories] == [1, 0, 0]
    np.testing.assert_allclose(theories[0][0].get_ydata(), [2, 8, 32])


@pytest.mark.parametrize(
    "results",
    [RESULTS, saturation(draws=50), saturation([1, 2], draws=50), saturation([2, 4096], draws=50)],
    ids=["three", "all", "few dimensions", "many dimensions"],
)
def test_labels_never_touch_and_none_is_missing(results) -> None:
    figure = saturation_curves(results)
    assert_legible(figure)
    labels = [text.get_text() for text in drawn_texts(figure) if text.get_gid() == "label"]
    assert labels == ["q·k", "q·k / √d"] * 3
