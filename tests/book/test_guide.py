"""The instructor's guide: every command is tried as it is written, in a fresh clone."""

import csv
import dataclasses
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import nbformat
import pytest
from nbgrader.api import Gradebook

from course_lib.grading.authoring.canvas_zip import write_canvas_zip
from course_lib.grading.authoring.demonstration import answered, read_class
from course_lib.grading.sources.project import db_url, nbgrader_messages
from course_lib.grading.sources.release import source_notebook
from tests.book.guide import MARKS, PAGE, Shell, blocks

NAME = "attention_by_hand"
CLASS = {"ada": "reference", "bela": "no-mask"}
"""Who hands in whose answers; cyd hands in nothing."""
LOST = ("function_mask", "function_empty")
"""The parts that bela loses."""
SECRET = re.compile(
    r"### BEGIN (?P<kind>SOLUTION|HIDDEN TESTS)\n(?P<body>.*?)### END (?P=kind)", re.DOTALL
)
PRIVATE = "7319.25"
"""A number that is in the private copy alone."""
FIRST = "sec-teach-clone"


@pytest.fixture
def shell(tmp_path: Path) -> Iterator[Shell]:
    shell = Shell(tmp_path)
    shell.serve_this_course()
    yield shell
    shell.close()


def run_section(shell: Shell, section: str) -> str:
    return "".join(
        shell.run(block.text)
        for block in blocks(PAGE.read_text(encoding="utf-8"))
        if block.section == section and block.how == "try"
    )


def clone(shell: Shell) -> None:
    """The first block of the page."""
    shell.run(blocks(PAGE.read_text(encoding="utf-8"))[0].text)
    shell.give_environment()


# --- what the page says ---------------------------------------------------------------------------


def test_every_block_of_commands_says_how_it_is_tried() -> None:
    text = PAGE.read_text(encoding="utf-8")
    lines = text.splitlines()
    starts = [number for number, line in enumerate(lines) if line.strip().startswith("```sh")]
    assert len(starts) == len(blocks(text)) > 10
    for number in starts:
        assert re.fullmatch(f"% ({MARKS})", lines[number - 1]), lines[number : number + 3]


def test_what_is_done_by_hand_has_pages_of_its_own_or_needs_another_machine() -> None:
    by_hand = [block for block in blocks(PAGE.read_text(encoding="utf-8")) if "hand" in block.how]
    for block in by_hand:
        assert re.match(r"course mark|jupyter lab\b|podman |docker ", block.text), block.text


# --- a private copy -------------------------------------------------------------------------------


def everything_in(repository: Path) -> str:
    """All that was ever put into a repository, files and messages, without white space."""
    command = ["git", "-C", repository, "cat-file", "--batch-all-objects", "--batch"]
    done = subprocess.run(command, capture_output=True, check=True)
    return re.sub(r"\s+", "", done.stdout.decode("utf-8", errors="replace"))


def shown(course: Path) -> str:
    """What everybody reads anyway, without white space: the book, and what tasks show of tests."""
    texts = [SECRET.sub("", path.read_text()) for path in course.glob("solutions/*/*.md")]
    texts += [path.read_text() for path in course.glob("book/[0-9]*.md")]
    return re.sub(r"\s+", "", "".join(texts))


def secrets(source: str, seen: str) -> list[str]:
    """Solutions as a whole and hidden tests by three lines in a row, without white space, if they
    are long: a line alone may be anybody's."""
    found = []
    for match in SECRET.finditer(source):
        lines = [line for text in match["body"].splitlines() if (line := re.sub(r"\s+", "", text))]
        size = len(lines) if match["kind"] == "SOLUTION" else 3
        rows = ["".join(lines[at : at + size]) for at in range(max(1, len(lines) - size + 1))]
        found += [row for row in rows if len(row) > 60 and row not in seen]
    return found


