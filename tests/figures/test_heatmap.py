"""Heatmaps: every word labelled and legible from 2 to 80 words, weights and gold where they are."""

import numpy as np
import pytest
from matplotlib import _pylab_helpers
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from numpy.typing import NDArray

from course_lib.errors import CourseError
from course_lib.figures.heatmap import heatmap
from course_lib.figures.style import INK, MUTED, WEIGHTS, text_width
from tests.figures.boxes import assert_legible, drawn_texts
from tests.figures.test_style import contrast

LETTERS = list("abcdefghijklmnopqrstuvwxyzäöüß")


def words(rng: np.random.Generator, count: int) -> list[str]:
    return ["".join(rng.choice(LETTERS, rng.integers(1, 16))) for _ in range(count)]


def weights(rng: np.random.Generator, rows: int, columns: int) -> np.ndarray:
    return rng.dirichlet(np.full(columns, 0.3), rows)


@pytest.mark.parametrize(("rows", "columns"), [(2, 2), (1, 3), (20, 7), (80, 80), (5, 80)])
def test_all_words_are_there_and_none_touches_another(rows: int, columns: int) -> None:
    rng = np.random.default_rng(rows * 100 + columns)
    source, target = words(rng, columns), words(rng, rows)
    figure = heatmap(weights(rng, rows, columns), source, target, links={(0, 0)})
    axes = figure.axes[0]
    assert [label.get_text() for label in axes.get_xticklabels()] == source
    assert [label.get_text() for label in axes.get_yticklabels()] == target
    assert_legible(figure)
    smallest = min(text.get_fontsize() for text in drawn_texts(figure))
    assert smallest >= 7


PIECES = ["▁das", "▁donau", "dampf", "schiff", "▁fährt", "."]
LABELS = ["das", "donau", "·dampf", "·schiff", "fährt", "·.", "</s>"]


def test_pieces_of_one_word_are_joined_and_no_line_divides_them() -> None:
    figure = heatmap(np.full((7, 5), 0.2), ["▁a", "▁b", "c", "d"], PIECES)
    axes = figure.axes[0]
    assert [label.get_text() for label in axes.get_yticklabels()] == LABELS
    assert_legible(figure)
    lines = {str(line.get_gid()): line for line in axes.lines}
    assert sorted(lines) == ["column-word-1", "row-word-1", "row-word-4"]
    ends = np.asarray(lines["row-word-1"].get_ydata(), dtype=float)
    assert 0.5 < ends[0] < 1
    assert 3 < ends[1] < 3.5
    # between the cells and the labels, on neither
    cells = axes.get_window_extent()
    labels = [label.get_window_extent() for label in axes.get_yticklabels()]
    line = lines["row-word-1"].get_window_extent()
    assert max(label.x1 for label in labels) < line.x0 <= line.x1 < cells.x0
    above = lines["column-word-1"].get_window_extent()
    assert cells.y1 < above.y0 <= above.y1 < axes.get_xticklabels()[1].get_window_extent().y0
    assert [tick for tick in axes.yaxis.get_minorticklocs() if 0 < tick < 6] == [0.5, 3.5, 5.5]
    assert [tick for tick in axes.xaxis.get_minorticklocs() if 0 < tick < 4] == [0.5, 3.5]


def test_whole_words_have_nothing_to_join() -> None:
    figure = heatmap(np.full((2, 2), 0.5), ["das", "·"], ["the", "</s>"])
    assert not figure.axes[0].lines
    assert [label.get_text() for label in figure.axes[0].get_xticklabels()] == ["das", "·"]


@pytest.mark.parametrize("count", [2, 80])
def test_pieces_stay_apart_in_sentences_of_any_length(count: int) -> None:
    rng = np.random.default_rng(count)
    pieces = ["▁" * int(rng.random() < 0.4 or k == 0) + w for k, w in enumerate(words(rng, count))]
    figure = heatmap(weights(rng, count, count), pieces, pieces)
    assert_legible(figure)
    assert {piece.removeprefix("▁") for piece in pieces} == {
        label.get_text().removeprefix("·") for label in figure.axes[0].get_xticklabels()
    }


def test_long_compounds_and_awkward_tokens_fit() -> None:
    compound = "donaudampfschifffahrtsgesellschaftskapitän"
    figure = heatmap(
        np.full((3, 4), 0.25), ["$", "_^{", "\\alpha", compound], [compound, "</s>", "$x$"]
    )
    assert_legible(figure)


