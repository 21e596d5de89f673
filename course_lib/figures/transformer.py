"""Where a Transformer looks as it writes a sentence, on paper: all steps at once."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from course_lib.figures.style import BODY, MUTED, ROLES, VALUE, CourseFigure, styled

LEAST = 0.05  # a smaller weight's number is left out


@styled()
def all_steps(sentences: Sequence[Mapping[str, Any]], chosen: int, **_: Any) -> Figure:
    """A row for each word that asks; the arguments are traits of `widgets.WritingTransformer`."""
    sentence = sentences[chosen]
    source, read = sentence["source"], sentence["read"]
    figure = CourseFigure(figsize=(8.4, 6.2))
    middle: Any = {"va": "center", "fontsize": BODY}
    high = 0.38
    for name, left, low, wide, words, role, title in (
        ("in_source", 0.1, 0.53, 0.34, source, "annotation", "the source looks at itself"),
        ("on_source", 0.1, 0.0, 0.34, source, "annotation", "the translation looks at the source"),
        ("on_read", 0.45, 0.0, 0.41, read[:-1], "state", "the translation looks at itself"),
    ):
        weights = sentence[name]
        axes = figure.add_axes((left, low + 0.005, wide, high))
        axes.set(xlim=(-0.5, len(words) - 0.5), ylim=(len(weights) - 0.5, -0.5), yticks=[])
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
        for i in range(len(weights)):
            y = low + 0.005 + high * (len(weights) - 0.5 - i) / len(weights)
            if name == "in_source":
                figure.text(0.09, y, source[i], ha="right", **middle)
            elif name == "on_source":
                figure.text(0.09, y, read[i], ha="right", **middle)
                figure.text(0.87, y, f"→ {read[i + 1]}", color=ROLES["word"].text, **middle)
    figure.text(0.09, 0.4, "reads", ha="right", color=MUTED, fontsize=BODY)
    figure.text(0.87, 0.4, "writes", color=MUTED, fontsize=BODY)
    return figure
