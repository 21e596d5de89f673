"""One step of additive attention on three annotations of two numbers, as arrows and bars."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from course_lib.figures.style import (
    LINES,
    MUTED,
    ROLES,
    SYMBOL,
    TINY,
    CourseFigure,
    styled,
)


@styled()
def attention_by_hand(
    state: Sequence[float],
    annotations: Sequence[Sequence[float]],
    W_a: Any,
    U_a: Any,
    v: Sequence[float],
) -> Figure:
    """The vectors in the plane, and beside them each annotation's energy and weight.

    state: (2,). annotations: (3, 2). W_a, U_a: (2, 2). v: (2,).
    """
    h = np.asarray(annotations, dtype=np.float64)
    energies = np.tanh(h @ np.asarray(U_a).T + np.asarray(W_a) @ state) @ np.asarray(v)
    powers = np.exp(energies - energies.max())
    weights = powers / powers.sum()
    figure = CourseFigure(figsize=(6.4, 3.0))
    plane = figure.add_axes((0.03, 0.06, 0.42, 0.88))
    _plane(plane, np.asarray(state), h, weights @ h)
    bars = figure.add_axes((0.62, 0.2, 0.34, 0.66))
    rows = range(len(h))
    bars.barh(rows, weights, color=ROLES["weight"].fill, height=0.5)
    for row in rows:
        bars.annotate(
            f"{weights[row]:.4f}",
            (weights[row], row),
            xytext=(4, 0),
            textcoords="offset points",
            va="center",
            color=ROLES["weight"].text,
        )
    labels = [f"$h_{row + 1}$   e = {energies[row]:.4f}".replace("-", "−") for row in rows]
    bars.set_yticks(rows, labels)
    bars.invert_yaxis()
    bars.set_xlim(0, 1)
    bars.set_xlabel("weight α")
    bars.grid(visible=False)
    bars.tick_params(length=0)
    return figure


def _plane(axes: Axes, state: Any, annotations: Any, context: Any) -> None:
    axes.set_aspect("equal")
    reach = max(2.0, float(np.abs([state, *annotations]).max()))
    axes.set(xlim=(-reach, reach), ylim=(-reach, reach))
    axes.grid(visible=True, axis="both")
    for side in ("left", "bottom"):
        axes.spines[side].set_position("zero")
        axes.spines[side].set_color(LINES)
    ticks = [k for k in range(-math.floor(reach), math.floor(reach) + 1) if k]
    axes.set(xticks=ticks, yticks=ticks)
    axes.tick_params(labelsize=TINY, labelcolor=MUTED, length=0)
    arrows = [(h, "annotation", rf"$h_{j}$", (5, 5)) for j, h in enumerate(annotations, start=1)]
    arrows += [(state, "state", "$s$", (5, -11)), (context, "context", "$c$", (-12, 5))]
    for end, role, name, offset in arrows:
        arrow = {"color": ROLES[role].fill, "arrowstyle": "-|>", "linewidth": 2, "shrinkB": 0}
        axes.annotate("", end, (0, 0), arrowprops=arrow | {"shrinkA": 0})
        axes.annotate(
            name,
            end,
            xytext=offset,
            textcoords="offset points",
            color=ROLES[role].text,
            fontsize=SYMBOL,
        )
