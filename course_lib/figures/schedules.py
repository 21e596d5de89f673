"""How the share of given words falls over a training with scheduled sampling."""

from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator, PercentFormatter

from course_lib.errors import CourseError
from course_lib.figures.style import (
    CourseFigure,
    label_ends,
    label_room,
    line_style,
    styled,
    styles_for,
)
from course_lib.training.schedules import TEACHER_FORCING, given_share

FALLING = tuple(name for name in TEACHER_FORCING if name not in ("always", "never"))


@styled()
def schedule_curves(total_steps: int, end: float) -> Figure:
    """The share of true previous words at each update, one curve a schedule.

    total_steps: the updates of the training.
    end: the share at the last of them, where all schedules arrive (see `training.schedules`).
    """
    curves = shares(total_steps, end)
    styles = styles_for(curves)
    left, panel, bottom, tall, top = 0.75, 4.2, 0.55, 2.4, 0.2
    width = left + panel + label_room(curves)
    height = bottom + tall + top
    figure = CourseFigure(figsize=(width, height))
    axes = figure.add_axes((left / width, bottom / height, panel / width, tall / height))
    updates = range(total_steps + 1)
    for name, values in curves.items():
        # Markers at other places on each curve: where two run together, both are seen.
        offset = (list(curves).index(name) / len(curves) + 0.2) / 8
        axes.plot(
            updates,
            values,
            gid=f"share-{name}",
            markevery=(min(round(offset * total_steps), total_steps), max(1, total_steps // 8)),
            clip_on=False,
            zorder=3,
            **line_style(styles[name]),
        )
    axes.set_xlim(0, total_steps)
    axes.set_ylim(0, 1)
    axes.xaxis.set_major_locator(MaxNLocator(6, integer=True))
    axes.yaxis.set_major_formatter(PercentFormatter(1.0))
    axes.set_xlabel("update")
    axes.set_ylabel("true previous words given")
    label_ends(
        axes,
        [(total_steps, values[-1], name, styles[name]) for name, values in curves.items()],
    )
    return figure


def shares(total_steps: int, end: float) -> dict[str, list[float]]:
    """The share at every update, from 0 to `total_steps`, of every schedule that falls."""
    if total_steps < 1 or not 0 < end < 1:
        raise CourseError(
            f"total_steps={total_steps} and end={end} make no schedule. Give at least one update "
            "and an end between 0 and 1."
        )
    return {
        name: [given_share(name, step, total_steps, end) for step in range(total_steps + 1)]
        for name in FALLING
    }
