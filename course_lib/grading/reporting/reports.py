"""A class's results on the terminal and for scripts."""

from dataclasses import asdict
from typing import Any

from tabulate import tabulate

from course_lib.grading.intake.late import delay
from course_lib.grading.reporting.exports import number
from course_lib.grading.reporting.similarity import Pair
from course_lib.grading.running.classroom import ClassReport, Mark, Report


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


def _lateness(report: Report) -> list[str]:
    if report.seconds_late <= 0:
        return []
    taken = f", {number(report.deducted)} points taken away" if report.deducted else ""
    return [f"{delay(report.seconds_late)}{taken}."]


def _row(report: Report, parts: list[Mark]) -> list[str]:
    marks = {mark.part: mark for mark in report.marks}
    cells = [
        "read" if (mark := marks.get(part.part)) and mark.to_read else number(mark and mark.score)
        for part in parts
    ]
    return [report.student, *cells, number(report.score) if report.marks else "-"]
