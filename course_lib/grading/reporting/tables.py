"""A class's points: on the terminal, for scripts, a spreadsheet, Canvas and Moodle."""

import csv
import io
import itertools
import re
import textwrap
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from typing import Any

from course_lib.errors import CourseError
from course_lib.files import write_atomically
from course_lib.grading.intake.late import delay
from course_lib.grading.intake.roster import Platform, Roster, RosterEntry, plain_name
from course_lib.grading.reporting.similarity import SimilarAnswers
from course_lib.grading.running.classroom import ClassReport, Report
from course_lib.grading.untrusted import visible

WIDTH = 100
"""Columns of a terminal."""
NOBODY = "Nobody has a point in {}: look at its test; `course release` runs your solution on it."
"""What is said of such a part."""
_NUMBER = re.compile(r"[+-]?\d+([.,]\d+)?")


def as_json(result: ClassReport) -> dict[str, Any]:
    """Everything, as plain values."""
    return {
        "assignment": result.assignment,
        "sandbox": result.sandbox,
        "gradebook": str(result.place / "gradebook.db"),
        "students": [_student(report) for report in result.reports],
        "changes": [asdict(change) for change in result.changes],
        "nobody_passes": result.nobody_passes,
        "not_graded": result.not_graded,
    }


def _student(report: Report) -> dict[str, Any]:
    values = asdict(report) | {"score": report.score, "points": report.points}
    values["parts"] = {mark.pop("part"): mark for mark in values.pop("marks")}
    values["extended"] = report.extended.isoformat() if report.extended else None
    values["feedback"] = str(report.feedback) if report.feedback else None
    return values


def similar(pairs: list[SimilarAnswers]) -> list[dict[str, Any]]:
    """The submissions that resemble each other, as plain values."""
    return [
        {
            "students": [pair.one, pair.other],
            "cell": pair.cell,
            "share": round(pair.share, 3),
            "length": pair.length,
        }
        for pair in pairs
    ]


