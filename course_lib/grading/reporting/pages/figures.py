"""The class report's two figures, as pictures with their text for readers who cannot see them."""

import base64
import io
from collections.abc import Sequence

import numpy as np
from markupsafe import Markup
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from course_lib.figures.style import INK, MUTED, ROLES, styled
from course_lib.grading.reporting.overview import PartSummary

_FULL, _PARTIAL, _NONE, _WAITING = "#009E73", "#E69F00", "#c9ccd1", "#ffffff"


def histogram(scores: Sequence[float], points: float) -> Markup:
    """How many students reached how many points."""
    bins = min(max(round(points), 1), 12)
    counts, edges = np.histogram(scores, bins=bins, range=(0.0, max(points, 1e-9)))
    with styled():
        figure = Figure(figsize=(5.6, 2.5), layout="constrained")
        axes = figure.subplots()
        axes.bar(
            edges[:-1],
            counts,
            width=np.diff(edges),
            align="edge",
            color=ROLES["annotation"].fill,
            edgecolor="white",
        )
        axes.set(xlabel="points", ylabel="students", xlim=(0, points))
        axes.yaxis.set_major_locator(MaxNLocator(integer=True))
        middle = float(np.median(scores))
        axes.axvline(middle, color=INK, linewidth=1.2, linestyle=(0, (4, 2)))
        axes.annotate(
            f" median {middle:g}",
            (middle, max(counts) * 1.04),
            annotation_clip=False,
            color=INK,
            fontsize=9,
            ha="left" if middle < points * 0.75 else "right",
        )
        axes.set_ylim(0, max(counts) * 1.18)
        ranges = [
            f"{low:.3g} to {high:.3g} points: {count}"
            for low, high, count in zip(edges[:-1], edges[1:], counts, strict=True)
            if count
        ]
        text = f"Histogram of {len(scores)} students. {'; '.join(ranges)}. Median {middle:g}."
        return _picture(figure, text)


def success(parts: Sequence[PartSummary]) -> Markup:
    """The share of full, partial and no points in each part."""
    with styled():
        figure = Figure(figsize=(5.6, 0.6 + 0.34 * len(parts)), layout="constrained")
        axes = figure.subplots()
        places = range(len(parts))
        left = np.zeros(len(parts))
        kinds = (
            ("all points", _FULL, None, [part.full for part in parts]),
            ("some", _PARTIAL, "//", [part.partial for part in parts]),
            ("none", _NONE, None, [part.none for part in parts]),
            ("to be read", _WAITING, "...", [len(part.waiting) for part in parts]),
        )
        for name, color, hatch, counts in kinds:
            if not any(counts):
                continue
            axes.barh(
                places,
                counts,
                left=left,
                color=color,
                hatch=hatch,
                edgecolor=MUTED,
                linewidth=0.5,
                label=name,
                height=0.72,
            )
            left += np.array(counts)
        axes.set_yticks(list(places), [_short(part.title) for part in parts])
        axes.invert_yaxis()
        axes.grid(visible=False)
        axes.set(xlabel="students", xlim=(0, max(left.max(), 1)))
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        figure.legend(loc="outside upper right", ncols=4, frameon=False, fontsize=9)
        lines = [
            f"{part.title}: {part.full} all, {part.partial} some, {part.none} none"
            for part in parts
        ]
        return _picture(figure, f"Points in each part. {'; '.join(lines)}.")


def _short(title: str) -> str:
    return title if len(title) <= 30 else title[:29] + "…"


def _picture(figure: Figure, text: str) -> Markup:
    stream = io.BytesIO()
    figure.savefig(stream, format="svg", metadata={"Date": None})
    data = base64.b64encode(stream.getvalue()).decode()
    return Markup(
        '<div class="figure"><img src="data:image/svg+xml;base64,{}" alt="{}"></div>'
    ).format(data, text)
