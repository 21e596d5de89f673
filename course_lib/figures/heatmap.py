"""The picture of the paper's Figure 3: which source words each target word was written from."""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.image import AxesImage
from matplotlib.patches import Rectangle
from matplotlib.patheffects import withStroke
from matplotlib.transforms import ScaledTranslation
from numpy.typing import NDArray

from course_lib.corpora.corpus import Link
from course_lib.corpora.vocabulary import EOS, MARKS
from course_lib.errors import CourseError
from course_lib.evaluation.weights import checked_weights
from course_lib.figures.pieces import labelled
from course_lib.figures.style import (
    INK,
    LINES,
    MUTED,
    NOTE,
    SMALL,
    TINY,
    VALUE,
    WEIGHTS,
    CourseFigure,
    styled,
    text_width,
)

END = MARKS[EOS]
VALUES_UP_TO = 8  # rows and columns: with more, the numbers would be too small to read


def _checked(
    alpha: Any, source: Sequence[str], target: Sequence[str]
) -> tuple[NDArray[np.float64], list[str], list[str]]:
    """Weights as an array (Ty, Tx) with a label for each row and column.

    `alpha` may be a list, an array or a tensor. Where it has one row, or one column, more than
    there are words, that is the end mark's, and the label is added.
    """
    weights = checked_weights(alpha, end_mark=False)
    rows, columns = list(target), list(source)
    if weights.shape[0] == len(rows) + 1:
        rows.append(END)
    if weights.shape[1] == len(columns) + 1:
        columns.append(END)
    if weights.shape != (len(rows), len(columns)):
        raise CourseError(
            f"alpha is {weights.shape[0]} x {weights.shape[1]} for {len(target)} target and "
            f"{len(source)} source words. Give one row a target word, one column a source word."
        )
    return weights, columns, rows


@styled()
def heatmap(
    alpha: Any,
    source: Sequence[str],
    target: Sequence[str],
    links: Iterable[Link] = (),
) -> Figure:
    """Attention weights of one sentence, a row for each target word, a column for each source word.

    alpha: (Ty, Tx) weights, a list, an array or a tensor. One row or column more than there are
        words is the end mark's, and is labelled so.
    links: gold alignment as (source position, target position) from 0, drawn as outlined squares.

    Tokens may be pieces of words, those that begin a word marked by "▁": the pieces of one word
    share a line above their columns, or beside their rows, and no grid line divides them.

    White is 0 and dark brown is 1 in every heatmap, so two of them can be compared. The figure is
    as large as its words need; the squares are written into up to 8 words a side.
    """
    weights, columns, rows = _checked(alpha, source, target)
    (columns, wide), (rows, high) = labelled(columns), labelled(rows)
    n_rows, n_columns = weights.shape
    gold = sorted(links)
    plan = _plan(rows, columns, bool(gold))
    width, height = plan.width, plan.height
    figure = CourseFigure(figsize=(width, height))
    box = (
        plan.left / width,
        plan.bottom / height,
        n_columns * plan.cell / width,
        n_rows * plan.cell / height,
    )
    axes = figure.add_axes(box)
    image = axes.imshow(weights, cmap=WEIGHTS, vmin=0.0, vmax=1.0, aspect="auto")
    _label_words(axes, columns, rows, plan.size, plan.angle)
    _draw_grid(axes, n_rows, n_columns, wide, high)
    _join_pieces(axes, wide, high)
    if max(n_rows, n_columns) <= VALUES_UP_TO:
        _write_values(axes, weights)
    for position, (j, i) in enumerate(gold):
        if not (0 <= j < n_columns and 0 <= i < n_rows):
            raise CourseError(
                f"Gold link {j}-{i} points outside {n_columns} source and {n_rows} target words. "
                "Links are source-target positions from 0."
            )
        axes.add_patch(_gold_square(j, i, plan.cell, f"gold-{position}"))
    _draw_scale(figure, image, plan, n_rows, n_columns)
    _name_axes(axes)
    if gold:
        _explain_links(figure, plan.left, width, height)
    return figure


class _Plan(NamedTuple):
    """Where everything goes, in inches; `size` in points and `angle` in degrees are the words'."""

    cell: float
    size: float
    angle: int
    left: float
    bottom: float
    width: float
    height: float


def _plan(rows: Sequence[str], columns: Sequence[str], gold: bool) -> _Plan:
    """Sizes that come from the words, so that no label is ever cut."""
    n_rows, n_columns = len(rows), len(columns)
    cell = float(np.clip(5.4 / max(n_rows, n_columns), 0.14, 0.6))
    size = float(np.clip(cell * 72 * 0.5, TINY, 10.5))
    widths = [text_width(word, size) for word in columns]
    angle = _angle(max(widths), cell, size)
    slope = np.deg2rad(angle)
    line = size * 1.25 / 72
    above = line if angle == 0 else max(widths) * np.sin(slope) + line * np.cos(slope)
    overhang = 0.0
    if angle == 45:
        ends = [(k + 0.5) * cell + w * np.cos(slope) for k, w in enumerate(widths)]
        overhang = max(ends) + line - n_columns * cell

    left = (
        0.14
        + 0.1
        + max(text_width("source words →", NOTE), *(text_width(word, size) for word in rows))
    )
    top = 0.16 + max(above + 0.1, 2.6 * NOTE / 72)
    bottom = 0.16 + (0.3 if gold else 0.0)
    right = max(0.95, overhang + 0.1)
    width = left + n_columns * cell + right
    height = top + n_rows * cell + bottom
    return _Plan(cell, size, angle, left, bottom, width, height)


