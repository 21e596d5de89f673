"""Points for a spreadsheet, for Canvas and for Moodle, in the columns that each reads."""

import csv
import io
import re
import unicodedata
from collections.abc import Iterable

from course_lib.errors import CourseError
from course_lib.grading.intake.late import delay
from course_lib.grading.intake.roster import Platform, Roster, plain
from course_lib.grading.running.classroom import ClassReport, Report

_NUMBER = re.compile(r"[+-]?\d+([.,]\d+)?")


def as_csv(result: ClassReport) -> str:
    """One line a student: points a part, total, what is still to read, remarks."""
    names = [mark.part for mark in max((one.marks for one in result.reports), key=len, default=[])]
    rows = [["student", *names, "late", "total", "out of", "to read", "remarks"]]
    for report in result.reports:
        marks = {mark.part: mark for mark in report.marks}
        rows.append(
            [
                report.student,
                *(number(marks[name].score) if name in marks else "" for name in names),
                number(-report.deducted),
                number(report.score),
                number(report.points),
                " ".join(mark.part for mark in report.marks if mark.to_read),
                " ".join(report.remarks),
            ]
        )
    return _written(rows)


def for_canvas(result: ClassReport, roster: Roster, title: str) -> str:
    """The columns by which Canvas knows its students, and one for this assignment.

    The assignment's column and the points possible are the roster's own where it has them; else a
    new column, from which Canvas makes a new assignment.

    Raises:
        CourseError: the roster is not from Canvas.
    """
    _need(roster, Platform.canvas)
    wanted = {plain(result.assignment), plain(title)}
    column = next(
        (name for name in roster.header if plain(re.sub(r"\s*\(\d+\)$", "", name)) in wanted),
        result.assignment,
    )
    known = {"student", "id", "sis user id", "sis login id", "root account", "section"}
    kept = [place for place, name in enumerate(roster.header) if name.casefold() in known]
    first = roster.header.index("Student") if "Student" in roster.header else kept[0]
    possible = max((report.points for report in result.reports), default=0.0)
    rows = [[*(roster.header[place] for place in kept), column]]
    for row in roster.rows:
        if _cell(row, first).strip().casefold() == "points possible":
            rows.append([*(_cell(row, place) for place in kept), number(possible)])
    if len(rows) == 1:
        rows.append(
            ["    Points Possible" if place == first else "" for place in kept] + [number(possible)]
        )
    graded = _graded(result)
    for person in roster.people:
        if person.student in graded:
            row = roster.rows[person.row]
            score = number(graded[person.student].score)
            rows.append([*(_cell(row, place) for place in kept), score])
    return _written(rows)


def for_moodle(result: ClassReport, roster: Roster) -> str:
    """Moodle's grading worksheet filled in, or what its gradebook takes if the roster is none.

    Raises:
        CourseError: the roster is not from Moodle.
    """
    _need(roster, Platform.moodle)
    graded = _graded(result)
    folded = [name.casefold() for name in roster.header]
    if "identifier" in folded:
        header = list(roster.header)
    else:
        known = ("id number", "username", "email address")
        header = [name for name in roster.header if name.casefold() in known]
    kept = [roster.header.index(name) for name in header]
    header += [name for name in ("Grade", "Feedback comments") if name.casefold() not in folded]
    grade, comments = (
        [name.casefold() for name in header].index(wanted)
        for wanted in ("grade", "feedback comments")
    )
    rows = [header]
    for person in roster.people:
        if person.student not in graded:
            continue
        row = [_cell(roster.rows[person.row], place) for place in kept]
        row += [""] * (len(header) - len(row))
        row[grade] = number(graded[person.student].score)
        row[comments] = _comment(graded[person.student])
        rows.append(row)
    return _written(rows)


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
    late = []
    if report.seconds_late > 0:
        late = [f"{delay(report.seconds_late)}: -{number(report.deducted)}"]
    return "; ".join([*parts, *late])


def _graded(result: ClassReport) -> dict[str, Report]:
    return {report.student: report for report in result.reports if report.marks}


def _need(roster: Roster, platform: Platform) -> None:
    if roster.platform is not platform:
        raise CourseError(
            f"The roster is {roster.platform.value}'s. Give {platform.value}'s with --roster."
        )


def _cell(row: list[str], place: int) -> str:
    return row[place] if place < len(row) else ""


def _written(rows: Iterable[list[str]]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerows([_harmless(cell) for cell in row] for row in rows)
    return text.getvalue()


def _harmless(value: str) -> str:
    """A spreadsheet takes a cell that begins like this for a formula."""
    # compatibility forms as well: a full-width equals sign is one to some programs
    formula = unicodedata.normalize("NFKC", value).strip(" \ufeff")[:1] in set("=+-@\t\r\n")
    return f"'{value}" if formula and value != "-" and not _NUMBER.fullmatch(value) else value
