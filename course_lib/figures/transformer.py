"""Where a Transformer looks as it writes a sentence, on paper: all steps at once."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from course_lib.figures.style import BODY, ROLES, VALUE, CourseFigure, styled

LEAST = 0.05  # a smaller weight's number is left out


@styled()
def all_steps(sentences: Sequence[Mapping[str, Any]], chosen: int, **_: Any) -> Figure:
    """A row for each word that asks; the arguments are traits of `widgets.WritingTransformer`."""
    sentence = sentences[chosen]
    source, read = sentence["source"], sentence["read"][:-1]
    writes = [f"→ {word}" for word in sentence["read"][1:]]
    figure = CourseFigure(figsize=(8.4, 6.2))
    left, right = (0.1, 0.35), (0.46, 0.41)  # from where, and how wide
    for name, (x, wide), y, asks, words, role, title in (
        ("in_source", left, 0.53, source, source, "annotation", "the source looks at itself"),
        ("on_source", left, 0.0, read, source, "annotation", "the translation looks at the source"),
        ("on_read", right, 0.0, writes, read, "state", "the translation looks at itself"),
    ):
        axes = figure.add_axes((x, y, wide, 0.38))
        axes.set(xlim=(-0.5, len(words) - 0.5), ylim=(len(asks) - 0.5, -0.5))
        for (i, j), weight in np.ndenumerate(sentence[name]):
            if role == "state" and j > i:
                continue
            color = (ROLES[role].text, 0.05 + 0.45 * weight)
            axes.add_patch(Rectangle((j - 0.46, i - 0.44), 0.92, 0.88, facecolor=color))
            if weight >= LEAST:
                axes.text(j, i, f"{weight:.2f}", ha="center", va="center", fontsize=VALUE)
        axes.set_xticks(range(len(words)), words, fontsize=VALUE)
        axes.set_yticks(range(len(asks)), asks, fontsize=BODY)
        axes.xaxis.tick_top()
        axes.tick_params(length=0)
        axes.spines[:].set_visible(False)
        axes.grid(False)
        axes.set_title(title, fontsize=BODY, color=ROLES[role].text)
    axes.yaxis.tick_right()  # what is written stands at the end of its row
    axes.tick_params(axis="y", labelcolor=ROLES["word"].text)
    return figure