def _draw_scale(figure: Figure, image: AxesImage, plan: _Plan, n_rows: int, n_columns: int) -> None:
    """The bar of colours beside the cells, at most 2.6 inches high."""
    bar_height = min(n_rows * plan.cell, 2.6)
    bar = figure.add_axes(
        (
            (plan.left + n_columns * plan.cell + 0.22) / plan.width,
            (plan.bottom + n_rows * plan.cell - bar_height) / plan.height,
            0.13 / plan.width,
            bar_height / plan.height,
        )
    )
    colorbar = figure.colorbar(image, cax=bar, ticks=[0, 0.5, 1])
    colorbar.set_ticklabels(["0", "0.5", "1"])
    colorbar.outline.set_edgecolor(LINES)
    colorbar.set_label("weight α", color=MUTED, fontsize=VALUE)
    bar.tick_params(length=0, labelsize=SMALL, pad=3)
    bar.grid(False)


def _angle(widest: float, cell: float, size: float) -> int:
    """0 where every word fits above its column, else 45 where slanted lines keep apart, else 90."""
    if widest <= cell - 0.08:
        return 0
    return 45 if cell * 72 * np.sin(np.pi / 4) >= 1.35 * size else 90


def _label_words(
    axes: Axes, columns: Sequence[str], rows: Sequence[str], size: float, angle: int
) -> None:
    axes.xaxis.tick_top()
    axes.tick_params(length=0, labelsize=size, pad=3)
    anchor = {"rotation_mode": "anchor"} if angle == 45 else {}
    across: dict[str, Any] = {"ha": "left" if angle == 45 else "center", "va": "bottom"} | anchor
    # parse_math: a word may well be "$".
    axes.set_xticks(range(len(columns)), columns, rotation=angle, parse_math=False, **across)
    axes.set_yticks(range(len(rows)), rows, parse_math=False)
    for label in [*axes.get_xticklabels(), *axes.get_yticklabels()]:
        if label.get_text() == END:
            label.set_color(MUTED)


WordSpans = Sequence[tuple[int, int]]  # first and last place of each word that is in pieces


def _draw_grid(axes: Axes, n_rows: int, n_columns: int, wide: WordSpans, high: WordSpans) -> None:
    axes.grid(False)
    for set_ticks, count, words in (
        (axes.set_xticks, n_columns, wide),
        (axes.set_yticks, n_rows, high),
    ):
        inside = {k for first, last in words for k in range(first + 1, last + 1)}
        set_ticks([k - 0.5 for k in range(count + 1) if k not in inside], minor=True)
    fine = max(n_rows, n_columns) > 30
    axes.grid(which="minor", axis="both", color=LINES, linewidth=0.35 if fine else 0.7)
    axes.tick_params(which="minor", length=0)
    axes.spines[:].set_visible(False)


def _join_pieces(axes: Axes, wide: WordSpans, high: WordSpans) -> None:
    """A line along the pieces of each word, between the cells and their labels."""
    figure, gap = axes.get_figure(root=True), 1.6 / 72
    assert figure is not None
    inches = figure.dpi_scale_trans
    look: dict[str, Any] = {"color": INK, "linewidth": 1.3, "clip_on": False}
    above = axes.get_xaxis_transform() + ScaledTranslation(0, gap, inches)
    beside = axes.get_yaxis_transform() + ScaledTranslation(-gap, 0, inches)
    for first, last in wide:
        ends = [first - 0.35, last + 0.35]
        axes.plot(ends, [1, 1], transform=above, gid=f"column-word-{first}", **look)
    for first, last in high:
        ends = [first - 0.35, last + 0.35]
        axes.plot([0, 0], ends, transform=beside, gid=f"row-word-{first}", **look)


def _write_values(axes: Axes, weights: NDArray[np.float64]) -> None:
    for (i, j), weight in np.ndenumerate(weights):
        axes.text(
            j,
            i,
            f"{weight:.2f}",
            ha="center",
            va="center_baseline",
            fontsize=VALUE,
            color=_on(weight),
            gid=f"value-{i}-{j}",
        )


def _on(weight: float) -> str:
    """The colour of a number on its cell: muted near 0, then black, then white; at least 4.5:1."""
    if weight < 0.05:
        return MUTED
    return "black" if weight < 0.72 else "white"


def _gold_square(j: int, i: int, cell: float, gid: str) -> Rectangle:
    """An outline inside cell (i, j): ink with a white rim, visible on white and on brown."""
    inset = 0.12
    line = float(np.clip(cell * 4.5, 0.9, 2.0))
    square = Rectangle(
        (j - 0.5 + inset, i - 0.5 + inset),
        1 - 2 * inset,
        1 - 2 * inset,
        fill=False,
        edgecolor=INK,
        linewidth=line,
        gid=gid,
        zorder=3,
    )
    square.set_path_effects([withStroke(linewidth=line * 2.2, foreground="white")])
    return square


def _name_axes(axes: Axes) -> None:
    """The names of both axes in the corner that their labels leave free."""
    axes.annotate(
        "source words →\ntarget words ↓",
        (0, 1),
        xytext=(-6, 4),
        xycoords="axes fraction",
        textcoords="offset points",
        ha="right",
        va="bottom",
        fontsize=NOTE,
        color=MUTED,
        linespacing=1.2,
    )


def _explain_links(figure: Figure, left: float, width: float, height: float) -> None:
    side = 0.13
    figure.add_artist(
        Rectangle(
            (left / width, 0.13 / height),
            side / width,
            side / height,
            fill=False,
            edgecolor=INK,
            linewidth=1.6,
            transform=figure.transFigure,
        )
    )
    figure.text(
        (left + side + 0.08) / width,
        (0.13 + side / 2) / height,
        "gold alignment",
        fontsize=NOTE,
        color=MUTED,
        va="center_baseline",
    )
