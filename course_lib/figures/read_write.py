"""Encoder and decoder as the moving figure draws them, on paper: its last frame."""

from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib.figure import Figure
from matplotlib.patches import Circle, FancyBboxPatch, PathPatch
from matplotlib.path import Path

from course_lib.figures.style import BODY, INK, ROLES, CourseFigure, styled


@styled()
def frames_drawn(shapes: Sequence[Mapping[str, Any]], frame: int, **_: Any) -> Figure:
    """Arrows, circles and boxes up to this frame, each in its role's colour.

    shapes: see `course_lib.widgets.read_write.start`, on a ground of 440 by 300.
    """
    figure = CourseFigure(figsize=(5.5, 3.75))
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set(xlim=(0, 440), ylim=(300, 0))
    axes.axis("off")
    for shape in shapes:
        if shape["frame"] > frame:
            continue
        color = ROLES[shape["role"]].text if shape["role"] in ROLES else INK
        line: Any = {"edgecolor": color, "facecolor": "none", "linewidth": 1.3}
        if "points" in shape:
            *way, before, end = shape["points"]
            dashes = (0, (3, 3)) if shape["dashed"] else "solid"
            axes.add_patch(PathPatch(Path([*way, before, end]), linestyle=dashes, **line))
            head = {"arrowstyle": "-|>", "color": color, "shrinkA": 0, "shrinkB": 0}
            axes.annotate("", end, before, arrowprops={**head, "linestyle": dashes})
            continue
        x, y = shape["x"], shape["y"]
        if shape["kind"] == "circle":
            axes.add_patch(Circle((x, y), 19, **line))
        elif shape["kind"] == "box":
            corner = (x - shape["half"], y - 18)
            rounded = "round,pad=0,rounding_size=7"
            axes.add_patch(FancyBboxPatch(corner, 2 * shape["half"], 36, rounded, **line))
        axes.text(x, y, shape["text"], color=color, ha="center", va="center", fontsize=BODY)
    return figure
