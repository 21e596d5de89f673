"""One step of a gated unit, and below it what eighteen such steps leave of a gradient."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Polygon

from course_lib.figures.style import BODY, INK, ROLES, CourseFigure, styled

BLUE = ROLES["annotation"].text
LINE: Any = {"color": INK, "linewidth": 1.2}
THIN: Any = {"color": INK, "linewidth": 0.8}


@styled()
def gated_unit(
    old: Sequence[float], proposal: Sequence[float], z: float, r: float, factor: float
) -> Figure:
    """old, proposal: (2,) states. z, r: the gates. factor: what a step multiplies a gradient by.

    The places are those of the moving figure, on a ground of 400 by 494.
    """
    figure = CourseFigure(figsize=(5.0, 6.175))
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set(xlim=(0, 400), ylim=(494, 0))
    axes.axis("off")
    _number(axes, 0, "first number", old[0], proposal[0], z, r)
    _number(axes, 204, "second number", old[1], proposal[1], z, r)
    axes.bar(198, 34, 376, bottom=299, fill=False, edgecolor=INK, linewidth=1.2)
    _text(axes, 198, 321, "tanh(W · dog + U · what r lets through)")
    left = factor ** np.arange(19)
    axes.bar(18 + 20.2 * np.arange(19), -80 * left, 14, bottom=470, color=BLUE)
    axes.plot((8, 392), (470, 470), **LINE)
    _text(axes, 11, 362, "gradient left", BLUE, ha="left", weight="bold")
    _text(axes, 389, 362, f"factor of a step: {factor:.3f}", ha="right")
    _text(axes, 389, 464 - 80 * left[-1], f"{left[-1]:.3f}", BLUE, ha="right", weight="bold")
    _text(axes, 11, 487, "now", ha="left")
    _text(axes, 389, 487, "18 steps back", ha="right")
    return figure


def _text(axes: Axes, x: float, y: float, text: str, color: str = INK, **look: Any) -> None:
    axes.text(x, y, text, color=color, fontsize=BODY, **{"ha": "center", **look})


def _number(
    axes: Axes, x: float, name: str, old: float, proposal: float, z: float, r: float
) -> None:
    """One number of the state: its bars, and the valve below them."""
    left, right, at, half = x + 46, x + 150, x + 46 + 104 * z, 9 * r
    new = (1 - z) * old + z * proposal
    axes.plot((left, right), (48, 48), marker="|", **LINE)
    axes.plot(at, 48, "o", color=INK, markersize=8)
    axes.plot((left, right), (200 - 100 * old, 200 - 100 * proposal), **THIN)
    axes.plot((at, at), (96, 200 - 100 * new), linestyle=(0, (2, 4)), **THIN)
    axes.bar(left, -100 * old, 30, bottom=200, facecolor=(BLUE, 0.25), edgecolor=BLUE)
    axes.bar(right, -100 * proposal, 30, bottom=200, fill=False, edgecolor=INK, linewidth=1.2)
    axes.bar(at, -100 * new, 18, bottom=200, color=BLUE)
    axes.plot((x + 10, x + 186), (200, 200), **LINE)
    side = [(9, 240), (9, 265), (half, 265), (half, 288), (0, 297)]
    stream = [*side, *((-across, y) for across, y in reversed(side))]
    axes.add_patch(Polygon([(left + across, y) for across, y in stream], color=(BLUE, 0.25), lw=0))
    for sign in (-1, 1):
        axes.bar(left + sign * (22 + half) / 2, 10, 22 - half, bottom=260, color=INK)
    axes.plot((right, right), (299, 242), marker="^", markevery=[1], markersize=5, **LINE)
    _text(axes, x + 98, 14, name, weight="bold")
    _text(axes, left - 16, 53, "0")
    _text(axes, right + 16, 53, "1")
    _text(axes, at, 36, f"z = {z:.2f}")
    _text(axes, at, 90, f"new state\n{new:.4f}", BLUE, weight="bold")
    _text(axes, left, 233, f"old state\n{old:.4f}", BLUE)
    _text(axes, right, 233, f"proposal\n{proposal:.4f}")
    _text(axes, left + 30, 270, f"r = {r:.2f}", ha="left")
