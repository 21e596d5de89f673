"""How the share of given words falls over a training with scheduled sampling."""

from collections.abc import Mapping, Sequence

from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator, PercentFormatter

from course_lib.figures.lines import label_ends, label_room, stacked
from course_lib.figures.style import line_style, styled, styles_for


@styled()
def schedule_curves(shares: Mapping[str, Sequence[float]]) -> Figure:
    """The share of true previous words at each update, one curve a schedule.

    shares: by schedule, what `training.schedules.given_share` says at every update from 0 to the
    last; the same updates for all.
    """
    last = len(next(iter(shares.values()))) - 1
    styles = styles_for(shares)
    room = label_room(shares)
    figure, (axes,) = stacked(4.2, [2.4], left=0.75, right=room, bottom=0.55, top=0.2)
    every = max(1, last // 8)
    for number, (name, values) in enumerate(shares.items()):
        # Markers at other places on each curve: where two run together, both are seen.
        first = min(round((number / len(shares) + 0.2) * every), last)
        axes.plot(
            range(last + 1),
            values,
            gid=f"share-{name}",
            markevery=(first, every),
            clip_on=False,
            zorder=3,
            **line_style(styles[name]),
        )
    axes.set_xlim(0, last)
    axes.set_ylim(0, 1)
    axes.xaxis.set_major_locator(MaxNLocator(6, integer=True))
    axes.yaxis.set_major_formatter(PercentFormatter(1.0))
    axes.set_xlabel("update")
    axes.set_ylabel("true previous words given")
    label_ends(axes, [(last, values[-1], name, styles[name]) for name, values in shares.items()])
    return figure
