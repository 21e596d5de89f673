"""What a translator of two numbers reads and writes, as walks in two planes, and its product."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from math import prod
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from course_lib.figures.style import BODY, CARD, INK, MUTED, ROLES, VALUE, CourseFigure, styled

BLUE, ORANGE, PINK = (ROLES[role].text for role in ("annotation", "state", "word"))
GREEN = ROLES["context"].text
ABOVE, BELOW = 8, -17  # points


@styled()
def whole_walk(
    tokens: Sequence[str], sentences: Sequence[Mapping[str, Any]], chosen: int, **_: Any
) -> Figure:
    """The sentence that the figure starts with, done.

    Args:
        tokens, sentences: see `course_lib.widgets.TinyTranslator`.
        chosen: which sentence.
    """
    shown = sentences[chosen]
    figure = CourseFigure(figsize=(6.4, 5.4))
    reading, writing = (figure.add_axes((x, 0.48, 0.4, 0.45)) for x in (0.09, 0.58))
    for one in (one for k, one in enumerate(sentences) if one["known"] and k != chosen):
        _, subject, _, verb, _ = one["source"]
        reading.plot(*one["read"][-1], "o", fillstyle="none", color=MUTED, markersize=9)
        _label(reading, f"{subject} {verb}", one["read"][-1], ABOVE, MUTED, VALUE)
    _label(reading, "start", (0, 0), BELOW, MUTED, VALUE)
    names = [*shown["source"][:-1], "c = h₅"]
    _walk(reading, [(0, 0), *shown["read"]], BLUE)
    for j, (name, point) in enumerate(zip(names, shown["read"], strict=True)):
        side = BELOW if j == 2 or (j == 1 and point[1] < 0) else ABOVE
        _label(reading, name, point, side, GREEN if name is names[-1] else BLUE)
    _walk(writing, shown["written"], ORANGE)
    for name, point, side in zip(
        "₀₁₂₃", shown["written"], (BELOW, ABOVE, ABOVE, BELOW), strict=True
    ):
        _label(writing, f"s{name}", point, side, ORANGE)
    for axes, title in ((reading, "Reading"), (writing, "Writing")):
        axes.set(xlim=(-1.4, 1.4), ylim=(-1.4, 1.3), xticks=(-1, 0, 1), yticks=(-1, 0, 1))
        axes.set_xlabel("first number of the state", labelpad=2)
        axes.set_title(title, weight="bold")
    reading.set_ylabel("second number", labelpad=0)
    reading.plot(*shown["read"][-1], "o", color=GREEN, markersize=8)
    last = shown["probabilities"][-1]
    bars = figure.add_axes((0.14, 0.02, 0.36, 0.33))
    bars.axis("off")
    bars.set(xlim=(0, 1.3), ylim=(len(tokens) - 0.4, -0.6))
    for row, (word, share) in enumerate(zip(tokens, last, strict=True)):
        lit: Any = {"color": PINK if share == max(last) else INK, "fontsize": BODY, "va": "center"}
        bars.barh(row, 1, 0.6, color=(MUTED, 0.12))
        bars.barh(row, share, 0.6, color=PINK)
        bars.text(-0.04, row, word, ha="right", **lit)
        bars.text(1.3, row, f"{share:.4f}", ha="right", **lit)
    figure.text(0.03, 0.37, f"Probabilities of step {len(shown['target'])}", weight="bold")
    figure.text(0.58, 0.37, "Written", weight="bold")
    factors = [max(row) for row in shown["probabilities"]]
    for k, (word, p) in enumerate(zip(shown["target"], factors, strict=True)):
        figure.text(0.58, 0.31 - 0.05 * k, word, color=PINK, fontsize=BODY)
        figure.text(0.86, 0.31 - 0.05 * k, f"{p:.4f}", ha="right", fontsize=BODY)
    figure.text(0.58, 0.07, "product p", fontsize=BODY)
    figure.text(0.86, 0.07, f"{prod(factors):.4f}", ha="right", weight="bold", fontsize=BODY)
    return figure


def _walk(axes: Axes, states: Sequence[Sequence[float]], color: str) -> None:
    """Arrows from each state to the next, bent, so that the ways there and back are two."""
    for (x, y), (u, v) in pairwise(states):
        look = {"arrowstyle": "-|>", "connectionstyle": "arc3,rad=-0.12", "color": color}
        axes.annotate("", (u, v), (x, y), arrowprops={**look, "shrinkA": 0, "shrinkB": 4})
        axes.plot(u, v, "o", color=color, markersize=5)
    axes.plot(*states[0], "o", color=color if any(states[0]) else MUTED, markersize=5)


def _label(
    axes: Axes, text: str, point: Sequence[float], up: float, color: str, size: float = BODY
) -> None:
    look: Any = {"textcoords": "offset points", "ha": "center", "color": color, "fontsize": size}
    look["bbox"] = {"facecolor": CARD, "edgecolor": "none", "pad": 0.5}
    axes.annotate(text, (point[0], point[1]), xytext=(0, up), **look)
