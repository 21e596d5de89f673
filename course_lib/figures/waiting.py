"""Which vectors of three models wait for which, on paper: the step of each stands in its box."""

from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib.figure import Figure
from matplotlib.patches import FancyBboxPatch

from course_lib.figures.style import BODY, ROLES, VALUE, CourseFigure, styled

SIDES = {"source": "annotation", "target": "state"}


@styled()
def all_waits(
    source: Sequence[str], target: Sequence[str], models: Sequence[Mapping[str, Any]], **_: Any
) -> Figure:
    """A row for each model, in training and in use; the arguments are traits of `Waiting`."""
    words = {"source": source, "target": target}
    figure = CourseFigure(figsize=(8.4, 4.8))
    modes = {"training": "in training", "use": "in use"}
    for place, (model, (mode, title)) in enumerate(
        (model, mode) for model in models for mode in modes.items()
    ):
        line, column = divmod(place, len(modes))
        axes = figure.add_axes((0.01 + 0.5 * column, 0.68 - 0.33 * line, 0.48, 0.27))
        axes.set(xlim=(-0.6, len(source) + len(target) + 0.2), ylim=(-0.8, 1.9))
        axes.axis("off")
        left = {"source": 0.0, "target": len(source) + 0.4}
        for one in model[mode]:
            x, y, role = left[one["side"]] + one["word"], one["row"], ROLES[SIDES[one["side"]]]
            box = FancyBboxPatch(
                (x - 0.34, y - 0.3), 0.68, 0.6, boxstyle="round,pad=0,rounding_size=0.12"
            )
            box.set(facecolor=(role.fill, 0.15), edgecolor=role.fill)
            axes.add_patch(box)
            axes.text(x, y, one["step"], ha="center", va="center", fontsize=VALUE)
        for side, start in left.items():
            for number, word in enumerate(words[side]):
                axes.text(start + number, -0.65, word, ha="center", va="center", fontsize=VALUE)
        last = max(one["step"] for one in model[mode])
        axes.set_title(f"{model['name']} {title}: {last} steps", fontsize=BODY, loc="left")
    return figure
