"""The page about a class: how it went, what is to be done, what is worth a look."""

import os
from datetime import datetime
from pathlib import Path
from statistics import mean, median

import numpy as np

from course_lib.figures.templates import render
from course_lib.files import write_atomically
from course_lib.grading.intake.late import delay
from course_lib.grading.reporting import similarity
from course_lib.grading.reporting.overview import Overview

MOST_PAIRS = 100
"""Of answers that resemble each other; `--json` has all of them."""


def ranges(scores: list[float], points: float) -> list[tuple[float, float, int]]:
    """How many students reached how many points: at most 12 ranges, as (from, to, students)."""
    bins = min(max(round(points), 1), 12)
    counts, edges = np.histogram(scores, bins=bins, range=(0.0, max(points, 1.0)))
    return list(zip(edges[:-1].tolist(), edges[1:].tolist(), counts.tolist(), strict=True))


def write_report(shown: Overview, folder: Path) -> Path:
    """Write the report of a class into a folder; the page's path. Its links are relative to it."""
    reports = shown.result.reports
    scores = [report.score for report in reports]
    points = max((report.points for report in reports), default=0.0)
    text = render(
        *("course_lib.grading.reporting", "pages", "report.html.j2"),
        shown=shown,
        when=f"{datetime.now():%Y-%m-%d %H:%M}",
        points=points,
        mean=mean(scores) if scores else 0.0,
        median=median(scores) if scores else 0.0,
        ranges=ranges(scores, points),
        waiting=[part for part in shown.parts if part.waiting],
        feedback={
            one.student: Path(os.path.relpath(one.feedback, folder)).as_posix()
            for one in reports
            if one.feedback is not None
        },
        late={one.student: delay(one.seconds_late) for one in reports if one.seconds_late > 0},
        pairs=shown.pairs[:MOST_PAIRS],
        more=max(0, len(shown.pairs) - MOST_PAIRS),
        share=round(100 * similarity.SHARE),
        least=similarity.LEAST,
        common=round(100 * similarity.COMMON),
    )
    page = folder / "index.html"
    write_atomically(page, text)
    return page
