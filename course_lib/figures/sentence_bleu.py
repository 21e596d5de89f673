"""A translation's runs of one to four words, those that count filled, and the BLEU they make."""

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from course_lib.figures.style import BODY, LINES, MUTED, ROLES, VALUE, CourseFigure, styled

WORD = ROLES["word"].text
Verdict = Literal["counts", "clipped", "absent"]
LOOKS: dict[Verdict, Any] = {
    "counts": {"facecolor": WORD, "edgecolor": WORD, "label": "counts"},
    "absent": {"facecolor": "none", "edgecolor": WORD, "label": "not in the reference"},
    "clipped": {
        **{"facecolor": (WORD, 0.2), "edgecolor": WORD, "linestyle": (0, (2.5, 1.5))},
        "label": "too often (clipped)",
    },
}
LANE, LEFT, STEP = 0.2, 1.55, 1.05  # inches: a run's lane, the first column's middle, to the next


@styled()
def sentence_bleu(
    words: Sequence[str],
    verdicts: Sequence[Sequence[Verdict]],
    precisions: Sequence[float],
    brevity: float,
    against: int,
) -> Figure:
    """verdicts: for n = 1 to 4, of each run. against: how many words the reference has."""
    rows, row = len(words), 0.3
    width, height = 5.4, 2.3 + row * rows
    figure = CourseFigure(figsize=(width, height))
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set(xlim=(0, width), ylim=(height, 0))  # inches, downwards
    axes.axis("off")
    quiet: Any = {"color": MUTED, "va": "center"}
    top = 0.75
    for at in range(rows + 1):
        axes.plot((0.1, 5.3), (top + at * row,) * 2, color=LINES, linewidth=0.8)
    for at, word in enumerate(words):
        axes.text(0.1, top + (at + 0.5) * row, word, color=WORD, va="center", weight="bold")
    foot = top + rows * row + 0.2
    axes.text(0.1, foot, "precision", **quiet)
    for n, (runs, precision) in enumerate(zip(verdicts, precisions, strict=True), 1):
        middle = LEFT + (n - 1) * STEP
        axes.text(middle, top - 0.15, f"n = {n}", ha="center", **quiet)
        part = f"{runs.count('counts')}/{len(runs)} = {precision:.2f}"
        axes.text(middle, foot, part, ha="center", va="center", fontsize=BODY)
        for at, verdict in enumerate(runs):
            x = middle + (at % n - (n - 1) / 2) * LANE
            look = {**LOOKS[verdict], "label": None}
            axes.barh(top + (at + n / 2) * row, 0.12, n * row - 0.07, x - 0.06, **look)

    product = float(np.prod(precisions))
    mean = product**0.25
    lines = {
        "geometric mean": (f"fourth root of {product:.3f}", mean, f"{mean:.3f}"),
        "× brevity penalty": (f"{rows} words against {against}", brevity * mean, f"{brevity:.3f}"),
        "× 100 = BLEU": ("", brevity * mean, f"{100 * brevity * mean:.1f}"),
    }
    start, long = 1.75, 2.9
    for at, (label, (small, kept, number)) in enumerate(lines.items()):
        y = foot + 0.4 + at * 0.42
        axes.text(0.1, y - 0.09 * bool(small), label, va="center")
        axes.text(0.1, y + 0.09, small, fontsize=VALUE, **quiet)
        axes.barh(y, long, 0.18, start, color=LINES, alpha=0.5)
        axes.barh(y, long * kept, 0.18, start, color=WORD)
        if at == 1:
            lost: Any = {"facecolor": "none", "edgecolor": WORD, "hatch": "/////", "linewidth": 0}
            axes.barh(y, long * (mean - kept), 0.18, start + long * kept, **lost)
        axes.text(5.3, y, number, ha="right", va="center", weight="bold")
    key: Any = {"loc": "upper left", "bbox_to_anchor": (0.0, 1.0), "frameon": False}
    figure.legend(handles=[Patch(**look) for look in LOOKS.values()], ncols=3, **key)
    return figure
