"""A beam search as a picture: a column a step, the winner's path drawn thick."""

from collections.abc import Sequence
from typing import Any

from matplotlib.figure import Figure

from course_lib.figures.style import (
    INK,
    MUTED,
    NOTE,
    ROLES,
    TINY,
    CourseFigure,
    styled,
)

COLUMN, LINE = 1.0, 0.34  # inches


@styled()
def search_tree(nodes: Sequence[Any], best: Sequence[int]) -> Figure:
    """What a search kept and finished; what it dropped is counted below each column.

    nodes: each [parent, step, word, log p, fate], fate 2 for dropped. best: the winner's path.
    """
    steps = max(node[1] for node in nodes)
    places: dict[int, tuple[float, float]] = {}
    dropped = []
    for step in range(steps + 1):
        column = [i for i, node in enumerate(nodes) if node[1] == step and node[4] < 2]
        column.sort(key=lambda i: -nodes[i][3])
        places |= {i: (step * COLUMN, -row * LINE) for row, i in enumerate(column)}
        dropped.append(sum(node[1] == step and node[4] == 2 for node in nodes))
    lowest = min(y for _, y in places.values())
    width, height = (steps + 1) * COLUMN + 0.2, -lowest + 1.0
    figure = CourseFigure(figsize=(width, height))
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set(xlim=(-0.1, width - 0.1), ylim=(lowest - 0.6, 0.4))
    axes.axis("off")
    won = set(best)
    for i, (x, y) in places.items():
        parent, step, word, log_prob, _ = nodes[i]
        if parent is not None and parent in places:
            start = places[parent]
            color = ROLES["word"].fill if i in won else MUTED
            thick = 2.6 if i in won else 0.8
            axes.plot([start[0] + 0.72, x], [start[1], y], color=color, lw=thick, zorder=1)
        weight = "bold" if i in won else "normal"
        axes.text(x, y + 0.02, word, fontsize=NOTE, color=INK, weight=weight, parse_math=False)
        if step:
            axes.text(x, y - 0.12, f"{log_prob:.2f}".replace("-", "−"), fontsize=TINY, color=MUTED)
    for step, count in enumerate(dropped):
        if count:
            axes.text(step * COLUMN, lowest - 0.45, f"{count} dropped", fontsize=TINY, color=MUTED)
    return figure
