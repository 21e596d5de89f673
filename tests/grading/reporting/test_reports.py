"""A class's results on paper: complete, aligned, harmless to a spreadsheet."""

from pathlib import Path

import pytest

from course_lib.grading.reporting.reports import as_table
from course_lib.grading.running.classroom import ClassReport, Mark, Report


@pytest.fixture
def result() -> ClassReport:
    def marks(first: float, read: bool) -> list[Mark]:
        return [
            Mark("energies_negated", first, 2.0, True, False, False),
            Mark("why", None if read else 0.0, 3.0, False, read, False),
        ]

    return ClassReport(
        "attention_by_hand",
        Path("/class"),
        "bwrap",
        [
            Report("ada", True, marks(2.0, True), [], 2.0, Path("/class/feedback/ada.html")),
            Report("=SUM(A1:A9)", True, marks(0.5, False), ["+1 remark"], 2.0, None),
            Report("nobody", False, [], ["It could not be graded."], 0.1, None),
        ],
    )


def test_the_table_has_a_line_a_student_and_says_what_is_still_to_read(
    result: ClassReport,
) -> None:
    table = as_table(result)
    lines = table.splitlines()
    assert lines[0].split() == ["student", "energies", "why", "total"]
    assert lines[1].split() == ["negated"]
    assert lines[2].split() == ["/2", "/3", "/5"]
    assert [line.split() for line in lines[4:7]] == [
        ["ada", "2", "read", "2"],
        ["=SUM(A1:A9)", "0.5", "0", "0.5"],
        ["nobody", "-", "-", "-"],
    ]
    assert "nobody: It could not be graded." in table
