"""What a grading changes for those who were graded before, and what it leaves alone."""

import csv
import shutil
import time
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbgrader.api import Gradebook

from course_lib.errors import CourseError
from course_lib.grading.reporting.tables import as_changes, as_table, note_changes
from course_lib.grading.running import execution, extensions, gradebooks, submission
from course_lib.grading.running.classroom import ClassReport, Report, grade_class
from course_lib.grading.running.submission import Job, grade
from course_lib.grading.sources.marked_cells import grade_id
from course_lib.grading.sources.project import db_url, nbgrader_messages
from tests.grading.tiny import NAME, hand_in, job_of, write_course

TEST = "assert number == 42"


def give(folder: Path, student: str, points: float, part: str = "why") -> None:
    """What the form grader writes when a person gives points."""
    with nbgrader_messages(), Gradebook(db_url(folder)) as gradebook:
        grade = gradebook.find_grade(part, NAME, NAME, student)
        grade.manual_score, grade.needs_manual_grade = points, False
        gradebook.db.commit()


def states(report: Report) -> dict[str, tuple[float | None, bool, bool]]:
    return {mark.part: (mark.score, mark.to_read, mark.changed) for mark in report.marks}


def of(result: ClassReport, student: str) -> Report:
    return next(report for report in result.reports if report.student == student)


def page(folder: Path, student: str) -> str:
    return (folder / "feedback" / student / NAME / f"{NAME}.html").read_text()


