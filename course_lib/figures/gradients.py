"""What the way back through time leaves of a gradient, and what the gates do on the way."""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from course_lib.errors import CourseError
from course_lib.figures.style import (
    MUTED,
    VALUE,
    CourseFigure,
    ModelStyle,
    label_ends,
    label_room,
    line_style,
    logarithmic,
    styled,
    styles_for,
    text_width,
)

Rows = Sequence[Mapping[str, float]]
LOWEST = -12  # power of ten where the axis ends: far less than float32 sees beside a 1
BELOW = " ↓"  # behind the name of a curve that has left its panel at the bottom


@styled()
def gradient_curves(panels: Mapping[str, Mapping[str, Rows]]) -> Figure:
    """The gradient that is left against steps back, one curve a unit, side by side in panels.

    panels: by title, and in each by unit, what `evaluation.gradients.gradients_through_time`
    returns: rows with `distance`, `median`, `low` and `high`. Lines are medians over the sentences,
    bands the middle half of them. All panels have one logarithmic axis, down to 1e-12 at most.
    """
    checked_panels(panels)
    styles = styles_for(dict.fromkeys(name for curves in panels.values() for name in curves))
    every = [
        row["median"] for curves in panels.values() for rows in curves.values() for row in rows
    ]
    names = [
        [
            styles[name].label + (BELOW if rows[-1]["median"] < 10.0**LOWEST else "")
            for name, rows in each
        ]
        for each in (curves.items() for curves in panels.values())
    ]
    rooms = [label_room(labels) for labels in names]
    panel, left, gap, bottom, top, tall = 2.5, 0.75, 0.35, 0.55, 0.4, 2.7
    width = left + len(panels) * panel + (len(panels) - 1) * gap + sum(rooms)
    height = bottom + tall + top
    figure = CourseFigure(figsize=(width, height))
    start = left
    for number, (title, curves) in enumerate(panels.items()):
        box = (start / width, bottom / height, panel / width, tall / height)
        axes = figure.add_axes(box)
        axes.set_title(title, fontweight="bold")
        logarithmic(axes, every, lowest=LOWEST)
        axes.axhline(1, color=MUTED, linewidth=0.8, linestyle=(0, (2, 2)), gid="nothing lost")
        ends = [
            (*_draw_curve(axes, name, rows, styles[name]), label, styles[name])
            for (name, rows), label in zip(curves.items(), names[number], strict=True)
        ]
        axes.set_xlim(left=0)
        axes.xaxis.set_major_locator(MaxNLocator(6, integer=True))
        axes.set_xlabel("steps back (words)")
        if number == 0:
            axes.set_ylabel("gradient left (1: nothing lost)")
        else:
            axes.tick_params(labelleft=False)
        label_ends(axes, ends)
        start += panel + rooms[number] + gap
    return figure


def checked_panels(panels: Mapping[str, Mapping[str, Rows]]) -> None:
    """Refuse panels without a curve, or a curve without a step back."""
    every = [rows for curves in panels.values() for rows in curves.values()]
    if not panels or not all(panels.values()) or not all(len(rows) > 1 for rows in every):
        raise CourseError(
            "There is no gradient to draw. Give each panel what gradients_through_time returns."
        )


def _draw_curve(axes: Axes, name: str, rows: Rows, style: ModelStyle) -> tuple[float, float]:
    """One unit's line and band; where in the panel it ends."""
    at, median, low, high = (
        np.array([row[key] for row in rows]) for key in ("distance", "median", "low", "high")
    )
    axes.fill_between(at, low, high, color=style.color, alpha=0.15, linewidth=0, gid=f"band-{name}")
    every = max(1, len(rows) // 8)
    axes.plot(at, median, gid=f"gradient-{name}", markevery=every, **line_style(style))
    bottom, top = axes.get_ylim()
    return float(at[-1]), float(np.clip(median[-1], bottom, top))


@styled()
def gate_curves(gates: Mapping[str, Sequence[float]], words: Sequence[str]) -> Figure:
    """How far each gate is open at each word, in reading order.

    gates: by name, the mean over the gate's units at each word, 0 (shut) to 1 (open), as
    `evaluation.gradients.gates_along` returns it.
    """
    checked_gates(gates, words)
    styles = styles_for(gates)
    # Everything below is in inches: the words stand upright where they would touch.
    size, step = VALUE, float(np.clip(4.0 / len(words), 0.22, 0.5))
    widths = [text_width(word, size) for word in words]
    upright = max(widths) > step - 0.08
    left, right, tall = 0.6, label_room([style.label for style in styles.values()]), 2.0
    panel = max(step * len(words), 2.0)
    bottom, top = 0.35 + (max(widths) if upright else size / 72) + 0.1, 0.2
    width, height = left + panel + right, bottom + tall + top
    figure = CourseFigure(figsize=(width, height))
    axes = figure.add_axes((left / width, bottom / height, panel / width, tall / height))
    axes.set_xlim(-0.5, len(words) - 0.5)
    axes.set_ylim(0, 1)
    axes.set_yticks([0, 0.5, 1], ["0 shut", "0.5", "1 open"])
    axes.set_xticks(
        range(len(words)), words, rotation=90 if upright else 0, fontsize=size, parse_math=False
    )
    axes.set_xlabel("source words, in reading order")
    ends = []
    for name, values in gates.items():
        axes.plot(
            range(len(words)),
            values,
            gid=f"gate-{name}",
            clip_on=False,
            zorder=3,
            **line_style(styles[name]),
        )
        ends.append((len(words) - 1.0, float(values[-1]), styles[name].label, styles[name]))
    label_ends(axes, ends)
    return figure


def checked_gates(gates: Mapping[str, Sequence[float]], words: Sequence[str]) -> None:
    """Refuse gates that do not stand at the words, or are not between 0 and 1."""
    if not gates or not words or any(len(values) != len(words) for values in gates.values()):
        raise CourseError(
            f"The gates do not fit {len(words)} words. Give one value a word for each gate."
        )
    if not all(0 <= value <= 1 for values in gates.values() for value in values):
        raise CourseError("A gate has a value outside 0 to 1. Give what gates_along returns.")
