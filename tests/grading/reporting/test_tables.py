"""Points for people and platforms: everybody's own, in the columns each reads, and no formulas."""

import csv
import io
from dataclasses import replace
from pathlib import Path

import pytest

from course_lib.errors import CourseError
from course_lib.grading.intake.roster import Roster, read_roster
from course_lib.grading.reporting.overview import with_zeros
from course_lib.grading.reporting.tables import (
    as_csv,
    as_table,
    grades_for_canvas,
    grades_for_moodle,
    missing_from,
    unlike,
)
from course_lib.grading.running.classroom import ClassReport, Mark, Report

CANVAS = """\
Student,ID,SIS User ID,SIS Login ID,Section,Attention by Hand (1207),Quiz (9)
    Points Possible,,,,,25,3
"=Lovelace, Ada",1042,S17,ada,A,,
"Noether, Emmy",1043,,emmy,A,,
"Curie, Marie",1044,,marie,A,,
"""
WORKSHEET = """\
Identifier,Full name,Email address,Status,Grade,Maximum Grade,Feedback comments
Participant 501,Ada Lovelace,ada,Submitted,,25.00,
Participant 502,=Emmy Noether,emmy,Submitted,,25.00,
"""
PARTICIPANTS = "First name,Last name,Email address,Groups\nAda,Lovelace,ada,\n"


def result() -> ClassReport:
    def report(student: str, score: float, deducted: float = 0.0) -> Report:
        marks = [
            Mark("energies_negated", score, 22.0, True, False),
            Mark("why", None, 3.0, False, True),
        ]
        late = 90000 if deducted else 0
        return Report(student, True, marks, ["＝1+1"], 1.0, None, late, deducted)

    reports = [report("ada", 20.5, 2.05), report("emmy", 22.0), report("@stranger", 0.0)]
    reports.append(Report("nobody", False, [], ["It could not be graded."], 0.1, None))
    return ClassReport("attention_by_hand", Path("/class"), "bwrap", reports)


def roster(folder: Path, text: str) -> Roster:
    (folder / "roster.csv").write_text(text)
    return read_roster(folder / "roster.csv")


def rows(text: str) -> list[list[str]]:
    return list(csv.reader(io.StringIO(text)))


def test_the_table_has_a_line_a_student_and_says_what_is_still_to_read() -> None:
    table = as_table(result())
    assert [line.split() for line in table.splitlines()][:5] == [
        ["student", "points", "not", "all", "points", "in"],
        ["ada", "18.45", "of", "25", "energies_negated:", "20.5", "of", "22;", "why:", "read"],
        ["emmy", "22", "of", "25", "why:", "read"],
        ["@stranger", "0", "of", "25", "energies_negated:", "0", "of", "22;", "why:", "read"],
        ["nobody", "-"],
    ]
    assert "ada: 25 hours late, 2.05 points taken away." in table
    assert "nobody: It could not be graded." in table


def test_the_table_fits_a_terminal() -> None:
    marks = [Mark(f"function_of_many_words_{k}", 0.5, 2, True, False) for k in range(30)]
    remark = "The cell " + "function_of_many_words " * 20
    students = ["ada", "a" * 100]
    reports = [Report(student, True, marks, [remark], 1.0, None) for student in students]
    table = as_table(ClassReport("attention_by_hand", Path("/class"), "bwrap", reports))
    # a word that is longer than a line is not broken
    lines = [line for line in table.splitlines() if "a" * 100 not in line]
    assert max(map(len, lines)) <= 100
    assert " ".join(table.split()).count("0.5 of 2") == 60


def test_a_test_that_nobody_passes_is_called_out() -> None:
    marks = [Mark("part", 0, 2, True, False), Mark("why", 1, 3, False, False)]
    several = [Report(one, True, marks, [], 1.0, None) for one in ("ada", "ben")]
    graded = ClassReport("attention_by_hand", Path("/class"), "bwrap", several)
    assert graded.nobody_passes == ["part"]
    assert "Nobody has a point in part" in as_table(graded)
    blank = [replace(mark, score=0) for mark in marks]  # who hands in nothing tells nothing
    assert replace(graded, reports=[replace(several[0], marks=blank)] * 2).nobody_passes == []


def test_canvas_gets_its_own_columns_and_the_points_after_deduction(tmp_path: Path) -> None:
    made = rows(grades_for_canvas(result(), roster(tmp_path, CANVAS), "Attention by hand"))
    assert made == [
        ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", "Attention by Hand (1207)"],
        ["    Points Possible", "", "", "", "", "25"],
        ["'=Lovelace, Ada", "1042", "S17", "ada", "A", "18.45"],
        ["Noether, Emmy", "1043", "", "emmy", "A", "22"],
    ]
    assert missing_from(result(), roster(tmp_path, CANVAS)) == ["@stranger", "nobody"]