@pytest.fixture(scope="module")
def graded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three students whose paragraphs a person has marked; one part is overridden by hand."""
    folder = tmp_path_factory.mktemp("course")
    write_course(folder, answer="number = 42", test=TEST)
    for student, answer in (("ada", "6 * 7"), ("ben", "41"), ("eve", "'?'")):
        hand_in(folder, student, f"number = {answer}")
    grade_class(folder, NAME)
    for student in ("ada", "ben", "eve"):
        give(folder, student, 2)
    give(folder, "ben", 1, "part")
    grade_class(folder, NAME)
    return folder


@pytest.fixture
def folder(graded: Path, tmp_path: Path) -> Path:
    """A copy of that class, to be changed."""
    shutil.copytree(graded, tmp_path / "course")
    return tmp_path / "course"


def test_a_mark_stands_whatever_changes_but_its_answer(folder: Path) -> None:
    """Another test, other points, other settings, another time, and another answer elsewhere."""
    source = folder / "solutions" / NAME / f"{NAME}.md"
    text = source.read_text().replace("points: 2}", "points: 4}")
    source.write_text(text.replace(TEST, "assert number == 42, 'Not 42.'"))
    with (folder / "nbgrader_config.py").open("a") as settings:
        settings.write("\n# a remark\n")
    (folder / "submitted" / "ada" / NAME / "timestamp.txt").write_text("2026-05-04T12:00Z\n")
    hand_in(folder, "eve", "number = 7 * 6")
    result = grade_class(folder, NAME, regrade=True)
    for student in ("ada", "ben", "eve"):
        assert states(of(result, student))["why"] == (2, False, False), student
        for said in ("so far", "has still to", "changed since"):
            assert said not in page(folder, student)
    assert states(of(result, "ben"))["part"] == (1, False, False)


def test_a_mark_of_another_answer_is_called_so_until_a_person_has_looked(folder: Path) -> None:
    hand_in(folder, "ada", "number = 6 * 7", "Says somebody else.")
    hand_in(folder, "ben", "number = 40 + 1")
    for again in ([], ["ada"]):
        result = grade_class(folder, NAME, only=again)
        assert states(of(result, "ada"))["why"] == (2, False, True)
        assert states(of(result, "ben"))["part"] == (1, False, True)
        assert states(of(result, "ben"))["why"] == (2, False, False)
        assert of(result, "ada").score == 4
        assert "changed since it was marked" in page(folder, "ada")
        assert "so far" not in page(folder, "ada")
        assert "why: 2 of 3 (changed)" in as_table(result)
    hand_in(folder, "ben", "number = 41")  # as it was when it was marked
    give(folder, "ada", 3)
    result = grade_class(folder, NAME)
    assert states(of(result, "ben"))["part"] == (1, False, False)
    assert states(of(result, "ada"))["why"] == (3, False, False)
    assert "changed since" not in page(folder, "ada")


def test_where_nobody_knows_which_answer_was_marked_a_person_looks(folder: Path) -> None:
    shutil.rmtree(folder / "autograded")
    shutil.rmtree(folder / "grading")
    result = grade_class(folder, NAME, only=["ada"])
    assert states(of(result, "ada"))["why"] == (2, False, True)


def test_who_gained_and_who_lost_is_told_with_the_reason(folder: Path) -> None:
    assert grade_class(folder, NAME).changes == []
    hand_in(folder, "eve", "number = 42")
    hand_in(folder, "ada", "number = 43")
    result = grade_class(folder, NAME)
    told = as_changes(result)
    assert "ada: 4 -> 2  part 2 -> 0: handed in again" in told
    assert "eve: 2 -> 4  part 0 -> 2: handed in again" in told
    assert "ben" not in told
    path = note_changes(result)
    assert path is not None
    with path.open(newline="") as stream:
        rows = [list(row.values()) for row in csv.DictReader(stream)]
    assert ["eve", "part", "0", "2", "handed in again", ""] in rows
    assert ["ada", "total", "4", "2", "handed in again", ""] in rows


def test_one_student_is_graded_again_and_nobody_else(folder: Path) -> None:
    hand_in(folder, "eve", "number = 42")
    hand_in(folder, "ada", "number = 43")
    hand_in(folder, "new", "number = 42")
    path = folder / "autograded" / "ada" / NAME / f"{NAME}.ipynb"
    before = path.stat().st_mtime_ns
    result = grade_class(folder, NAME, only=["eve"])
    assert {report.student: report.score for report in result.reports} == {
        "ada": 4,
        "ben": 3,
        "eve": 4,
    }
    assert path.stat().st_mtime_ns == before
    assert result.not_graded == ["new"]
    assert "not asked for now: new." in as_table(result)
    with pytest.raises(CourseError, match="Nothing of nobody"):
        grade_class(folder, NAME, only=["nobody"])


LATE = {"due": "2026-05-04T12:00Z", "late": "{points: 1, per: day}"}


def test_an_extension_counts_before_grading_and_after(folder: Path) -> None:
    for student in ("ada", "ben", "new"):
        hand_in(folder, student, "number = 42")
        (folder / "submitted" / student / NAME / "timestamp.txt").write_text("2026-05-05T13:00Z\n")
    extensions.set_extension(folder, NAME, "new", "2026-05-06T12:00Z")
    result = grade_class(folder, NAME, **LATE)
    assert (of(result, "ada").deducted, of(result, "new").deducted) == (2, 0)
    assert "taken away" not in page(folder, "new")
    assert of(result, "new").extended is not None
    assert "new: may hand in until 2026-05-0" in as_table(result)
    extensions.set_extension(folder, NAME, "ada", "2026-05-05T12:30Z")
    result = grade_class(folder, NAME)
    assert of(result, "ada").deducted == 1
    assert "1 points were taken away" in page(folder, "ada")
    assert "ada: 2 -> 3  late -2 -> -1: a rule or a time" in as_changes(result)
    extensions.set_extension(folder, NAME, "ada", "none")
    assert of(grade_class(folder, NAME), "ada").deducted == 2
    with pytest.raises(CourseError, match="Nobody in this class has the id 'adda'"):
        extensions.set_extension(folder, NAME, "adda", "2026-05-05T12:30Z")
    with pytest.raises(CourseError, match="Not a time"):
        extensions.set_extension(folder, NAME, "ada", "soon")


ENGLISH = "Identifier,Full name,Email address,Status,Grade,Maximum grade,Feedback comments"
GERMAN = (
    "ID,Vollständiger Name,E-Mail-Adresse,Status,Bewertung,Bestwertung,Feedback als Kommentar\n"
)
FINNISH = (
    "Tunniste,Koko nimi,Sähköpostiosoite,Tila,Arviointi,Viimeksi muokattu (palautus),Palaute\n"
)
GRANTED = [
    (ENGLISH, "Submitted for gradingExtension granted until: Wednesday, 6 May 2026, 11:59 PM"),
    (GERMAN, "Zur Bewertung abgegeben - Verlängerung bis: Mittwoch, 6. Mai 2026, 23:59"),
    (FINNISH, "Palautettu arvioitavaksi - Lisäaikaa: keskiviikkona 6. toukokuuta 2026, 23:59"),
    (ENGLISH, "已提交 - 允许延期至:2026年05月6日 星期三 23:59"),
]


def write_roster(folder: Path, header: str, status: str) -> None:
    roster = folder / "rosters" / f"{NAME}.csv"
    roster.parent.mkdir(exist_ok=True)
    marks = "" if header == FINNISH else "30.00"
    said = '"not after 23:59 again"'
    rows = f'X 5,Ada Lovelace,ada@x.org,"{status}",,{marks},{said}\n'
    roster.write_text(f"{header}\n" + rows + "X 6,Bela Ba,bela@x.org,3 days 2 hours late,,,\n")


@pytest.mark.parametrize(("header", "status"), GRANTED)
def test_moodles_extensions_are_read_in_its_languages(
    tmp_path: Path, header: str, status: str
) -> None:
    write_roster(tmp_path, header, status)
    assert extensions.granted(tmp_path, NAME) == {
        "ada@x.org": datetime(2026, 5, 6, 23, 59).astimezone()
    }


def test_moodles_own_extensions_count_and_one_that_cannot_be_read_is_asked_about(
    folder: Path,
) -> None:
    (folder / "submitted" / "ada" / NAME / "timestamp.txt").write_text("2026-05-05T13:00Z\n")
    (folder / "submitted" / "ada").rename(folder / "submitted" / "ada@x.org")
    header, status = GRANTED[0]
    write_roster(folder, header, status)
    assert of(grade_class(folder, NAME, **LATE), "ada@x.org").deducted == 0
    write_roster(folder, header, status.replace("May", "Marte"))
    with pytest.raises(CourseError, match=r"course extend tiny ada@x\.org"):
        grade_class(folder, NAME)


def test_the_last_ten_gradebooks_are_kept_and_one_that_is_gone_or_damaged_is_no_new_one(
    folder: Path,
) -> None:
    path = folder / "gradebook.db"
    for points in range(12):
        give(folder, "ada", points / 4)
        gradebooks.prepare(folder)
    gradebooks.prepare(folder)  # it is as it was: no copy
    copies = sorted((folder / gradebooks.BACKUPS).glob("*.db"))
    assert len(copies) == 10
    assert copies[-1].stat().st_mode & 0o777 == path.stat().st_mode & 0o777 == 0o600
    data = path.read_bytes()
    path.write_bytes(data[: len(data) // 2])
    with pytest.raises(CourseError, match=f"is damaged .*cp {copies[-1]} {path}"):
        grade_class(folder, NAME)
    path.unlink()
    with pytest.raises(CourseError, match=f"points and comments of a person.*cp {copies[-1]}"):
        grade_class(folder, NAME)
    shutil.copy(copies[-1], path)
    assert states(of(grade_class(folder, NAME), "ada"))["why"] == (2.75, False, False)


def test_two_markers_gradebooks_are_joined_and_conflicts_are_told(
    graded: Path, folder: Path, tmp_path: Path
) -> None:
    theirs = tmp_path / "theirs"
    shutil.copytree(graded, theirs)
    hand_in(theirs, "new", "number = 42")
    grade_class(theirs, NAME)
    with nbgrader_messages(), Gradebook(db_url(folder)) as gradebook:
        for student in ("ada", "ben"):
            grade = gradebook.find_grade("why", NAME, NAME, student)
            grade.manual_score, grade.needs_manual_grade = None, True
        gradebook.find_comment("why", NAME, NAME, "eve").manual_comment = "Ours."
        gradebook.db.commit()
    give(theirs, "ada", 1)
    give(theirs, "eve", 3)
    with nbgrader_messages(), Gradebook(db_url(theirs)) as gradebook:
        gradebook.find_comment("why", NAME, NAME, "ada").manual_comment = "Theirs."
        gradebook.db.commit()
    before = (theirs / "gradebook.db").read_bytes()
    joined = gradebooks.join(folder, theirs / "gradebook.db")
    assert (theirs / "gradebook.db").read_bytes() == before
    assert joined.conflicts == ["eve, tiny, why, points: 2 here, 3 there"]
    assert joined.unknown == ["new, tiny"]
    assert joined.taken == 3  # two marks and a comment
    result = grade_class(folder, NAME)
    found = {one.student: states(one)["why"] for one in result.reports}
    assert found == {"ada": (1, False, False), "ben": (2, False, False), "eve": (2, False, False)}
    assert "Theirs." in page(folder, "ada")
    with pytest.raises(CourseError, match="There is no"):
        gradebooks.join(folder, tmp_path / "nothing.db")


def test_points_for_an_answer_that_was_changed_since_wait_to_be_looked_at(
    graded: Path, folder: Path, tmp_path: Path
) -> None:
    """The other marker read ada's answer before she handed in anew here."""
    theirs = tmp_path / "theirs"
    shutil.copytree(graded, theirs)
    give(theirs, "ada", 1)
    with nbgrader_messages(), Gradebook(db_url(folder)) as gradebook:
        grade = gradebook.find_grade("why", NAME, NAME, "ada")
        grade.manual_score, grade.needs_manual_grade = None, True
        gradebook.db.commit()
    path = folder / "autograded" / "ada" / NAME / f"{NAME}.ipynb"
    notebook = nbformat.read(path, as_version=4)
    next(cell for cell in notebook.cells if grade_id(cell) == "why").source = "Another answer."
    path.chmod(0o600)
    nbformat.write(notebook, path)
    assert gradebooks.join(folder, theirs / "gradebook.db").taken == 1
    with nbgrader_messages(), Gradebook(db_url(folder)) as gradebook:
        grade = gradebook.find_grade("why", NAME, NAME, "ada")
        assert (grade.manual_score, grade.needs_manual_grade) == (1, True)


