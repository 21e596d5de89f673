"""The three panels of saturation: what was measured, beside the theory, legible and told."""

import numpy as np
import pytest

from course_lib.errors import CourseError
from course_lib.evaluation.saturation import saturation
from course_lib.figures.alt import describe_saturation
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


def test_alt_text_tells_both_ends_and_the_theory() -> None:
    made_up = {
        "dot": [
            {"dimension": 4, "sd": 2.0, "largest": 0.3512, "gradient": 0.3},
            {"dimension": 1024, "sd": 33.5, "largest": 0.999, "gradient": 0.00012},
        ],
        "scaled-dot": [
            {"dimension": 4, "sd": 1.0, "largest": 0.2, "gradient": 0.28},
            {"dimension": 1024, "sd": 1.0, "largest": 0.2, "gradient": 0.28},
        ],
    }
    text = describe_saturation(made_up)
    assert "q·k from d = 4 to 1024: standard deviation 2 to 34, largest weight 0.35 to 1.00" in text
    assert "slope 0.3 to 1 · 10^-4." in text
    assert "q·k / √d from d = 4 to 1024: standard deviation 1 to 1," in text
    assert "follow the theory, √d, to within 5 percent." in text  # 33.5 / 32 = 1.047


@pytest.mark.parametrize("results", [{}, {"dot": RESULTS["dot"]}, saturation([8], draws=5)])
def test_what_cannot_be_drawn_is_refused(results) -> None:
    for function in (saturation_curves, describe_saturation):
        with pytest.raises(CourseError, match="no saturation to draw"):
            function(results)
