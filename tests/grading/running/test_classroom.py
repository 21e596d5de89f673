"""A whole class through `course grade`: made-up students, and folders nobody would make up.

One run of each kind, shared by the tests of this file.
"""

import csv
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import nbformat
import psutil
import pytest
from nbformat import NotebookNode
from nbgrader.api import Gradebook

from course_lib.grading.authoring.demonstration import (
    automatic_parts,
    disagreements,
    read_class,
    write_class,
)
from course_lib.grading.running.classroom import ClassReport, Report, grade_class
from course_lib.grading.running.submission import Job, grade
from course_lib.grading.sources.project import db_url, nbgrader_messages, project_root
from course_lib.grading.sources.release import generate

NAME = "attention_by_hand"
ROOT = project_root(Path(__file__).parent)
RELEASED = (ROOT / "exercises" / NAME / f"{NAME}.ipynb").read_text()
LEFT_BEHIND = "86399.25"  # seconds that nobody else would sleep

SPY = """
import os, pathlib, socket, subprocess, sys
found = []
for folder in ("{course}", "{place}"):
    for name in ("solutions", "gradebook.db", "submitted", "autograded", "tests", ".git"):
        if os.path.exists(os.path.join(folder, name)):
            found.append(name)
found += [
    str(path)
    for path in pathlib.Path("/tmp").rglob("*.ipynb")
    if not path.is_relative_to(sys.prefix)  # packages bring notebooks, wherever they are installed
]
found += [name for name in os.environ if "SECRET" in name]
try:
    socket.create_connection(("192.0.2.1", 80), 1)
    found.append("network")
except OSError:
    pass
subprocess.Popen(["sleep", "{sleep}"], start_new_session=True)
print("found", sorted(found))
def additive_attention(s_prev, annotations, mask, W_s, W_h, v):
    return None
"""


@pytest.fixture(scope="module")
def demonstration(tmp_path_factory: pytest.TempPathFactory) -> ClassReport:
    """The demonstration class, graded by two processes."""
    submitted = tmp_path_factory.mktemp("demonstration") / "submitted"
    write_class(ROOT, NAME, RELEASED, submitted)
    return grade_class(ROOT, NAME, submitted=submitted, jobs=2)


def cell_of(notebook: NotebookNode, grade_id: str) -> NotebookNode:
    return next(
        cell
        for cell in notebook.cells
        if cell.metadata.get("nbgrader", {}).get("grade_id") == grade_id
    )


