"""A class's points: on the terminal, for scripts, a spreadsheet, Canvas and Moodle."""

import csv
import io
import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from typing import Any

from tabulate import tabulate

from course_lib.errors import CourseError
from course_lib.grading.intake.late import delay
from course_lib.grading.intake.roster import Person, Platform, Roster, plain
from course_lib.grading.reporting.similarity import Pair
from course_lib.grading.running.classroom import ClassReport, Mark, Report

_NUMBER = re.compile(r"[+-]?\d+([.,]\d+)?")


def as_json(result: ClassReport) -> dict[str, Any]:
    """Everything, as plain values."""
    return {
        "assignment": result.assignment,
        "sandbox": result.sandbox,
        "gradebook": str(result.place / "gradebook.db"),
        "students": [_student(report) for report in result.reports],
    }


def _student(report: Report) -> dict[str, Any]:
    values = asdict(report) | {"score": report.score, "points": report.points}
    values["parts"] = {mark.pop("part"): mark for mark in values.pop("marks")}
    values["feedback"] = str(report.feedback) if report.feedback else None
    return values


def similar(pairs: list[Pair]) -> list[dict[str, Any]]:
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
    """The table the command prints: a heading for each part in as many lines as it has words."""
    parts = result.parts
    columns = [
        ["student", ""],
        *([*mark.part.split("_"), f"/{number(mark.points)}"] for mark in parts),
        ["total", f"/{number(sum(mark.points for mark in parts))}"],
    ]
    depth = max(map(len, columns))
    # the points belong in the last line whatever the number of words
    headings = [
        "\n".join([*words, *[""] * (depth - len(words) - 1), points]) for *words, points in columns
    ]
    table = tabulate(
        [_row(report, parts) for report in result.reports],
        headings,
        colalign=["left", *["right"] * (len(parts) + 1)],
        disable_numparse=True,
    )
    lines = [line.rstrip() for line in table.splitlines()]
    if any(mark.to_read for report in result.reports for mark in report.marks):
        lines.append("read: a person has still to mark this part (nbgrader's formgrader).")
    remarks = [
        f"  {report.student}: {remark}"
        for report in result.reports
        for remark in [*_lateness(report), *report.remarks]
    ]
    if remarks:
        lines += ["", "Remarks", *remarks]
    return "\n".join(lines)


def _row(report: Report, parts: list[Mark]) -> list[str]:
    marks = {mark.part: mark for mark in report.marks}
    cells = []
    for part in parts:
        mark = marks.get(part.part)
        cells.append("-" if mark is None else "read" if mark.to_read else number(mark.score))
    return [report.student, *cells, number(report.score) if report.marks else "-"]


def as_csv(result: ClassReport) -> str:
    """One line a student: points a part, total, what is still to read, remarks."""
    names = [mark.part for mark in result.parts]
    rows = [
        {
            "student": report.student,
            **{mark.part: number(mark.score) for mark in report.marks},
            "late": number(-report.deducted),
            "total": number(report.score),
            "out of": number(report.points),
            "to read": " ".join(mark.part for mark in report.marks if mark.to_read),
            "remarks": " ".join(report.remarks),
        }
        for report in result.reports
    ]
    return _written(["student", *names, "late", "total", "out of", "to read", "remarks"], rows)


def for_canvas(result: ClassReport, roster: Roster, title: str) -> str:
    """The columns by which Canvas knows its students, and one for this assignment.

    The assignment's column and the points possible are the roster's own where it has them; else a
    new column, from which Canvas makes a new assignment.

    Raises:
        CourseError: the roster is not from Canvas.
    """
    _need(roster, "Canvas")
    wanted = {plain(result.assignment), plain(title)}
    column = next(
        (name for name in roster.header if plain(re.sub(r"\s*\(\d+\)$", "", name)) in wanted),
        result.assignment,
    )
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


def for_moodle(result: ClassReport, roster: Roster) -> str:
    """Moodle's grading worksheet filled in, or what its gradebook takes if the roster is none.

    Raises:
        CourseError: the roster is not from Moodle.
    """
    _need(roster, "Moodle")
    header = list(roster.header)
    if "identifier" not in {name.casefold() for name in header}:
        known = {"id number", "username", "email address"}
        header = [name for name in header if name.casefold() in known]
    named = {name.casefold(): name for name in header}
    grade, comments = (named.get(one.casefold(), one) for one in ("Grade", "Feedback comments"))
    header += [name for name in (grade, comments) if name not in header]
    rows = [
        {**person.row, grade: number(report.score), comments: _comment(report)}
        for person, report in _graded(result, roster)
    ]
    return _written(header, rows)


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
        for mark in report.marks
    ]
    return "; ".join([*parts, *_lateness(report)])


def _lateness(report: Report) -> list[str]:
    if report.seconds_late <= 0:
        return []
    taken = f", {number(report.deducted)} points taken away" if report.deducted else ""
    return [f"{delay(report.seconds_late)}{taken}."]


def _graded(result: ClassReport, roster: Roster) -> list[tuple[Person, Report]]:
    """Whoever is in the roster and has marks."""
    reports = {report.student: report for report in result.reports if report.marks}
    return [(one, reports[one.student]) for one in roster.people if one.student in reports]


def _need(roster: Roster, platform: Platform) -> None:
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
