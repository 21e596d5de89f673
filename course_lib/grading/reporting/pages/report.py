"""The pages about a class: how an assignment went and what is to be done; and the whole term."""

import math
import os
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from statistics import mean, median
from typing import Any

import numpy as np
from nbgrader.api import Gradebook

from course_lib.figures.templates import render
from course_lib.files import write_atomically
from course_lib.grading.intake.late import delay
from course_lib.grading.reporting import similarity
from course_lib.grading.reporting.overview import Overview
from course_lib.grading.reporting.tables import NOBODY
from course_lib.grading.running.gradebooks import name_of
from course_lib.grading.sources.project import db_url, nbgrader_messages

MOST_PAIRS = 100
"""Of answers that resemble each other; `--json` has all of them."""


def ranges(scores: list[float], points: float) -> list[tuple[int, int, int]]:
    """How many students reached how many points: at most 12 ranges, as (from, to, students)."""
    width = max(1, math.ceil(points / 12))
    edges = list(range(0, max(math.ceil(points), 1) + width, width))
    counts, _ = np.histogram(np.clip(scores, 0, points), bins=edges)
    return list(zip(edges[:-1], edges[1:], counts.tolist(), strict=True))


def write_class_report(shown: Overview, folder: Path) -> Path:
    """Write the report about an assignment, NAME.html, into a folder; the page's path.

    Its links are relative to it.
    """
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
        nobody=[NOBODY.format(part) for part in shown.result.nobody_passes],
        extended={one.student: f"{one.extended:%Y-%m-%d %H:%M}" for one in reports if one.extended},
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
    page = folder / f"{shown.result.assignment}.html"
    write_atomically(page, text, private=True)
    return page


def write_term(place: Path, folder: Path, names: Mapping[str, str] | None = None) -> Path:
    """Write the page over all assignments of a gradebook, index.html; the page's path.

    Args:
        place: the folder of the gradebook.
        folder: where the reports about the assignments lie.
        names: student -> pseudonym, to stand in place of ids and names.
    """
    assignments: list[tuple[str, float]] = []
    students: dict[str, dict[str, Any]] = {}
    with nbgrader_messages(), Gradebook(db_url(place)) as gradebook:
        for assignment in sorted(gradebook.assignments, key=lambda one: one.name):
            submissions = gradebook.assignment_submissions(assignment.name)
            if submissions:
                assignments.append((assignment.name, assignment.max_score))
            for one in submissions:
                person, waits = one.student, one.needs_manual_grade
                row = students.setdefault(person.id, {"name": name_of(person), "scores": {}})
                penalty = one.late_submission_penalty or 0.0
                row["scores"][assignment.name] = (one.score - penalty, waits)
    rows = [
        (names[student], "", row["scores"]) if names else (student, row["name"], row["scores"])
        for student, row in students.items()
        if not names or student in names
    ]
    text = render(
        *("course_lib.grading.reporting", "pages", "term.html.j2"),
        when=f"{datetime.now():%Y-%m-%d %H:%M}",
        assignments=assignments,
        reports={name for name, _ in assignments if (folder / f"{name}.html").is_file()},
        rows=[
            (student, name, scores, sum(score for score, _ in scores.values()))
            for student, name, scores in sorted(rows)
        ],
    )
    page = folder / "index.html"
    write_atomically(page, text, private=True)
    return page
