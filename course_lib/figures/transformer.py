"""Where a Transformer's decoder looks as it writes a sentence, on paper: all steps at once."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from course_lib.figures.style import BODY, MUTED, ROLES, VALUE, CourseFigure, styled

LEAST = 0.05  # a smaller weight's number is left out


@styled()
def all_steps(sentences: Sequence[Mapping[str, Any]], chosen: int, **_: Any) -> Figure:
    """A row for each step; the arguments are traits of `course_lib.widgets.WritingTransformer`."""
    source, read, on_source, on_read = (
        sentences[chosen][key] for key in ("source", "read", "on_source", "on_read")
    )
    figure = CourseFigure(figsize=(8.4, 3.2))
    steps = len(read) - 1
    for left, wide, words, weights, role, title in (
        (0.1, 0.34, source, on_source, "annotation", "weights of the source words"),
        (0.45, 0.41, read[:-1], on_read, "state", "weights of the words read"),
    ):
        axes = figure.add_axes((left, 0.01, wide, 0.79))
        axes.set(xlim=(-0.5, len(words) - 0.5), ylim=(steps - 0.5, -0.5), yticks=[])
        for (i, j), weight in np.ndenumerate(weights):
            if role == "state" and j > i:
                continue
            color = (ROLES[role].text, 0.05 + 0.45 * weight)
            axes.add_patch(Rectangle((j - 0.46, i - 0.44), 0.92, 0.88, facecolor=color))
            if weight >= LEAST:
                axes.text(j, i, f"{weight:.2f}", ha="center", va="center", fontsize=VALUE)
        axes.set_xticks(range(len(words)), words, fontsize=VALUE)
        axes.xaxis.tick_top()
        axes.tick_params(length=0)
        axes.spines[:].set_visible(False)
        axes.grid(False)
        axes.set_title(title, fontsize=BODY, color=ROLES[role].text)
    middle: Any = {"va": "center", "fontsize": BODY}
    for i in range(steps):
        y = 0.01 + 0.79 * (steps - 0.5 - i) / steps
        figure.text(0.09, y, read[i], ha="right", **middle)
        figure.text(0.87, y, f"→ {read[i + 1]}", color=ROLES["word"].text, **middle)
    figure.text(0.09, 0.83, "reads", ha="right", color=MUTED, fontsize=BODY)
    figure.text(0.87, 0.83, "writes", color=MUTED, fontsize=BODY)
    return figure