@pytest.mark.slow
def test_solutions_stay_private_while_students_and_corrections_get_through(shell: Shell) -> None:
    private = shell.serve("YOU/looking-back-private")
    public = shell.serve("YOU/looking-back-students")
    clone(shell)
    course = shell.here
    remotes, change, once, publish, update = (
        block.text
        for block in blocks(PAGE.read_text(encoding="utf-8"))
        if block.section == "sec-teach-private"
    )
    activate = "source .venv/bin/activate"
    shell.run(f"{activate}\n{remotes}")

    source = course / "solutions" / NAME / f"{NAME}.md"
    changed, count = re.subn(
        r"(### BEGIN SOLUTION\n)", rf"\g<1>ours = {PRIVATE}\n", source.read_text(), count=1
    )
    assert count == 1
    changed = changed.replace("pencil", "our own pencil", 1)
    source.write_text(changed)
    shell.run(change)
    shell.run(f"{once}{publish}")

    assert PRIVATE in everything_in(private)
    students = shell.here.parent / "students"
    released = students / "exercises" / NAME / f"{NAME}.ipynb"
    assert "our own pencil" in released.read_text()
    assert not (students / "solutions").exists()
    said = shell.run(f"cd {students}\ncourse validate {released} || true\ncd {course}")
    assert "tests do not pass yet" in said
    said = shell.run(f"cd {students}\ncourse submit {NAME} || true\ncd {course}")
    assert f"Packed {NAME}.zip" in said
    (students / f"{NAME}.zip").unlink()

    # a correction to the course
    copy = shell.place / "copy"
    (copy / "book" / "glossary.md").write_text("# Glossary\n\nCorrected above.\n")
    shell.change_upstream("A correction")
    shell.run(update)
    assert "Corrected above." in (course / "book" / "glossary.md").read_text()
    assert PRIVATE in source.read_text()
    shell.run(publish)
    assert "Corrected above." in (students / "book" / "glossary.md").read_text()
    log = ["git", "-C", str(public), "log", "--format=%s"]
    messages = subprocess.run(log, capture_output=True, text=True, check=True).stdout.splitlines()
    assert len(messages) == 2

    given_out = everything_in(public)
    assert "ourownpencil" in given_out
    assert PRIVATE not in given_out
    kept, seen = everything_in(private), shown(course)
    for path in (course / "solutions").glob("*/*.md"):
        hidden = secrets(path.read_text(), seen)
        assert [secret for secret in hidden if secret in given_out] == [], path
        assert all(secret in kept for secret in hidden)


# --- from a clone to posted grades ----------------------------------------------------------------


def hand_in(course: Path, scratch: Path, whose: dict[str, str]) -> None:
    """What Canvas gives out: a zip of everybody's zips, and the gradebook with its students."""
    source = source_notebook(course / "solutions" / NAME / f"{NAME}.md")
    released = (course / "exercises" / NAME / f"{NAME}.ipynb").read_text()
    answers = {one.name: one for one in read_class(course, NAME)}
    for student, name in whose.items():
        folder = scratch / student / NAME
        folder.mkdir(parents=True)
        work = dataclasses.replace(answers[name], owner=student)
        notebook = answered(work, source, nbformat.reads(released, as_version=4))
        nbformat.write(notebook, folder / f"{NAME}.ipynb")
    write_canvas_zip(scratch, NAME, course / "submissions.zip", course / "roster.csv", {})
    with (course / "roster.csv").open("a") as roster:
        roster.write("cyd,1099,,cyd,Demonstration\n")


def points(course: Path, student: str) -> dict[str, float]:
    """Part -> points, as the gradebook has them; the deduction under "late"."""
    with nbgrader_messages(), Gradebook(db_url(course)) as gradebook:
        found = gradebook.find_submission(NAME, student)
        notebook = gradebook.find_submission_notebook(NAME, NAME, student)
        scores = {grade.name: grade.score for grade in notebook.grades}
        return scores | {"late": found.late_submission_penalty or 0.0}


def mark_by_hand(course: Path, student: str, score: float) -> None:
    """What a person types into nbgrader's form grader."""
    with nbgrader_messages(), Gradebook(db_url(course)) as gradebook:
        for grade in gradebook.find_submission_notebook(NAME, NAME, student).grades:
            if grade.auto_score is None:
                grade.manual_score, grade.needs_manual_grade = score, False
        gradebook.db.commit()


def exported(course: Path) -> dict[str, float]:
    """Student -> total, as Canvas is to import it."""
    with (course / "points.csv").open() as file:
        return {row[0]: float(row[-1]) for row in csv.reader(file) if row[1].isdigit()}


