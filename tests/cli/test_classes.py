"""`course release`, `validate`, `submit` and `grade` as a person meets them."""

import re
import shutil
import zipfile
from pathlib import Path

import pytest

from course_lib.grading.authoring import own_solution
from course_lib.grading.sandbox import namespaces
from tests.conftest import ROOT, Course

pytestmark = pytest.mark.usefixtures("quick_gradebooks")

NAME = "attention_by_hand"
EXERCISE = ROOT / "exercises" / NAME / f"{NAME}.ipynb"


@pytest.fixture
def copy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the course's assignments, and the current folder in it."""
    shutil.copy(ROOT / "nbgrader_config.py", tmp_path)
    for folder in ("solutions", "exercises"):
        shutil.copytree(ROOT / folder, tmp_path / folder)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_release_check_tells_a_difference_and_release_removes_it(
    course: Course, copy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(own_solution, "faults", lambda *_: [])  # which takes its time
    notebook = copy / "exercises" / NAME / f"{NAME}.ipynb"
    notebook.write_text(notebook.read_text().replace("pencil", "abacus"))
    status, out, err = course("release", "--check", NAME)
    assert status == 1
    assert f"different: exercises/{NAME}/{NAME}.ipynb" in out
    assert "course release" in err
    assert course("release", NAME)[0] == 0
    assert notebook.read_bytes() == EXERCISE.read_bytes()


def test_mistakes_are_one_line_and_status_2(
    course: Course, copy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for arguments in (
        ("release", "nope"),
        ("validate", "nope.ipynb"),
        ("submit", "nope"),
        ("grade", NAME),
        ("grade", NAME, "--demo", "--scheduler", "tcp://127.0.0.1:1"),
    ):
        status, _, err = course(*arguments)
        said = [line for line in err.splitlines(keepends=True) if line.startswith("course: ")]
        assert status == 2, arguments
        assert len(said) == 1, err
        assert "Traceback" not in err
    monkeypatch.setenv("PATH", "/nonexistent")
    assert course("grade", NAME).refused("apt install bubblewrap")


def test_a_limit_that_cannot_be_set_here_is_named_before_grading(
    course: Course, copy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wanted = "the sandbox cannot forbid what Linux counts for all of your processes"
    assert wanted not in course("grade", NAME).err
    monkeypatch.setattr(namespaces, "FORBIDDEN", {})
    assert wanted in course("grade", NAME).err


def test_collect_says_what_came_of_each_file_and_keeps_it_private(
    course: Course, copy: Path
) -> None:
    def pack(name: str, **more: str) -> str:
        with zipfile.ZipFile(name, "w") as archive:
            archive.writestr(f"lovelaceada_7_70_{NAME}.ipynb", EXERCISE.read_text())
            for file, content in more.items():
                archive.writestr(f"{file}.txt", content)
        return name

    Path("roster.csv").write_text(
        "Student,ID,SIS Login ID\nAda Lovelace,7,ada\nEmmy Noether,8,emmy\nMarie Curie,9,marie\n"
    )
    made = pack("all.zip", noetheremmy_8_71_other="no notebook", noether_2_71_other="whose?")
    assert course("collect", NAME, made).refused("--roster")
    status, out, _ = course("collect", NAME, made, "--roster", "roster.csv")
    assert status == 1
    assert "new          ada" in out
    assert "put aside    noetheremmy_8_71_other.txt (emmy): a text, and no notebook" in out
    assert f"asked about  noether_2_71_other.txt (put_aside/{NAME}): noether (2) is not" in out
    assert f"2 submissions for {NAME}" in out
    assert "of 3 in the roster." in out
    assert "No file is named after marie; what is asked about may be theirs." in out
    assert (copy / "submitted" / "ada" / NAME / f"{NAME}.ipynb").is_file()
    status, out, _ = course("collect", NAME, pack("one.zip"))
    assert status == 0
    assert "unchanged    ada" in out
    assert "1 in the roster handed in nothing: marie." in out
    assert (copy / "rosters" / f"{NAME}.csv").read_text() == Path("roster.csv").read_text()
    for place in ("submitted", "put_aside", "rosters", "grading", "gradebook.db"):
        assert (copy / place).stat().st_mode & 0o077 == 0, place
    # Points of a person would be gone with it, and a new one would hide that.
    (copy / "grading" / "journal" / NAME).mkdir(parents=True)
    (copy / "grading" / "journal" / NAME / "ada.json").write_text("{}")
    (copy / "gradebook.db").unlink()
    assert course("collect", NAME, made).refused("kept there alone")
    assert not (copy / "gradebook.db").exists()


def test_what_a_platform_needs_is_asked_for_before_anything_is_graded(
    course: Course, copy: Path
) -> None:
    for arguments, said in (
        (("--export-canvas", "x.csv"), "--roster"),
        (("--export-moodle", "x.csv", "--pseudonyms"), "do not know pseudonyms"),
        (("--export-moodle", "x.csv", "--roster", "canvas.csv"), "The roster is Canvas's"),
        (("--late", "a lot"), "{percent: 10"),
        (("--due", "soon"), "2026-05-04 23:59"),
    ):
        Path("canvas.csv").write_text("Student,ID,SIS Login ID\nAda Lovelace,7,ada\n")
        handed_in = copy / "submitted" / "ada" / NAME
        handed_in.mkdir(parents=True, exist_ok=True)
        status, _, err = course("grade", NAME, "--sandbox", "none", *arguments)
        assert status == 2, arguments
        assert said in err.splitlines()[-1]
        assert not (copy / "autograded").exists()


def test_outside_of_a_course_it_says_where_to_go(
    course: Course, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert course("release").refused("Change into the course's folder")


def test_without_a_sandbox_it_says_what_that_means(course: Course, copy: Path) -> None:
    _, _, err = course("grade", NAME, "--sandbox", "none")
    assert "change other students' marks" in err.replace("\n", " ")


def test_an_unfinished_notebook_fails_its_tests_and_can_still_be_handed_in(
    course: Course, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    shutil.copy(EXERCISE, tmp_path)
    status, out, _ = course("submit", NAME)
    assert status == 1
    assert "energies is still None" in out
    assert re.search(r"\b(\d+) of \1 tests do not pass yet", out)
    assert f"Packed {NAME}.zip" in out
    with zipfile.ZipFile(f"{NAME}.zip") as archive:
        assert archive.namelist() == [f"{NAME}.ipynb"]
        assert archive.read(f"{NAME}.ipynb") == EXERCISE.read_bytes()
