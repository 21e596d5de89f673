"""Why a dot product is divided by sqrt(d): spread, largest weight and slope against d."""

import math
from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.figure import Figure

from course_lib.figures.lines import label_room, logarithmic, named_lines, stacked
from course_lib.figures.style import LINES, MUTED, NOTE, OTHERS, styled

Rows = Sequence[Mapping[str, float]]
STYLES = {
    "dot": OTHERS[0]._replace(label="q·k"),
    "scaled-dot": OTHERS[1]._replace(label="q·k / √d"),
}
PANELS = {
    "sd": ("Spread", "standard deviation; grey: √d"),
    "largest": ("Weight", "the largest weight (median)"),
    "slope": ("Slope", "α (1 − α) of that weight (median)"),
}


@styled()
def saturation_curves(results: Mapping[str, Rows]) -> Figure:
    """Three panels, one below the other, against the dimension d: plain and divided by sqrt(d).

    results: what `evaluation.saturation.saturation` returns. The grey line of the first panel is
    the theory, sqrt(d).
    """
    dimensions = [row["dimension"] for row in results["dot"]]
    room = label_room([style.label for style in STYLES.values()])
    figure, panels = stacked(3.3, [1.3] * 3, left=0.5, right=room, bottom=0.5, top=0.35, gap=0.8)
    for axes, (key, (title, note)) in zip(panels, PANELS.items(), strict=True):
        axes.set_title(title, fontweight="bold")
        axes.annotate(
            note,
            (1, 1),
            xytext=(0, 6),
            xycoords="axes fraction",
            textcoords="offset points",
            ha="right",
            fontsize=NOTE,
            color=MUTED,
        )
        axes.set_xscale("log", base=2)
        every = [row[key] for rows in results.values() for row in rows]
        if key == "largest":
            axes.set_ylim(0, 1)
        elif key == "slope":
            logarithmic(axes, every)
        else:
            axes.set_yscale("log", base=2)
            highest = max(1, math.ceil(math.log2(max(every))))
            axes.set_ylim(0.5, 2.0**highest)
            axes.set_yticks(
                [2.0**k for k in range(highest + 1)], [2**k for k in range(highest + 1)]
            )
            # Wide and pale, so that it shows on both sides of the curve that lies on it.
            axes.plot(dimensions, np.sqrt(dimensions), color=LINES, linewidth=7, gid="theory")
        ticks = dimensions[:: -(-len(dimensions) // 5)]
        axes.set_xticks(ticks, [f"{d:g}" for d in ticks])
        axes.xaxis.minorticks_off()
        axes.set_xlabel("dimension d")
        lines = {
            name: (dimensions, [row[key] for row in results[name]]) for name in reversed(STYLES)
        }
        named_lines(axes, lines, STYLES, key, clip_on=False)
    return figure