@pytest.fixture(scope="module")
def odd_class(tmp_path_factory: pytest.TempPathFactory) -> tuple[int, dict[str, Any], Path]:
    """Odd submissions through the command line: its exit status, its JSON, the class's folder."""
    place = tmp_path_factory.mktemp("odd class")
    made = place / "made"
    write_class(ROOT, NAME, RELEASED, made)
    reference = (made / "reference" / NAME / f"{NAME}.ipynb").read_text()
    folders = {
        name: place / "submitted" / name / NAME
        for name in ("nothing", "damaged", "renamed", "scissors", "spy", "crashing")
    }
    for folder in folders.values():
        folder.mkdir(parents=True)
    (folders["damaged"] / f"{NAME}.ipynb").write_text(reference[: len(reference) // 2])
    renamed = nbformat.reads(reference, as_version=4)
    cell_of(renamed, "id_answer").source = 'STUDENT_ID = "Renamed"'
    nbformat.write(renamed, folders["renamed"] / f"{NAME} (1).ipynb")

    crashing = nbformat.reads(reference, as_version=4)
    cell_of(crashing, "function_answer").source = "import os\nos._exit(0)"
    nbformat.write(crashing, folders["crashing"] / f"{NAME}.ipynb")

    cut = nbformat.reads(reference, as_version=4)
    for grade_id in ("energies", "weights", "winner_answer", "function_mask"):
        cut.cells.remove(cell_of(cut, grade_id))
    cell_of(cut, "context").source = "pass"
    cut.cells.append(NotebookNode(cell_of(cut, "function_empty"), id="again"))
    nbformat.write(cut, folders["scissors"] / f"{NAME}.ipynb")

    spy = nbformat.reads(reference, as_version=4)
    cell_of(spy, "function_answer").source = SPY.format(course=ROOT, place=place, sleep=LEFT_BEHIND)
    nbformat.write(spy, folders["spy"] / f"{NAME}.ipynb")
    (folders["spy"] / "marks.db").symlink_to(place / "gradebook.db")

    command = [str(Path(sys.executable).with_name("course")), "grade", NAME, "--json"]
    done = subprocess.run(
        [*command, "--submitted", place / "submitted", "--export", place / "grades.csv"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode in {0, 1}, done.stderr
    return done.returncode, json.loads(done.stdout), place


def student(result: dict[str, Any], name: str) -> dict[str, Any]:
    return next(one for one in result["students"] if one["student"] == name)


def scores(result: dict[str, Any], name: str) -> dict[str, float]:
    return {
        part: mark["score"]
        for part, mark in student(result, name)["parts"].items()
        if not mark["to_read"]
    }


def report_of(result: ClassReport, name: str) -> Report:
    return next(report for report in result.reports if report.student == name)


def test_every_made_up_student_gets_exactly_the_marks_they_deserve(
    demonstration: ClassReport,
) -> None:
    declared = read_class(ROOT, NAME)
    assert len(declared) == 12
    assert disagreements(demonstration, declared) == []
    assert demonstration.complete


def test_the_reference_solution_gets_every_automatic_point_and_the_blank_release_none(
    demonstration: ClassReport,
) -> None:
    automatic = {
        report.student: sum(mark.score or 0 for mark in report.marks if mark.automatic)
        for report in demonstration.reports
    }
    everything = sum(automatic_parts(nbformat.reads(RELEASED, as_version=4)).values())
    assert automatic["reference"] == everything > 0
    assert automatic["blank"] == 0
    assert report_of(demonstration, "blank").score == 0


def test_the_paragraph_waits_for_a_person_unless_nothing_is_written(
    demonstration: ClassReport,
) -> None:
    for name, waits in (("reference", True), ("blank", False)):
        marks = {mark.part: mark for mark in report_of(demonstration, name).marks}
        assert marks["why"].to_read is waits


def test_what_happened_to_an_unlucky_notebook_is_named(demonstration: ClassReport) -> None:
    report = report_of(demonstration, "endless")
    assert "context_answer was stopped: it took too long" in " ".join(report.remarks)
    assert report.feedback is not None
    assert "CellTimeoutError" in report.feedback.read_text()


def test_feedback_has_the_messages_of_hidden_tests_and_not_their_code(
    demonstration: ClassReport,
) -> None:
    for report in demonstration.reports:
        assert report.feedback is not None
        page = report.feedback.read_text()
        assert "HIDDEN TESTS" not in page
        assert "exact = " not in page
        if report.student == "two-decimals":
            assert "Keep at least three decimals" in page


def test_grading_again_keeps_what_a_person_has_marked(tmp_path: Path) -> None:
    write_class(ROOT, NAME, RELEASED, tmp_path / "submitted")
    generate(ROOT, NAME, db_url(tmp_path))
    handed_in = tmp_path / "submitted" / "reference" / NAME
    job = Job(ROOT, tmp_path, handed_in, "ada", NAME, RELEASED, boxed=True)
    assert grade(job).graded
    with nbgrader_messages(), Gradebook(db_url(tmp_path)) as gradebook:
        before = gradebook.find_submission(NAME, "ada").score
        mark = gradebook.find_grade("why", NAME, NAME, "ada")
        mark.manual_score, mark.needs_manual_grade = 2.0, False
        gradebook.db.commit()
    assert grade(job).graded
    with nbgrader_messages(), Gradebook(db_url(tmp_path)) as gradebook:
        assert gradebook.find_submission(NAME, "ada").score == before + 2


def test_submissions_that_cannot_be_read_are_marked_named_and_stop_nobody(
    odd_class: tuple[int, dict[str, Any], Path],
) -> None:
    status, result, _ = odd_class
    assert status == 1
    for name in ("nothing", "damaged"):
        one = student(result, name)
        assert not one["graded"]
        assert one["score"] == 0
        assert set(scores(result, name).values()) == {0}
        assert one["remarks"]
        assert one["remarks"][0].split("(")[0] in Path(one["feedback"]).read_text()
    assert [one["student"] for one in result["students"] if one["graded"]] == [
        "crashing",
        "renamed",
        "scissors",
        "spy",
    ]


def test_a_notebook_under_another_name_gets_its_marks(
    odd_class: tuple[int, dict[str, Any], Path],
) -> None:
    _, result, _ = odd_class
    assert sum(scores(result, "renamed").values()) == 27
    assert "should be" in student(result, "renamed")["remarks"][0]


def test_a_crash_costs_what_comes_after_it_and_is_named(
    odd_class: tuple[int, dict[str, Any], Path],
) -> None:
    _, result, _ = odd_class
    lost = {part for part, score in scores(result, "crashing").items() if score == 0}
    own = {"whose", "my_energies", "my_weights", "my_context", "my_winner"}  # another's id
    assert lost - own == {"function_example", "function_general", "function_mask", "function_empty"}
    one = student(result, "crashing")
    assert "KernelDied in function_answer" in " ".join(one["remarks"])
    assert "The Python process ended" in Path(one["feedback"]).read_text()


def test_a_folder_nbgrader_cannot_name_is_told_apart(tmp_path: Path) -> None:
    outcome = grade(Job(ROOT, tmp_path, tmp_path, "ada [1]", NAME, RELEASED, boxed=True))
    assert not outcome.graded
    assert "Rename it" in outcome.remarks[0]
    assert not (tmp_path / "gradebook.db").exists()


def test_deleted_emptied_and_copied_cells_change_no_other_mark(
    odd_class: tuple[int, dict[str, Any], Path],
) -> None:
    _, result, _ = odd_class
    found = scores(result, "scissors")
    # and part 6 was worked out for another's id
    lost = {part for part, score in found.items() if score == 0}
    assert lost == {"winner", "whose", "my_energies", "my_weights", "my_context", "my_winner"}
    assert len(student(result, "scissors")["remarks"]) == 6


def test_a_spy_finds_nothing_and_leaves_nothing_behind(
    odd_class: tuple[int, dict[str, Any], Path],
) -> None:
    _, result, place = odd_class
    graded = nbformat.read(place / "autograded" / "spy" / NAME / f"{NAME}.ipynb", as_version=4)
    printed = cell_of(graded, "function_answer").outputs[0].text
    assert printed.strip() == "found []"
    assert not (place / "autograded" / "spy" / NAME / "marks.db").exists()
    assert "marks.db is a link" in " ".join(student(result, "spy")["remarks"])
    running = [process.info["cmdline"] or [] for process in psutil.process_iter(["cmdline"])]
    assert not [command for command in running if LEFT_BEHIND in command]


def test_the_exported_table_has_a_line_a_student_and_the_same_marks(
    odd_class: tuple[int, dict[str, Any], Path],
) -> None:
    _, result, place = odd_class
    with (place / "grades.csv").open(newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert [row["student"] for row in rows] == [one["student"] for one in result["students"]]
    for row, one in zip(rows, result["students"], strict=True):
        assert float(row["total"]) == one["score"]
        assert float(row["out of"]) == one["points"] == 30
        for part, score in scores(result, one["student"]).items():
            assert float(row[part]) == score