def test_what_holds_names_and_marks_can_be_read_by_nobody_else(graded: Path) -> None:
    made = [graded / name for name in ("gradebook.db", "grading", "autograded", "feedback")]
    for path in made:
        assert path.stat().st_mode & 0o077 == 0, path
    for path in (*graded.glob("grading/**/*"), *graded.glob("autograded/**/*")):
        assert path.stat().st_mode & 0o077 == 0, path


def test_a_fault_of_the_grader_is_no_verdict_and_the_submission_is_run_again_alone(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run, disturbed = submission.run_notebook, {"ben", "eve"}

    def troubled(job: Job, *arguments: Any) -> Any:
        if job.student == "eve" or (job.student == "ben" and not job.alone):
            raise CourseError("The judge could not be reached.")
        return run(job, *arguments)

    monkeypatch.setattr(submission, "run_notebook", troubled)
    for student in disturbed:
        hand_in(folder, student, "number = 42")
    result = grade_class(folder, NAME)
    assert [one.student for one in result.reports if not one.graded] == ["eve"]
    assert of(result, "ben").remarks == []
    assert of(result, "ben").graded
    # what an earlier grading has found out is left as it was
    assert states(of(result, "eve")) == {"part": (0, False, False), "why": (2, False, False)}
    monkeypatch.undo()
    result = grade_class(folder, NAME)
    assert states(of(result, "eve"))["part"] == (2, False, False)


SLEEPS = "print('begun')\nimport time\ntime.sleep(600)\nnumber = 42"


def test_what_is_stopped_with_others_beside_it_is_run_again_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Unless it had a processor to itself: then it is stopped once."""
    write_course(tmp_path, answer="number = 42", test=TEST)
    with (tmp_path / "nbgrader_config.py").open("a") as settings:
        settings.write("\nc.ContainedExecute.timeout = 2\n")
    hand_in(tmp_path, "ada", f"number = 0\n{SLEEPS}")
    job = job_of(tmp_path, "ada")
    first = grade(job)
    assert first.fault, first.remarks
    assert not job.graded.exists()
    with monkeypatch.context() as patch:
        # as on a busy machine
        patch.setattr(execution, "clocks", lambda roots: (0.0, time.monotonic()))
        starved = grade(replace(job, alone=True))
        assert starved.fault
        assert "waited for a processor" in starved.remarks[-1]
    assert grade(replace(job, alone=True)).graded
    # as if it were busy itself
    monkeypatch.setattr(execution, "clocks", lambda roots: (time.monotonic(), 0.0))
    assert grade(job).graded
