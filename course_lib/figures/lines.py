"""Panels of lines, each named at its right end instead of in a legend."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from course_lib.figures.style import (
    MUTED,
    VALUE,
    CourseFigure,
    ModelStyle,
    line_style,
    text_width,
)


def stacked(
    wide: float,
    tall: Sequence[float],
    *,
    left: float,
    right: float,
    bottom: float,
    top: float,
    gap: float = 0.0,
) -> tuple[Figure, list[Axes]]:
    """A figure of panels one above the other, from top to bottom, and its size: all in inches.

    One above the other, since text in panels side by side is too small on a phone.
    """
    width = left + wide + right
    height = bottom + sum(tall) + gap * (len(tall) - 1) + top
    figure = CourseFigure(figsize=(width, height))
    panels = []
    for number, inches in enumerate(tall):
        base = bottom + sum(tall[number + 1 :]) + gap * (len(tall) - 1 - number)
        box = (left / width, base / height, wide / width, inches / height)
        panels.append(figure.add_axes(box))
    return figure, panels


def named_lines(
    axes: Axes,
    lines: Mapping[str, tuple[Sequence[float], Sequence[float]]],
    styles: Mapping[str, ModelStyle],
    kind: str,
    **look: Any,
) -> None:
    """Draw each line, its x and its y, in its style, and name it at its end.

    Call it when the limits of the axes are final.
    """
    for name, (x, y) in lines.items():
        axes.plot(x, y, gid=f"{kind}-{name}", zorder=3, **look, **line_style(styles[name]))
    label_ends(axes, [(x[-1], y[-1], styles[n].label, styles[n]) for n, (x, y) in lines.items()])


def spread(wanted: list[float], gap: float) -> list[float]:
    """Positions as near to `wanted` as can be with at least `gap` between any two, in its order."""
    order = sorted(range(len(wanted)), key=lambda k: wanted[k])
    # Groups of labels that touch move together and stay centred on what they want.
    groups: list[tuple[float, list[int]]] = []
    for k in order:
        centre, members = wanted[k], [k]
        while groups:
            before, others = groups[-1]
            if centre - before >= gap * (len(members) + len(others)) / 2:
                break
            groups.pop()
            members = others + members
            centre = sum(wanted[m] for m in members) / len(members)
        groups.append((centre, members))
    placed = dict.fromkeys(order, 0.0)
    for centre, members in groups:
        for place, member in enumerate(members):
            placed[member] = centre + gap * (place - (len(members) - 1) / 2)
    return [placed[k] for k in range(len(wanted))]


_KEY = 10.0  # points from the panel to the marker of a label


def label_room(texts: Iterable[str]) -> float:
    """The inches that labels of these texts need on the right of a panel."""
    return max(text_width(text, VALUE) for text in texts) * 1.15 + 2 * _KEY / 72 + 0.1


def label_ends(axes: Axes, ends: Sequence[tuple[float, float, str, ModelStyle]]) -> None:
    """Name lines on the right of the panel instead of in a legend: (last x, last y, text, style).

    Labels that would touch are moved apart; a dotted leader shows where each belongs. Call it when
    the limits of the axes are final.
    """
    (left, right), (low, high) = axes.get_xlim(), axes.get_ylim()
    figure, box = axes.get_figure(root=True), axes.get_position()
    assert figure is not None
    # Distances are distances on paper, on a logarithmic axis too.
    on_x, on_y = axes.xaxis.get_transform(), axes.yaxis.get_transform()
    begin, end = on_x.transform([left, right])
    bottom, top = on_y.transform([low, high])
    across = (end - begin) / (box.width * figure.get_figwidth() * 72)  # units a point
    up = (top - bottom) / (box.height * figure.get_figheight() * 72)
    wanted = on_y.transform([y for _, y, _, _ in ends])
    places = on_y.inverted().transform(spread(list(wanted), 1.45 * VALUE * up))
    key, name = on_x.inverted().transform([end + _KEY * across, end + 1.8 * _KEY * across])
    for (x, y, text, style), place in zip(ends, places, strict=True):
        leader: dict[str, Any] = {
            "color": MUTED,
            "linewidth": 0.8,
            "linestyle": (0, (1, 2)),
            "zorder": 1,
        }
        axes.plot([x, right, key], [y, y, place], clip_on=False, gid="leader", **leader)
        axes.plot(
            [key], [place], clip_on=False, gid="key", **line_style(style) | {"linestyle": "none"}
        )
        axes.text(
            name,
            place,
            text,
            va="center_baseline",
            color=style.text,
            fontsize=VALUE,
            fontweight="bold",
            gid="label",
        )
    axes.set(xlim=(left, right), ylim=(low, high))
