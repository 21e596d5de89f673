"""The plot of benchmarks/README.md: what an update costs against what makes it larger."""

from typing import Any

from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from benchmarks.growth import by_factor
from course_lib.figures.style import (
    MUTED,
    OTHERS,
    RNNSEARCH,
    CourseFigure,
    ModelStyle,
    label_ends,
    label_room,
    line_style,
    styled,
)

NAMES = {
    "source_length": "source words in a sentence",
    "target_length": "target words in a sentence",
    "vocabulary": "words in the target vocabulary, thousands",
    "batch": "sentences in a batch",
}
STYLES = {
    "textbook": OTHERS[0]._replace(label="textbook"),
    "ours": RNNSEARCH._replace(label="course_lib"),
    "limit": ModelStyle("limit", MUTED, MUTED, "", (0, (2.0, 2.0))),
}


@styled()
def growth_figure(result: dict[str, Any]) -> Figure:
    """Milliseconds of one update against each factor, both axes logarithmic."""
    left, panel, gap, bottom, top, tall, between = 0.55, 2.3, 0.5, 0.5, 0.3, 1.9, 0.75
    room = label_room([style.label for style in STYLES.values()])
    width, height = left + 2 * (panel + room) + gap, bottom + 2 * tall + between + top
    figure = CourseFigure(figsize=(width, height))
    every = [row[name] * 1e3 for row in result["rows"] for name in STYLES]
    for number, (factor, rows) in enumerate(by_factor(result)):
        column, line = number % 2, 1 - number // 2
        axes = figure.add_axes(
            (
                (left + column * (panel + room + gap)) / width,
                (bottom + line * (tall + between)) / height,
                panel / width,
                tall / height,
            )
        )
        values = [row["value"] for row in rows]
        axes.set(xscale="log", yscale="log", ylim=(min(every) / 1.5, max(every) * 1.5))
        axes.xaxis.set_major_locator(FixedLocator(values))
        axes.xaxis.set_minor_locator(NullLocator())
        unit = 1000 if factor == "vocabulary" else 1
        axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _, u=unit: f"{value / u:,.0f}"))
        axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
        axes.set_xlabel(NAMES[factor])
        axes.set_title("milliseconds an update", fontsize=8.5, color=MUTED)
        ends = []
        for name, style in STYLES.items():
            times = [row[name] * 1e3 for row in rows]
            axes.plot(values, times, gid=f"{factor}-{name}", **line_style(style))
            ends.append((values[-1], times[-1], style.label, style))
        label_ends(axes, ends)
    return figure


def describe_growth(result: dict[str, Any]) -> str:
    """The figure in words: for each factor, how far it goes and what that costs."""
    parts = ["Milliseconds of one update, a panel for each of what makes it longer."]
    for factor, rows in by_factor(result):
        first, last = rows[0], rows[-1]
        costs = "; ".join(
            f"{style.label} {first[name] * 1e3:,.0f} to {last[name] * 1e3:,.0f}"
            for name, style in STYLES.items()
        )
        words = NAMES[factor].removesuffix(", thousands")
        parts.append(f"From {first['value']:,} to {last['value']:,} {words}: {costs}.")
    return " ".join(parts)
