"""Learning curves: what is drawn is what was recorded, and the words under it are true."""

import pytest
from matplotlib.colors import to_rgb

from course_lib.errors import CourseError
from course_lib.figures.curves import learning_curves
from course_lib.figures.style import RNNENCDEC, RNNSEARCH
from tests.figures.boxes import assert_legible, drawn_texts


def run(epochs: int, bleu: float, seconds: float = 60.0) -> list[dict[str, float]]:
    return [
        {
            "epoch": k,
            "step": 450 * k,
            "seconds": seconds * k,
            "train_loss": 1.5 + 3 / k,
            "val_loss": 2 + 3 / k,
            "val_bleu": bleu * k / (k + 1),
        }
        for k in range(1, epochs + 1)
    ]


RUNS = {"rnnencdec": run(10, 28.0), "rnnsearch": run(8, 40.0)}


def test_lines_are_the_records() -> None:
    figure = learning_curves(RUNS)
    lines = {line.get_gid(): line for axes in figure.axes for line in axes.lines}
    for model, records in RUNS.items():
        for gid, key in (("train", "train_loss"), ("val", "val_loss"), ("bleu", "val_bleu")):
            line = lines[f"{gid}-{model}"]
            assert list(line.get_xdata()) == [record["seconds"] / 60 for record in records]
            assert list(line.get_ydata()) == [record[key] for record in records]
    assert figure.axes[0].get_xlabel() == "training time (minutes)"
    assert figure.axes[1].get_ylim()[0] == 0  # a small gain shall not look large


def test_models_have_their_styles_and_names() -> None:
    figure = learning_curves(RUNS)
    lines = {line.get_gid(): line for line in figure.axes[1].lines}
    for model, style in (("rnnencdec", RNNENCDEC), ("rnnsearch", RNNSEARCH)):
        assert to_rgb(lines[f"bleu-{model}"].get_color()) == to_rgb(style.color)
        assert lines[f"bleu-{model}"].get_marker() == style.marker
    labels = [text.get_text() for text in figure.axes[1].texts if text.get_gid() == "label"]
    assert labels == ["RNNencdec 25.5", "RNNsearch 35.6"]


@pytest.mark.parametrize(
    "runs",
    [
        RUNS,
        {"rnnsearch": run(1, 10.0, seconds=20)},
        {name: run(6, 30.0) for name in ["rnnsearch", "rnnencdec", "dot", "general", "concat"]},
        {"rnnencdec": run(30, 0.0), "rnnsearch": run(30, 0.0), "a rather long name": run(2, 9.0)},
    ],
    ids=["two", "one record", "five on top of each other", "nothing learned"],
)
def test_labels_never_touch(runs) -> None:
    figure = learning_curves(runs)
    assert_legible(figure)
    names = [text.get_text() for text in drawn_texts(figure) if text.get_gid() == "label"]
    assert len(names) == 2 * len(runs)


def test_short_trainings_are_drawn_in_seconds() -> None:
    figure = learning_curves({"rnnsearch": run(4, 30.0, seconds=10)})
    assert figure.axes[0].get_xlabel() == "training time (seconds)"


def test_a_run_without_records_is_left_out() -> None:
    figure = learning_curves({"rnnencdec": [], "rnnsearch": run(3, 30.0)})
    assert not any("encdec" in text.get_text() for text in drawn_texts(figure))
    with pytest.raises(CourseError, match="No run has a validation yet"):
        learning_curves({"rnnencdec": []})
