"""Score against source length: the figure in which a bottleneck shows."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from course_lib.errors import CourseError
from course_lib.figures.lines import label_room, named_lines, stacked
from course_lib.figures.style import (
    BARS,
    LINES,
    MUTED,
    NOTE,
    SHADE,
    SMALL,
    styled,
    styles_for,
    text_width,
)

Ranges = Sequence[Mapping[str, Any]]


@styled()
def score_by_length(
    results: Mapping[str, Ranges],
    training_lengths: tuple[int, int] | None = None,
    *,
    key: str = "bleu_tok",
    label: str = "BLEU (tokenised)",
    counts: bool = True,
) -> Figure:
    """The score of each model for each range of source lengths, and how many sentences it rests on.

    results: by model name, what `evaluation.bleu.bleu_by_length` returns: ranges with `lower` and
    `upper` (both inside), `sentences` and the score under `key`. All models have the same ranges.
    Means over seeds may have `{key}_range` too, the least and the greatest: a box. A point stands
    at `length`, the mean length of its sentences, or without it in the middle of its range.
    training_lengths: shortest and longest source in training; what lies outside is shaded.
    key, label: the score to draw and what its axis is called.
    counts: whether the strip below tells the sentences of each range.
    """
    ranges = _checked(results)
    styles = styles_for(results)
    middles = [(row["lower"] + row["upper"]) / 2 for row in ranges]
    widths = _bar_widths(ranges, middles)
    low, high = middles[0] - widths[0] / 2, middles[-1] + widths[-1] / 2
    at = [float(row.get("length", middle)) for row, middle in zip(ranges, middles, strict=True)]

    panel = 3.1  # five inches with the labels, so that the print is legible on a phone
    figure, panels = stacked(
        panel,
        [2.6, 0.42] if counts else [2.6],
        left=0.85,
        right=label_room([style.label for style in styles.values()]),
        bottom=0.55,
        top=0.5 if training_lengths else 0.2,
        gap=0.26,
    )
    axes, lowest = panels[0], panels[-1]
    lowest.set_xlabel("source length (words)")
    for model, rows in results.items():
        for x, row in zip(at, rows, strict=True):
            if extent := row.get(f"{key}_range"):
                color = styles[model].color
                axes.vlines(x, *extent, color=color, lw=16, alpha=0.3, gid=f"range-{model}")
    axes.set_xlim(low, high)
    whole = MaxNLocator("auto", integer=True, steps=[1, 2, 4, 5, 10])  # 4, 8, 12 ..., not 3, 6, 9
    axes.xaxis.set_major_locator(whole)
    highest = max(float(row[key]) for rows in results.values() for row in rows)
    axes.set_ylim(0, highest * 1.08 if highest > 0 else 1)
    axes.set_ylabel(label)
    if counts:
        lowest.sharex(axes)
        axes.tick_params(labelbottom=False, length=0)
        _draw_counts(lowest, ranges, middles, widths, panel / (high - low))
    if training_lengths:
        _mark_training(axes, training_lengths, ranges, panel)
    lines = {m: (at, [float(row[key]) for row in rows]) for m, rows in results.items()}
    look = {"markersize": 3.5} if len(at) > 30 else {}  # larger ones would touch
    named_lines(axes, lines, styles, "score", **look)
    return figure


def _checked(results: Mapping[str, Ranges]) -> Ranges:
    """The ranges that all models share."""
    if not results or not all(results.values()):
        raise CourseError("There are no scores by length to draw. Score a split first.")
    every = list(results.values())
    shape = [[(row["lower"], row["upper"], row["sentences"]) for row in rows] for rows in every]
    if any(other != shape[0] for other in shape[1:]):
        raise CourseError(
            "The models were not scored on the same sentences, so their curves cannot be compared. "
            "Score them on one split with the same length ranges."
        )
    return every[0]


def _bar_widths(ranges: Ranges, middles: Sequence[float]) -> list[float]:
    """Each bar as wide as its range; single lengths with gaps between get wider ones."""
    widths = [float(row["upper"] - row["lower"] + 1) for row in ranges]
    if len(set(widths)) == 1 and len(middles) > 1:
        widest = 0.7 * min(b - a for a, b in pairwise(middles))
        widths = [max(widths[0], widest)] * len(widths)
    return widths


def _draw_counts(
    axes: Axes,
    ranges: Ranges,
    middles: Sequence[float],
    widths: Sequence[float],
    inches_a_word: float,
) -> None:
    """The strip below: a bar for each range, its sentences in numbers where they fit."""
    sentences = [row["sentences"] for row in ranges]
    slit = 0.025 / inches_a_word
    axes.bar(middles, sentences, width=[w - slit for w in widths], color=BARS)
    room = min((b - a for a, b in pairwise(middles)), default=1e9) * inches_a_word
    widest = max(text_width(f"{count:,}", SMALL) for count in sentences)
    every = int(-(-(widest + 0.03) // room))  # where they would touch, every second, third ...
    for k, (middle, count) in enumerate(zip(middles, sentences, strict=True)):
        if k % every == 0:
            axes.annotate(
                f"{count:,}",
                (middle, count),
                xytext=(0, 2),
                textcoords="offset points",
                ha="center",
                fontsize=SMALL,
                color=MUTED,
                annotation_clip=False,
                gid="count",
            )
    axes.set_ylim(0, max(sentences) * 1.02)
    axes.set_yticks([])
    axes.grid(False)
    axes.spines["left"].set_visible(False)
    axes.set_ylabel("sentences", rotation=0, ha="right", va="center", fontsize=NOTE)


def _mark_training(
    axes: Axes, training_lengths: tuple[int, int], ranges: Ranges, panel: float
) -> None:
    """Shade the lengths that training never showed, and name both sides above the panel."""
    shortest, longest = training_lengths
    low, high = axes.get_xlim()
    # Only where something is drawn outside: a panel begins and ends a little beyond its lengths.
    inside = (
        min(shortest - 0.5, high) if shortest > ranges[0]["lower"] else low,
        max(longest + 0.5, low) if longest < ranges[-1]["upper"] else high,
    )
    regions = [(low, inside[0]), (inside[1], high)]
    for start, end in regions:
        if end > start:
            axes.axvspan(start, end, color=SHADE, linewidth=0, zorder=0, gid="unseen")
    for edge in inside:
        if low < edge < high:
            axes.axvline(edge, color=MUTED, linewidth=1, linestyle=(0, (2, 2)), gid="boundary")
    _bracket(axes, inside, f"in training: {shortest} to {longest}", panel, high - low)
    for region in regions:
        _bracket(axes, region, "never seen", panel, high - low)


def _bracket(
    axes: Axes, region: tuple[float, float], text: str, panel: float, words: float
) -> None:
    """A line above the panel over `region` with its name, if the name fits there."""
    start, end = region
    if end <= start:
        return
    across = axes.get_xaxis_transform()
    slit = 0.02 * words / panel
    axes.plot(
        [start + slit, end - slit],
        [1.035, 1.035],
        transform=across,
        color=LINES,
        linewidth=3,
        solid_capstyle="butt",
        clip_on=False,
    )
    if text_width(text, NOTE) <= (end - start) / words * panel:
        axes.text(
            (start + end) / 2,
            1.06,
            text,
            transform=across,
            ha="center",
            va="bottom",
            fontsize=NOTE,
            color=MUTED,
        )
