"""Words with the model's probabilities, those they are drawn from, and a dot for every draw."""

from collections.abc import Sequence
from typing import Any

from matplotlib.figure import Figure

from course_lib.figures.style import (
    BODY,
    INK,
    MUTED,
    ROLES,
    VALUE,
    CourseFigure,
    styled,
    text_width,
)

WORD = ROLES["word"].text
WIDTH, BARS = 5.0, 0.6  # inches; the share of them for bars


@styled()
def drawing_words(
    words: Sequence[str],
    probabilities: Sequence[float],
    shares: Sequence[float],
    counts: Sequence[int],
) -> Figure:
    """probabilities: the model's. shares: what words are drawn from. counts: how often each was."""
    figure = CourseFigure(figsize=(WIDTH, 3.5))
    axes = figure.add_axes((0.23, 0, BARS, 0.84))
    axes.set(xlim=(0, 1), ylim=(4.7, -0.4))
    axes.axis("off")
    rows, drawn = range(len(words)), sum(counts)
    look: Any = {"color": (WORD, 0.15), "edgecolor": WORD, "linewidth": 0.8}
    model = axes.barh(rows, probabilities, 0.4, label="model", **look)
    narrowed = axes.barh(rows, shares, 0.18, color=WORD, label="drawn from")
    places = [((k + 0.5) / drawn, row + 0.38) for row in rows for k in range(counts[row])]
    (dots,) = axes.plot(*zip(*places, strict=True), "o", color=WORD, markersize=4, label="one draw")
    left, right = -0.35, 1.25
    for row, word, p, share, count in zip(rows, words, probabilities, shares, counts, strict=True):
        strong: Any = {"va": "center", "fontsize": BODY, "color": INK if share else MUTED}
        quiet: Any = {"va": "center", "fontsize": VALUE, "color": MUTED}
        axes.text(left, row, word, **strong)
        axes.text(left, row + 0.38, f"model {p:.2f}", **quiet)
        axes.text(right, row, f"{share:.2f}" if share else "cut", ha="right", **strong)
        axes.text(right, row + 0.38, f"{count} of {drawn}", ha="right", **quiet)
        if not share:
            end = left + text_width(word, BODY) / WIDTH / BARS
            axes.plot((left, end), (row, row), color=MUTED, linewidth=1, clip_on=False)
    figure.text(0.02, 0.95, "a man is riding a …", weight="bold", va="center")
    key: Any = {"loc": "center left", "bbox_to_anchor": (0.0, 0.87), "frameon": False}
    figure.legend(handles=[model, narrowed, dots], ncols=3, **key)
    return figure
