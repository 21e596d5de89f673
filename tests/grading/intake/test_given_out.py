"""Files given out with an assignment: theirs is the place, whatever a submission brings along."""

from collections.abc import Callable
from pathlib import Path

import pytest
from nbgrader.api import Gradebook

from course_lib.grading.intake.staging import laid_over
from course_lib.grading.running.submission import grade
from course_lib.grading.sources.project import db_url
from course_lib.grading.sources.release import release
from tests.grading.tiny import NAME, hand_in, job_of, write_course

Folder = Callable[..., dict[str, Path]]


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    """Writes files below a folder of this name: relative name -> path."""

    def write(where: str, **texts: str) -> dict[str, Path]:
        files = {name.replace("__", "/"): text for name, text in texts.items()}
        for name, text in files.items():
            path = tmp_path / where / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return {name: tmp_path / where / name for name in files}

    return write


def test_a_notebook_alone_gets_the_files_and_a_students_own_stay(folder: Folder) -> None:
    given = folder("given", model__weights="right", words="right")
    assert laid_over({}, given) == (given, [])
    own = folder("own", notes="mine", model__more="mine", words="right")
    assert laid_over(own, given) == (own | given, [])
    assert own["notes"].exists()


@pytest.mark.parametrize("name", ["words", "model", "words__inside__it"])
def test_a_changed_file_or_one_in_the_way_makes_room_and_is_named(
    folder: Folder, name: str
) -> None:
    given = folder("given", model__weights="right", words="right")
    own = folder("own", **{name: "in the way"})
    files, (remark,) = laid_over(own, given)
    assert files == given
    assert remark.startswith(f"{next(iter(own))} is given out")
    assert not next(iter(own.values())).exists()


def test_a_notebook_is_graded_with_the_files_of_its_release(tmp_path: Path) -> None:
    reading = 'word = open("words/first.txt").read()'
    test = 'assert word == "right" == open("words/first.txt").read()'
    write_course(tmp_path, answer=reading, test=test)
    words = tmp_path / "solutions" / NAME / "words"
    words.mkdir()
    (words / "first.txt").write_text("right")
    handed_in = hand_in(tmp_path, "ada", reading)
    (handed_in / "words").mkdir()
    (handed_in / "words" / "first.txt").write_text("changed")
    exchange = {"timestamp.txt": "2026-05-04 12:00:00 UTC\n", "submission_secret.txt": "secret"}
    for name, text in exchange.items():
        (handed_in / name).write_text(text)
    given = {path.name for path in release(tmp_path, [NAME])}
    assert given == {f"{NAME}.ipynb", "first.txt", "AGENTS.md"}
    outcome = grade(job_of(tmp_path, "ada"))
    assert outcome.graded
    assert outcome.remarks == [
        "words/first.txt is given out with the assignment and had been changed; the original was"
        " used."
    ]
    with Gradebook(db_url(tmp_path)) as book:
        assert book.find_submission(NAME, "ada").score == 2
    # `nbgrader release_feedback` looks for them beside the page
    for name, text in exchange.items():
        assert (tmp_path / "feedback" / "ada" / NAME / name).read_text() == text
