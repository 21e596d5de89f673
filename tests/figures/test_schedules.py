"""The schedules of scheduled sampling: drawn as training uses them."""

import pytest

from course_lib.figures.schedules import schedule_curves
from course_lib.training.schedules import given_share
from tests.figures.boxes import assert_legible, drawn_texts

NAMES = ("linear", "exponential", "inverse-sigmoid")


def shares(total: int, end: float) -> dict[str, list[float]]:
    return {name: [given_share(name, k, total, end) for k in range(total + 1)] for name in NAMES}


def test_each_curve_stands_at_its_updates() -> None:
    axes = schedule_curves(shares(400, 0.1)).axes[0]
    lines = {line.get_gid(): line for line in axes.lines}
    for name, values in shares(400, 0.1).items():
        assert list(lines[f"share-{name}"].get_xdata()) == list(range(401))
        assert list(lines[f"share-{name}"].get_ydata()) == values
    assert axes.get_ylim() == (0, 1)  # a share is as large as it looks


@pytest.mark.parametrize(("total", "end"), [(1, 0.5), (7, 0.9), (5000, 0.02)])
def test_labels_never_touch_and_none_is_missing(total: int, end: float) -> None:
    figure = schedule_curves(shares(total, end))
    assert_legible(figure)
    labels = [text.get_text() for text in drawn_texts(figure) if text.get_gid() == "label"]
    assert labels == list(NAMES)
