"""The page about a class: complete, offline, and without a name if so wished."""

import csv
import io
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from nbgrader.api import Gradebook

from course_lib.grading.intake.collecting import CollectedFile
from course_lib.grading.reporting.overview import (
    Overview,
    PartSummary,
    of_different_files,
    under_pseudonyms,
)
from course_lib.grading.reporting.pages.report import ranges, write_class_report, write_term
from course_lib.grading.reporting.similarity import SimilarAnswers
from course_lib.grading.reporting.tables import as_csv, as_json, as_table, similar
from course_lib.grading.running.classroom import ClassReport, Mark, Report
from course_lib.grading.sources.data import Criterion
from course_lib.grading.sources.project import db_url, nbgrader_messages

NAMES = {
    "lovelace-a": ("Augusta", "Lovelace", "augusta@uni.example"),
    "noether.e": ("Emmy", "Noether", "en@uni.example"),
    "<b>mallory</b>": ("", "", ""),
}


def marks(score: float, waits: bool) -> list[Mark]:
    return [
        Mark("energies", score, 3.0, True, False),
        Mark("why", None, 2.0, False, waits),
    ]


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> Overview:
    place = tmp_path_factory.mktemp("class")
    with nbgrader_messages(), Gradebook(db_url(place)) as gradebook:
        for student, (first, last, email) in NAMES.items():
            gradebook.add_student(student, first_name=first, last_name=last, email=email)
    remarks = [
        "The notebook is called lovelace-a_final.ipynb; it should be x.ipynb.",
        "Written by Emmy Noether (EN@uni.example).",
        "<script>alert(1)</script>",
    ]
    reports = [
        Report(
            student, True, marks(score, True), [remark], 2.0, place / f"{score}.html", 90000, 0.5
        )
        for student, score, remark in zip(NAMES, (3.0, 1.0, 0.0), remarks, strict=True)
    ]
    students = list(NAMES)
    parts = [
        PartSummary(
            "energies", "Part 1: <energies>", 3.0, 1, 1, 1, [], [("No, noether.e!", 2)], []
        ),
        PartSummary("why", "Part 2", 2.0, 0, 0, 0, students, [], [Criterion(2.0, "a reason")]),
    ]
    texts = "# by Augusta Lovelace", "x = '<img src=https://example.org>'"
    pair = SimilarAnswers(students[0], students[1], "energies_answer", 0.93, 120, *texts)
    result = ClassReport("attention_by_hand", place, "bwrap", reports)
    absent = [("curie-m", "Marie Curie")]
    not_taken = [
        CollectedFile(
            "noether_8_71_work.pdf", "put aside", ["noether.e"], "a PDF, and no notebook"
        ),
        CollectedFile("anon_x_7_y.ipynb", "asked about", [], "nobody knows whose"),
    ]
    return Overview("Attention by hand", result, parts, [pair], "10% a day", absent, not_taken)


def test_it_shows_everything_offline_and_to_everybody(
    shown: Overview, tmp_path: Path, visit: Callable[[Path], object]
) -> None:
    seen = visit(write_class_report(shown, tmp_path))
    assert (seen.requests, seen.errors, seen.grave, seen.sideways) == ([], [], [], 0)
    for piece in (
        "3 submissions, mean 0.83, median 0.5 of 5 points",
        "Part 1: <energies>",
        "1 (33%)",
        "2 students: No, noether.e!",
        "2 points: a reason",
        "3 students: lovelace-a, noether.e, <b>mallory</b>",
        "10% a day",
        "25 hours late: 0.5 points taken away",
        "<script>alert(1)</script>",
        "lovelace-a and noether.e",
        "noether_8_71_work.pdf (noether.e): a PDF, and no notebook.",
        "anon_x_7_y.ipynb (nobody's yet): nobody knows whose.",
        "93%",
        "at least 80% of the shorter one",
        "no finding about anybody",
        "curie-m, Marie Curie",
    ):
        assert piece in seen.text, piece