def test_rows_are_target_words_and_columns_source_words() -> None:
    alpha = np.zeros((2, 3))
    alpha[1, 2] = 1.0
    figure = heatmap(alpha, ["a", "b", "c"], ["x", "y"])
    image = figure.axes[0].images[0]
    assert np.array_equal(image.get_array(), alpha)
    left, right, bottom, top = image.get_extent()
    assert (left, right) == (-0.5, 2.5)
    assert bottom > top  # the first target word on top
    assert figure.axes[0].xaxis.get_ticks_position() == "top"
    assert image.get_clim() == (0.0, 1.0)  # comparable between heatmaps
    assert figure.axes[1].get_ylabel() == "weight α"


def test_cells_are_squares() -> None:
    rng = np.random.default_rng(0)
    for rows, columns in [(3, 9), (40, 12)]:
        figure = heatmap(weights(rng, rows, columns), words(rng, columns), words(rng, rows))
        box = figure.axes[0].get_window_extent()
        assert box.width / columns == pytest.approx(box.height / rows)


def test_the_end_marks_are_added_where_alpha_has_them() -> None:
    alpha = np.full((3, 3), 1 / 3)
    figure = heatmap(alpha, ["a", "b"], ["x", "y"])
    for labels in (figure.axes[0].get_xticklabels(), figure.axes[0].get_yticklabels()):
        assert labels[-1].get_text() == "</s>"
        assert to_rgb(labels[-1].get_color()) == to_rgb(MUTED)
        assert to_rgb(labels[0].get_color()) == to_rgb(INK)


def test_values_stand_in_small_heatmaps_only() -> None:
    rng = np.random.default_rng(1)
    alpha = np.linspace(0, 1, 64).reshape(8, 8)  # legible on every weight
    figure = heatmap(alpha, words(rng, 8), words(rng, 8))
    found = {text.get_gid(): text for text in figure.axes[0].texts if text.get_gid()}
    assert len(found) == 64
    for (i, j), weight in np.ndenumerate(alpha):
        text = found[f"value-{i}-{j}"]
        assert text.get_text() == f"{weight:.2f}"
        assert contrast(text.get_color(), WEIGHTS(weight)[:3]) >= 4.5
    larger = heatmap(weights(rng, 9, 8), words(rng, 8), words(rng, 9))
    assert not any(text.get_gid() for text in larger.axes[0].texts)


def test_gold_links_are_outlined_in_their_cells() -> None:
    links = {(0, 1), (2, 0), (2, 1)}  # (source, target)
    figure = heatmap(np.full((2, 3), 1 / 3), ["a", "b", "c"], ["x", "y"], links=links)
    squares = [p for p in figure.axes[0].patches if str(p.get_gid()).startswith("gold-")]
    centres = {
        (p.get_x() + p.get_width() / 2, p.get_y() + p.get_height() / 2)
        for p in squares
        if isinstance(p, Rectangle)
    }
    assert centres == links
    assert "gold alignment" in [text.get_text() for text in drawn_texts(figure)]
    plain = heatmap(np.full((2, 3), 1 / 3), ["a", "b", "c"], ["x", "y"], links=set())
    assert "gold alignment" not in [text.get_text() for text in drawn_texts(plain)]


@pytest.mark.parametrize(
    ("alpha", "links", "message"),
    [
        (np.ones((5, 2)), (), "5 x 2 for 2 target and 2 source"),
        (np.full((2, 2), 1.3673), (), "weights, not energies"),
        (np.full((2, 2), 0.5), {(2, 0)}, "2-0 points outside"),
    ],
)
def test_what_cannot_be_drawn_is_said_in_one_line(alpha, links, message: str) -> None:
    with pytest.raises(CourseError, match=message) as caught:
        heatmap(alpha, ["a", "b"], ["x", "y"], links=links)
    assert "\n" not in str(caught.value)


def test_no_figure_is_left_open() -> None:
    """Figures belong to who asked for them; pyplot never hears of them."""
    assert isinstance(heatmap([[1.0]], ["a"], ["b"]), Figure)
    assert not _pylab_helpers.Gcf.figs


def test_words_of_right_to_left_scripts_stand_in_their_order_and_their_letters_join() -> None:
    def ink(text: str) -> NDArray[np.uint8]:
        figure = Figure(figsize=(2, 1))
        figure.text(0.5, 0.5, text, fontsize=30, ha="center")
        canvas = FigureCanvasAgg(figure)
        canvas.draw()
        return np.asarray(canvas.buffer_rgba())[..., 0]

    override, end = "\u202d", "\u202c"  # left to right, whatever the script
    np.testing.assert_array_equal(ink("שלי"), ink(f"{override}ילש{end}"))
    assert (ink("שלי") != ink("ילש")).any()
    assert text_width("كتاب", 10) < 0.8 * sum(text_width(letter, 10) for letter in "كتاب")
