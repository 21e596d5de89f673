"""What a trained encoder and decoder read and write, on paper: the moving figure's last frame."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from matplotlib.patches import Polygon, Rectangle
from numpy.typing import ArrayLike

from course_lib.evaluation.accuracy import tokens_right
from course_lib.figures.style import (
    BARS,
    BODY,
    CARD,
    INK,
    MUTED,
    ROLES,
    VALUE,
    CourseFigure,
    styled,
)

BLUE, GREEN, ORANGE, PINK = (
    ROLES[role].text for role in ("annotation", "context", "state", "word")
)
WRONG = "#b3261e"  # the book's
# The ground is the module's: 440 wide, heights downwards.
READ, NOTE, BUS, WRITE, WORDS, RIGHT, COUNT = 54, 112, 149, 195, 250, 275, 300
HALF, STEP, APART = 16, 19, 43


@styled()
def frames_drawn(sentences: Sequence[Mapping[str, Any]], chosen: int, **_: Any) -> Figure:
    """The sentence that the figure starts with, done; see `course_lib.widgets.ReadWrite`."""
    source, target, right, read, written = (
        sentences[chosen][key] for key in ("source", "target", "right", "read", "written")
    )
    figure = CourseFigure(figsize=(6.6, 4.6))
    axes = figure.add_axes((0.01, 0, 0.99, 1))
    axes.set(xlim=(0, 440), ylim=(306, 0))
    axes.axis("off")
    across = [22 + APART * column for column in range(10)]
    middle: Any = {"ha": "center", "fontsize": BODY}
    name: Any = {"ha": "left", "fontsize": VALUE}

    for j, (word, state) in enumerate(zip(source, read, strict=True), start=1):
        x = across[j]
        axes.text(x, 15, word, **middle)
        _arrow(axes, INK, (x, 20), (x, READ - HALF))
        _state(axes, BLUE, x, READ, state)
        axes.text(x + 13, READ - HALF - 5, _named("h", j), color=BLUE, **name)
        if j > 1:
            _arrow(axes, BLUE, (x - APART + HALF, READ), (x - HALF, READ))

    note, top, foot = across[len(source)], NOTE - HALF - 6, NOTE + HALF + 8
    _arrow(axes, GREEN, (note, READ + HALF), (note, top))
    fold = [(note + 22, foot - 8), (note + 14, foot - 8), (note + 14, foot)]
    paper = [(note - 22, top), (note + 22, top), fold[0], fold[2], (note - 22, foot)]
    axes.add_patch(Polygon(paper, facecolor=(GREEN, 0.12), edgecolor=GREEN))
    axes.add_patch(Polygon(fold, facecolor=CARD, edgecolor=GREEN))
    _state(axes, GREEN, note, NOTE, read[-1])
    c = f"c = {_named('h', len(source))}"
    axes.text(note - 28, NOTE + 5, c, color=GREEN, ha="right", fontsize=BODY)

    words, wanted = ["<s>", *target], ["right:", *right]
    for i, (word, state) in enumerate(zip(words, written, strict=True)):
        x, edge = across[i], STEP if i else HALF
        _arrow(axes, GREEN, (note, foot), (note, BUS), (x, BUS), (x, WRITE - edge))
        _state(axes, ORANGE, x, WRITE, state)
        axes.text(x + 13, WRITE - STEP - 5, _named("s", i), color=ORANGE, **name)
        wrong = i > 0 and word != wanted[i]
        axes.text(x, WORDS, word, color=WRONG if wrong else PINK, **middle)
        axes.text(x, RIGHT, wanted[i], color=MUTED, **middle)
        if wrong:
            wave = np.linspace(-4 * np.pi, 4 * np.pi)
            axes.plot(x + wave, WORDS + 6 + np.sin(wave), color=WRONG, linewidth=1)
        if i > 0:
            _frame(axes, ORANGE, (x - STEP, x + STEP), (WRITE - STEP, WRITE + STEP))
            _arrow(axes, ORANGE, (x - APART + HALF, WRITE), (x - STEP, WRITE))
            _arrow(axes, PINK, (x - 32, WORDS - 13), (x - 12, WRITE + STEP), dashes="dashed")
            _arrow(axes, PINK, (x, WRITE + STEP), (x, WORDS - 14))

    _numbers(axes, BLUE, (36, 113), (NOTE - 13, NOTE - 2), [[-1, -0.6, -0.2, 0, 0.2, 0.6, 1]])
    for x, y, text, color in (
        *((12, NOTE - 3, "−1", MUTED), (117, NOTE - 3, "1", MUTED)),
        *((0, NOTE + 13, "one cell = one number", MUTED), (0, BUS - 6, "Decoder", ORANGE)),
        (0, READ - HALF - 5, "Encoder", BLUE),
    ):
        axes.text(x, y, text, color=color, **name)
    count = f"{tokens_right(target[:-1], right[:-1])} of {len(right) - 1} words right"
    axes.text(220, COUNT, count, weight="bold", **middle)
    return figure


def _named(letter: str, number: int) -> str:
    return f"{letter}{'₀₁₂₃₄₅₆₇₈₉'[number]}"


def _arrow(axes: Axes, color: str, *way: tuple[float, float], dashes: str = "solid") -> None:
    line: Any = {"color": color, "linewidth": 1.1, "linestyle": dashes}
    axes.plot(*zip(*way, strict=True), **line)
    head = {"arrowstyle": "-|>", "shrinkA": 0, "shrinkB": 0, **line}
    axes.annotate("", way[-1], way[-2], arrowprops=head)


def _state(axes: Axes, color: str, x: float, y: float, state: Sequence[float]) -> None:
    """64 numbers, in rows of eight, around a middle."""
    _numbers(axes, color, (x - HALF, x + HALF), (y - HALF, y + HALF), np.reshape(state, (8, 8)))


def _numbers(
    axes: Axes, color: str, xs: tuple[float, float], ys: tuple[float, float], rows: ArrayLike
) -> None:
    """Cells of the colour above zero, grey below, fainter towards zero."""
    values = np.asarray(rows)
    shade = np.sign(values) * np.sqrt(np.abs(values))
    colors = LinearSegmentedColormap.from_list("numbers", [BARS, CARD, color])
    look: Any = {"cmap": colors, "vmin": -1, "vmax": 1, "extent": (*xs, *ys[::-1]), "zorder": 1}
    axes.imshow(shade, aspect="auto", interpolation="nearest", **look)
    axes.set(xlim=(0, 440), ylim=(306, 0))
    _frame(axes, color, xs, ys)


def _frame(axes: Axes, color: str, xs: tuple[float, float], ys: tuple[float, float]) -> None:
    corner, width, height = (xs[0], ys[0]), xs[1] - xs[0], ys[1] - ys[0]
    axes.add_patch(Rectangle(corner, width, height, facecolor="none", edgecolor=color))