def test_a_group_that_handed_in_one_file_resembles_nobody(shown: Overview) -> None:
    (pair,) = shown.pairs
    theirs = CollectedFile("team_8_71_x.ipynb", "taken", [pair.other, pair.one])
    assert of_different_files(shown.pairs, [theirs]) == []
    assert of_different_files(shown.pairs, shown.not_taken) == [pair]


def test_every_student_is_in_one_range_of_points() -> None:
    assert ranges([0.0, 1.0, 4.9, 5.0], 5.0) == [
        (0, 1, 1),
        (1, 2, 1),
        (2, 3, 0),
        (3, 4, 0),
        (4, 5, 2),
    ]
    many = ranges([0.5 * k for k in range(81)], 40.0)
    assert len(many) <= 12
    assert sum(count for _, _, count in many) == 81


def test_under_pseudonyms_nothing_written_names_anybody(shown: Overview, tmp_path: Path) -> None:
    hidden = under_pseudonyms(shown)
    told = as_json(hidden.result) | {"similar": similar(hidden.pairs)}
    written = [
        write_class_report(hidden, tmp_path).read_text(),
        json.dumps(told),
        as_csv(hidden.result),
        as_table(hidden.result),
    ]
    for text in written:
        for student, known in NAMES.items():
            for secret in (student, *known):
                assert not secret or secret.casefold() not in text.casefold(), secret
    assert sorted(one["score"] for one in told["students"]) == [-0.5, 0.5, 2.5]
    assert len({row[0] for row in csv.reader(io.StringIO(written[2]))}) == 4


def test_the_term_has_every_assignment_on_one_page(
    tmp_path: Path, visit: Callable[[Path], object]
) -> None:
    with nbgrader_messages(), Gradebook(db_url(tmp_path)) as gradebook:
        for name, late in (("decoding", 1.5), ("attention", 0)):
            gradebook.add_assignment(name)
            gradebook.add_notebook(name, name)
            gradebook.add_grade_cell("part", name, name, max_score=10, cell_type="code")
            gradebook.update_or_create_student("ada", first_name="Ada", last_name="Lovelace")
            gradebook.add_submission(name, "ada")
            grade = gradebook.find_grade("part", name, name, "ada")
            grade.auto_score, grade.needs_manual_grade = 7, False
            notebook = gradebook.find_submission_notebook(name, name, "ada")
            notebook.late_submission_penalty = late
        gradebook.update_or_create_student("emmy")
        gradebook.add_submission("decoding", "emmy")
        gradebook.db.commit()
    (tmp_path / "report").mkdir()
    (tmp_path / "report" / "decoding.html").touch()
    page = write_term(tmp_path, tmp_path / "report")
    seen = visit(page)
    assert (seen.requests, seen.errors, seen.grave, seen.sideways) == ([], [], [], 0)
    lines = [" ".join(line.split()) for line in seen.text.splitlines() if line.strip()]
    text = " ".join(lines)
    assert "Ada Lovelace" in text
    assert "7 5.5 12.5" in text
    assert "emmy - 0 so far 0" in text
    assert 'href="decoding.html"' in page.read_text()
    assert page.stat().st_mode & 0o077 == 0
    hidden = write_term(tmp_path, tmp_path / "hidden", {"ada": "student-1"}).read_text()
    assert "student-1" in hidden
    for name in ("Lovelace", ">ada", "emmy"):
        assert name not in hidden


def test_a_class_without_points_or_pairs_has_a_report_too(shown: Overview, tmp_path: Path) -> None:
    nothing = [Report("ada", False, [], ["It could not be graded."], 0.1, None)]
    empty = replace(shown, result=replace(shown.result, reports=nothing), parts=[], pairs=[])
    page = write_class_report(empty, tmp_path).read_text()
    assert "not graded" in page
    assert "None." in page
