"""Score against length: points at their lengths, counts below, the training range marked."""

import pytest

from course_lib.errors import CourseError
from course_lib.figures.lengths import score_by_length
from tests.figures.boxes import assert_legible, drawn_texts

Rows = list[dict[str, float]]
MULTI30K = [(1, 9, 339), (10, 12, 320), (13, 15, 190), (16, 20, 97), (21, 37, 54)]
SINGLE = [(length, length, 200) for length in range(5, 41, 5)]
MANY = [(length, length + 1, 1500 - 30 * length) for length in range(2, 40, 2)]


def rows(ranges, slope: float, start: float = 50.0) -> Rows:
    return [
        {"lower": a, "upper": b, "sentences": n, "bleu_tok": max(start - slope * (a + b) / 2, 0.0)}
        for a, b, n in ranges
    ]


def both(ranges) -> dict[str, Rows]:
    return {"rnnencdec": rows(ranges, 1.1), "rnnsearch": rows(ranges, 0.4)}


@pytest.mark.parametrize("ranges", [MULTI30K, SINGLE, MANY, MULTI30K[:1]])
@pytest.mark.parametrize("training", [None, (4, 20), (1, 100), (30, 50)])
def test_labels_never_touch_and_no_model_is_missing(ranges, training) -> None:
    figure = score_by_length(both(ranges), training)
    assert_legible(figure)
    labels = {text.get_text() for text in drawn_texts(figure) if text.get_gid() == "label"}
    assert labels == {"RNNencdec", "RNNsearch"}


@pytest.mark.parametrize("training", [None, (4, 20)])
def test_without_counts_the_scores_have_the_axis_of_lengths(training) -> None:
    figure = score_by_length(both(SINGLE), training, counts=False)
    assert_legible(figure)
    (axes,) = figure.axes
    assert axes.get_xlabel() == "source length (words)"
    assert "40" in {text.get_text() for text in axes.get_xticklabels()}


def test_points_stand_in_the_middle_of_their_range() -> None:
    results = both(MULTI30K)
    figure = score_by_length(results)
    lines = {line.get_gid(): line for line in figure.axes[0].lines}
    for model in results:
        line = lines[f"score-{model}"]
        assert list(line.get_xdata()) == [5, 11, 14, 18, 29]
        assert list(line.get_ydata()) == [row["bleu_tok"] for row in results[model]]
    assert figure.axes[0].get_ylim()[0] == 0  # a gap is as large as it looks


def test_points_stand_at_the_mean_length_where_it_is_known() -> None:
    results = both(MULTI30K)
    for ranges in results.values():
        for row in ranges:
            row["length"] = row["lower"] + 1
    lines = score_by_length(results).axes[0].lines
    drawn = {tuple(line.get_xdata()) for line in lines if str(line.get_gid()).startswith("score-")}
    assert drawn == {(2, 11, 14, 17, 22)}


def test_a_box_reaches_from_the_least_seed_to_the_greatest() -> None:
    results = both(MULTI30K)
    for row in results["rnnsearch"]:
        row["bleu_tok_range"] = (row["bleu_tok"] - 1, row["bleu_tok"] + row["lower"])
    boxes = score_by_length(results).axes[0].collections
    assert {box.get_gid() for box in boxes} == {"range-rnnsearch"}
    drawn = [box.get_segments()[0][:, 1].tolist() for box in boxes]
    assert drawn == [list(row["bleu_tok_range"]) for row in results["rnnsearch"]]


def test_sentence_counts_are_written() -> None:
    figure = score_by_length(both(MULTI30K))
    counts = [text.get_text() for text in figure.axes[1].texts if text.get_gid() == "count"]
    assert counts == ["339", "320", "190", "97", "54"]
    assert [bar.get_height() for bar in figure.axes[1].patches] == [339, 320, 190, 97, 54]


def test_unseen_lengths_are_shaded_up_to_the_boundary() -> None:
    def edges(training) -> tuple[list[float], int]:
        axes = score_by_length(both(SINGLE), training).axes[0]
        marks = [line.get_xdata()[0] for line in axes.lines if line.get_gid() == "boundary"]
        return marks, sum(patch.get_gid() == "unseen" for patch in axes.patches)

    assert edges((4, 20)) == ([20.5], 1)
    assert edges((10, 20)) == ([9.5, 20.5], 2)
    assert edges((1, 40)) == ([], 0)
    assert edges(None) == ([], 0)


def test_the_training_range_is_named() -> None:
    texts = [text.get_text() for text in drawn_texts(score_by_length(both(SINGLE), (4, 20)))]
    assert "in training: 4 to 20" in texts
    assert "never seen" in texts


def test_where_nothing_is_right_the_axis_has_a_height_all_the_same() -> None:
    figure = score_by_length({"rnnsearch": rows(SINGLE, 0.0, start=0.0)})
    assert figure.axes[0].get_ylim() == (0, 1)


def test_another_score_can_be_drawn() -> None:
    results = {"rnnsearch": [{"lower": 5, "upper": 5, "sentences": 9, "accuracy": 98.0}]}
    figure = score_by_length(results, key="accuracy", label="words right (%)")
    assert figure.axes[0].get_ylabel() == "words right (%)"


@pytest.mark.parametrize(
    ("results", "message"),
    [
        ({}, "no scores by length"),
        ({"rnnsearch": []}, "no scores by length"),
        ({"rnnsearch": rows(SINGLE, 1), "rnnencdec": rows(MANY, 1)}, "not scored on the same"),
    ],
)
def test_what_cannot_be_compared_is_refused(results, message: str) -> None:
    with pytest.raises(CourseError, match=message):
        score_by_length(results)
