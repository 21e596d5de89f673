"""The schedules of scheduled sampling: drawn and told as training uses them."""

import pytest

from course_lib.errors import CourseError
from course_lib.figures.alt import describe_schedules
from course_lib.figures.schedules import schedule_curves
from course_lib.training.schedules import given_share
from tests.figures.boxes import assert_legible, drawn_texts


@pytest.mark.parametrize("end", [0.1, 0.5])
def test_each_curve_is_what_training_uses(end: float) -> None:
    axes = schedule_curves(400, end).axes[0]
    lines = {line.get_gid(): line for line in axes.lines}
    for name in ("linear", "exponential", "inverse-sigmoid"):
        line = lines[f"share-{name}"]
        assert list(line.get_xdata()) == list(range(401))
        assert list(line.get_ydata()) == [given_share(name, k, 400, end) for k in range(401)]
    assert axes.get_ylim() == (0, 1)  # a share is as large as it looks


@pytest.mark.parametrize(("total", "end"), [(1, 0.5), (7, 0.9), (5000, 0.02)])
def test_labels_never_touch_and_none_is_missing(total: int, end: float) -> None:
    figure = schedule_curves(total, end)
    assert_legible(figure)
    labels = [text.get_text() for text in drawn_texts(figure) if text.get_gid() == "label"]
    assert labels == ["linear", "exponential", "inverse-sigmoid"]


def test_alt_text_tells_the_way_down() -> None:
    text = describe_schedules(1000, 0.5)
    assert "from 0 to 1,000" in text
    assert "arrives at 50%" in text
    assert (
        "linear: 100% at first, 88% after a quarter, 75% after half, 62% after three quarters."
        in text
    )
    assert (
        "exponential: 100% at first, 84% after a quarter, 71% after half, 59% after three quarters."
        in text
    )


@pytest.mark.parametrize(("total", "end"), [(0, 0.5), (10, 0.0), (10, 1.0)])
def test_what_is_no_schedule_is_refused(total: int, end: float) -> None:
    for function in (schedule_curves, describe_schedules):
        with pytest.raises(CourseError, match="no schedule"):
            function(total, end)