def test_an_assignment_canvas_does_not_know_gets_a_column_of_its_own(tmp_path: Path) -> None:
    text = "Student,ID,SIS Login ID,Section\nAda Lovelace,1042,ada,A\n"
    made = rows(grades_for_canvas(result(), roster(tmp_path, text), "Attention by hand"))
    assert made[0][-1] == "attention_by_hand"
    assert made[1] == ["    Points Possible", "", "", "", "25"]
    assert made[2][-1] == "18.45"


def test_moodles_worksheet_comes_back_filled_in(tmp_path: Path) -> None:
    made = rows(grades_for_moodle(result(), roster(tmp_path, WORKSHEET)))
    assert made[0] == WORKSHEET.split("\n")[0].split(",")
    ada, emmy = made[1:]
    assert ada[:5] == ["Participant 501", "Ada Lovelace", "ada", "Submitted", "18.45"]
    assert ada[6].split("; ") == [
        "energies_negated: 20.5 of 22",
        "why: to be read of 3",
        "25 hours late, 2.05 points taken away.",
    ]
    assert emmy[1] == "'=Emmy Noether"
    assert emmy[4] == "22"


def test_moodles_gradebook_gets_addresses_points_and_comments(tmp_path: Path) -> None:
    made = rows(grades_for_moodle(result(), roster(tmp_path, PARTICIPANTS)))
    assert made[0] == ["Email address", "Grade", "Feedback comments"]
    assert made[1][:2] == ["ada", "18.45"]


def test_the_other_platforms_list_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CourseError, match=r"Give Canvas's with --roster"):
        grades_for_canvas(result(), roster(tmp_path, WORKSHEET), "")
    with pytest.raises(CourseError, match=r"Give Moodle's with --roster"):
        grades_for_moodle(result(), roster(tmp_path, CANVAS))


def test_what_was_changed_since_it_was_marked_is_said_everywhere(tmp_path: Path) -> None:
    marks = [Mark("why", 2.0, 3.0, False, False, changed=True)]
    reports = [Report("ada", True, marks, [], 1.0, None)]
    changed = ClassReport("attention_by_hand", Path("/class"), "bwrap", reports)
    assert "why: 2 of 3 (changed)" in as_table(changed)
    assert rows(as_csv(changed))[1][-2] == "why"
    comment = rows(grades_for_moodle(changed, roster(tmp_path, WORKSHEET)))[1][6]
    assert comment == "why: 2 of 3 (the answer was changed since it was marked)"


def test_zeros_are_given_to_those_without_a_submission_where_they_are_wished(
    tmp_path: Path,
) -> None:
    known = roster(tmp_path, CANVAS)
    made = rows(grades_for_canvas(with_zeros(result(), known), known, "Attention by hand"))
    assert made[-1] == ["Curie, Marie", "1044", "", "marie", "A", "0"]
    assert rows(as_csv(with_zeros(result(), known)))[-1][:2] == ["marie", "Marie Curie"]


def test_no_cell_is_a_formula(tmp_path: Path) -> None:
    texts = [
        as_csv(result()),
        grades_for_canvas(result(), roster(tmp_path, CANVAS), ""),
        grades_for_moodle(result(), roster(tmp_path, WORKSHEET)),
    ]
    cells = [cell for text in texts for row in rows(text) for cell in row]
    suspicious = [cell for cell in cells if cell[:1] in set("=+-@\t\r")]
    assert {cell for cell in suspicious if not cell[1:].replace(".", "").isdigit()} <= {"-"}
    assert "'@stranger" in cells
    assert "'＝1+1" in cells
    assert "-2.05" in cells


def test_what_the_platform_would_make_of_it_is_said_before(tmp_path: Path) -> None:
    known = roster(tmp_path, CANVAS)
    assert unlike(result(), known, "Attention by hand") == []
    known = roster(tmp_path, CANVAS.replace("Attention by Hand (1207)", "HW2: attention (77)"))
    assert "importing makes a new assignment" in unlike(result(), known, "Attention by hand")[0]
    assert unlike(result(), roster(tmp_path, WORKSHEET), "") == []
    known = roster(tmp_path, WORKSHEET.replace("25.00", "100.00"))
    assert "maximum grade is 100.00, and there are 25 points" in unlike(result(), known, "")[0]


def test_a_worksheet_in_another_language_is_filled_in_as_it_is(tmp_path: Path) -> None:
    german = (
        "ID,Vollständiger Name,E-Mail-Adresse,Bewertung,Bestwertung,Feedback als Kommentar\n"
        'Teilnehmer/in501,Ada Lovelace,ada,,"25,00",\n'
    )
    header, ada = rows(grades_for_moodle(result(), roster(tmp_path, german)))
    assert header == german.split("\n")[0].split(",")
    assert (ada[0], ada[3]) == ("Teilnehmer/in501", "18.45")
    assert unlike(result(), roster(tmp_path, german), "") == []
