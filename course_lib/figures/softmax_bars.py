"""The weights of one query's keys, plain and divided by sqrt(d), as bars."""

from collections.abc import Sequence

import numpy as np
from matplotlib.figure import Figure

from course_lib.figures.style import ROLES, CourseFigure, styled


@styled()
def softmax_bars(
    dimensions: Sequence[int],
    products: Sequence[Sequence[Sequence[float]]],
    dimension: int,
    temperature: float,
    draw: int,
) -> Figure:
    """products: (draws, dimensions, keys) dot products q'k; the others choose among them."""
    plain = np.asarray(products[draw][list(dimensions).index(dimension)]) / temperature
    figure = CourseFigure(figsize=(6.4, 2.6))
    columns = {f"q·k, d = {dimension}": plain, "q·k / √d": plain / np.sqrt(dimension)}
    for number, (title, energies) in enumerate(columns.items()):
        powers = np.exp(energies - energies.max())
        axes = figure.add_axes((0.08 + 0.48 * number, 0.17, 0.42, 0.7))
        axes.bar(np.arange(1, len(energies) + 1), powers / powers.sum(), color=ROLES["weight"].fill)
        axes.set_ylim(0, 1)
        axes.set_title(title, fontweight="bold")
        axes.set_xlabel("key")
        if number == 0:
            axes.set_ylabel("weight")
    return figure