def drop_test(source: Path, part: str) -> None:
    """Leave nothing of a test but its title."""
    text = source.read_text()
    cell = re.compile(rf"(grade_id: {part},[^\n]*\n[^\n]*\n).*?^```$", re.M | re.S)
    assert len(cell.findall(text)) == 1
    source.write_text(cell.sub(r"\1```", text))


def hand_in_again(shell: Shell, course: Path) -> None:
    """Bela hands in better answers, gets their points, and takes them back."""
    hand_in(course, shell.place / "again", {**CLASS, "bela": CLASS["ada"]})
    told = run_section(shell, "sec-teach-again")
    assert re.search(r"^replaced +bela;", told, re.M)
    assert re.search(r"^unchanged +ada$", told, re.M)
    better = points(course, "bela")
    assert all(better[part] > 0 for part in LOST)
    assert better["why"] == 1.0
    hand_in(course, shell.place / "as_before", CLASS)
    run_section(shell, "sec-teach-again")
    assert all(points(course, "bela")[part] == 0 for part in LOST)


@pytest.mark.slow
def test_the_guide_leads_from_a_clone_to_posted_grades(shell: Shell) -> None:
    clone(shell)
    course = shell.here
    page = blocks(PAGE.read_text(encoding="utf-8"))
    first = [block.text for block in page if block.section == FIRST and block.how == "try"]
    demonstration = shell.run(first[1])
    assert "got exactly the marks they deserve" in demonstration
    assert "Nothing is missing." in shell.run(first[2])
    assert "is in step with" in run_section(shell, "sec-teach-release")

    hand_in(course, shell.place / "handed_in", CLASS)
    collected = run_section(shell, "sec-teach-collect")
    assert re.search(r"^new +ada$", collected, re.M)
    assert "handed in nothing: cyd" in collected

    simple, late, extend, several, scheduled = (
        block.text for block in page if block.section == "sec-teach-grade" and block.how == "try"
    )
    told = shell.run(simple)
    assert "read" in told
    for name in ("gradebook.db", "report/index.html", "grades.csv", f"feedback/ada/{NAME}"):
        assert (course / name).exists(), name
    assert all(points(course, "bela")[part] == 0 for part in LOST)
    assert all(points(course, "ada")[part] > 0 for part in LOST)

    times = course / "submitted" / "bela" / NAME / "timestamp.txt"
    times.write_text("2026-05-06 12:00:00 UTC")  # as Moodle's worksheet and the exchange bring it
    shell.run(late)
    assert points(course, "bela")["late"] > 0 == points(course, "ada")["late"]
    shell.run(extend)
    shell.run(several)
    before = points(course, "bela")
    assert before["late"] == 0
    for block in page:
        if block.how == "keep running":
            shell.keep_running(block.text)
    shell.run(scheduled)
    assert points(course, "bela") == before

    (course / "other").mkdir()
    shutil.copy(course / "gradebook.db", course / "other")
    mark_by_hand(course, "ada", 3.0)
    mark_by_hand(course / "other", "bela", 1.0)
    assert "1 taken over" in run_section(shell, "sec-teach-paragraph")
    asked = run_section(shell, "sec-teach-orals")
    assert asked.startswith("ada\n  1. cell ")
    assert "bela" not in asked
    run_section(shell, "sec-teach-post")
    expected = {student: points(course, student) for student in CLASS}
    totals = {
        student: sum(found.values()) - 2 * found["late"] for student, found in expected.items()
    }
    assert exported(course) == pytest.approx(totals, abs=0.01)
    pseudonymous = (course / "report-pseudonyms" / "index.html").read_text()
    assert not re.search(r"\b(ada|bela)\b", pseudonymous)
    feedback = (course / "feedback" / "ada" / NAME / f"{NAME}.html").read_text()
    assert "BEGIN HIDDEN TESTS" not in feedback

    hand_in_again(shell, course)
    assert points(course, "ada") == expected["ada"]

    drop_test(course / "solutions" / NAME / f"{NAME}.md", LOST[0])
    run_section(shell, "sec-teach-appeal")
    after = {student: points(course, student) for student in CLASS}
    assert after["bela"][LOST[0]] > 0 == after["bela"][LOST[1]]
    assert after["ada"] == expected["ada"]
    assert after["bela"]["why"] == 1.0
    assert exported(course)["bela"] > totals["bela"]