def as_table(result: ClassReport) -> str:
    """What the command prints: for each student the total, and the parts without all points."""
    wide = max([7, *(len(report.student) for report in result.reports)])
    wide = min(wide, WIDTH // 3)
    lines = [f"{'student':{wide}}  {'points':>12}  not all points in"]
    for report in result.reports:
        total = f"{number(report.score)} of {number(report.points)}" if report.marks else "-"
        start = f"{visible(report.student, wide):{wide}}  {total:>12}  "
        lines += _wrapped(start, "; ".join(_not_full(report)), len(start))
    if any(mark.to_read for report in result.reports for mark in report.marks):
        lines.append("read: a person has still to mark this part.")
    if any(mark.changed for report in result.reports for mark in report.marks):
        lines.append("changed: the answer was changed since a person marked it.")
    for part in result.nobody_passes:
        lines += _wrapped("", f"{NOBODY.format(part)}", 0)
    remarks = [
        f"{report.student}: {remark}"
        for report in result.reports
        for remark in [*_times(report), *report.remarks]
    ]
    if remarks:
        lines += ["", "Remarks"]
        for remark in remarks:
            lines += _wrapped("  ", remark, 4)
    if result.not_graded:
        text = f"Never graded, and not asked for now: {', '.join(result.not_graded)}."
        lines += ["", *_wrapped("", text, 0)]
    return "\n".join(lines)


def _wrapped(start: str, text: str, indent: int) -> list[str]:
    return textwrap.wrap(
        text,
        WIDTH,
        initial_indent=start,
        subsequent_indent=" " * indent,
        break_on_hyphens=False,
    ) or [start.rstrip()]


def _not_full(report: Report) -> list[str]:
    """The parts that a student has not all points in, in words."""
    if report.marks and all(mark.score == 0 for mark in report.marks):
        return ["all parts: 0"]
    return [
        f"{mark.part}: read"
        if mark.to_read
        else f"{mark.part}: {number(mark.score)} of {number(mark.points)}"
        + (" (changed)" if mark.changed else "")
        for mark in report.marks
        if mark.to_read or mark.changed or (mark.score or 0) < mark.points
    ]


def as_changes(result: ClassReport) -> str:
    """Who gained and who lost by this grading, and why: a line for each student; "" for nobody."""
    lines = []
    for student, changes in itertools.groupby(result.changes, lambda change: change.student):
        *parts, total = changes
        said = [
            f"{one.part} {number(one.before)} -> {number(one.after)}"
            + (" (the answer was changed since it was marked)" if one.changed else "")
            for one in parts
        ]
        start = f"  {student}: {number(total.before)} -> {number(total.after)}  "
        lines += _wrapped(start, f"{'; '.join(said)}: {total.why}", 4)
    return "\n".join(["Changed since the last grading", *lines]) if lines else ""


def note_changes(result: ClassReport) -> Path | None:
    """Write the same into a file of its own, a line for each part; its path, if there is one."""
    if not result.changes:
        return None
    rows = [
        {
            "student": change.student,
            "part": change.part,
            "before": number(change.before),
            "after": number(change.after),
            "why": change.why,
            "answer changed since marked": "yes" if change.changed else "",
        }
        for change in result.changes
    ]
    folder = result.place / "grading" / "changes"
    path = folder / f"{result.assignment}-{datetime.now():%Y-%m-%d-%H%M%S-%f}.csv"
    write_atomically(path, _written(list(rows[0]), rows), private=True)
    return path


def as_csv(result: ClassReport) -> str:
    """One line a student: points a part, total, what is to read, or was changed, and remarks."""
    names = [mark.part for mark in result.parts]
    rows = [
        {
            "student": report.student,
            "name": report.name,
            **{mark.part: number(mark.score) for mark in report.marks},
            "late": number(-report.deducted),
            "total": number(report.score),
            "out of": number(report.points),
            "to read": " ".join(mark.part for mark in report.marks if mark.to_read),
            "changed": " ".join(mark.part for mark in report.marks if mark.changed),
            "remarks": " ".join(report.remarks),
        }
        for report in result.reports
    ]
    return _written(
        ["student", "name", *names, "late", "total", "out of", "to read", "changed", "remarks"],
        rows,
    )


def grades_for_canvas(result: ClassReport, roster: Roster, title: str) -> str:
    """The columns by which Canvas knows its students, and one for this assignment.

    The assignment's column and the points possible are the roster's own where it has them; else a
    new column, from which Canvas makes a new assignment.

    Raises:
        CourseError: the roster is not from Canvas.
    """
    need(roster, "Canvas")
    column = _canvas_column(result, roster, title) or result.assignment
    known = {"student", "id", "sis user id", "sis login id", "root account", "section"}
    kept = [name for name in roster.header if name.casefold() in known]
    first = next(name for name in kept if name.casefold() == "student")
    possible = number(max((report.points for report in result.reports), default=0.0))
    stated = [row for row in roster.rows if row[first].strip().casefold() == "points possible"]
    rows = [{**row, column: possible} for row in stated or [{first: "    Points Possible"}]]
    rows += [
        {**person.row, column: number(report.score)} for person, report in _graded(result, roster)
    ]
    return _written([*kept, column], rows)


def grades_for_moodle(result: ClassReport, roster: Roster) -> str:
    """Moodle's grading worksheet filled in, or what its gradebook takes if the roster is none.

    Raises:
        CourseError: the roster is not from Moodle.
    """
    need(roster, "Moodle")
    header, columns = list(roster.header), roster.columns
    if "number" not in columns:
        known = {columns.get(role) for role in ("own number", "login", "email")}
        header = [name for name in header if name in known]
    grade = columns.get("grade", "Grade")
    comments = columns.get("comments", "Feedback comments")
    header += [name for name in (grade, comments) if name not in header]
    rows = [
        {**person.row, grade: number(report.score), comments: _comment(report)}
        for person, report in _graded(result, roster)
    ]
    return _written(header, rows)


def _canvas_column(result: ClassReport, roster: Roster, title: str) -> str | None:
    wanted = {plain_name(result.assignment), plain_name(title)}
    named = (
        name for name in roster.header if plain_name(re.sub(r"\s*\(\d+\)$", "", name)) in wanted
    )
    return next(named, None)


def unlike(result: ClassReport, roster: Roster, title: str) -> list[str]:
    """What the platform will make of the table that the instructor may not expect."""
    if roster.platform == "Canvas" and _canvas_column(result, roster, title) is None:
        return [
            f"The roster has no column {title!r}: importing makes a new assignment,"
            f" {result.assignment!r}. Give the one on Canvas this title and export the roster anew."
        ]
    points = max((report.points for report in result.reports), default=0.0)
    stated = {row.get(roster.columns.get("most", ""), "").replace(",", ".") for row in roster.rows}
    return [
        f"Moodle's maximum grade is {most}, and there are {number(points)} points: they are written"
        f" as they are. Set the maximum to {number(points)} there."
        for most in sorted(stated)
        if _NUMBER.fullmatch(most) and float(most) != points
    ]


def missing_from(result: ClassReport, roster: Roster) -> list[str]:
    """Who was graded and is not in the roster."""
    known = {person.student for person in roster.people}
    return [report.student for report in result.reports if report.student not in known]


def number(value: float | None) -> str:
    """Points without superfluous zeros; nothing recorded is "-"."""
    return "-" if value is None else f"{round(value, 4) + 0.0:g}"


def _comment(report: Report) -> str:
    parts = [
        f"{mark.part}: "
        + ("to be read" if mark.to_read else f"{number(mark.score)}")
        + f" of {number(mark.points)}"
        + (" (the answer was changed since it was marked)" if mark.changed else "")
        for mark in report.marks
    ]
    return "; ".join([*parts, *_times(report)])


def _times(report: Report) -> list[str]:
    """An extension, and what a delay has cost."""
    said = []
    if report.extended is not None:
        said.append(f"may hand in until {report.extended:%Y-%m-%d %H:%M}.")
    if report.seconds_late > 0:
        taken = f", {number(report.deducted)} points taken away" if report.deducted else ""
        said.append(f"{delay(report.seconds_late)}{taken}.")
    return said


def _graded(result: ClassReport, roster: Roster) -> list[tuple[RosterEntry, Report]]:
    """Whoever is in the roster and has marks."""
    reports = {report.student: report for report in result.reports if report.marks}
    return [(one, reports[one.student]) for one in roster.people if one.student in reports]


def need(roster: Roster, platform: Platform) -> None:
    """Make sure that a roster is of the platform that points are for.

    Raises:
        CourseError: it is the other's.
    """
    if roster.platform != platform:
        raise CourseError(f"The roster is {roster.platform}'s. Give {platform}'s with --roster.")


def _written(header: list[str], rows: Iterable[Mapping[str, str]]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    for row in (dict(zip(header, header, strict=True)), *rows):
        writer.writerow([_harmless(row.get(name, "")) for name in header])
    return text.getvalue()


def _harmless(value: str) -> str:
    """A spreadsheet takes a cell that begins like this for a formula."""
    # compatibility forms as well: a full-width equals sign is one to some programs
    formula = unicodedata.normalize("NFKC", value).strip(" \ufeff")[:1] in set("=+-@\t\r\n")
    return f"'{value}" if formula and value != "-" and not _NUMBER.fullmatch(value) else value
