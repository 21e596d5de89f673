"""The page on which one question of a whole class is marked, with the keyboard alone."""

import json
import shutil
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import nbformat
import pytest
from nbgrader.api import Gradebook

from course_lib.errors import CourseError
from course_lib.grading.reporting.marking import parts_by_hand, serving
from course_lib.grading.sources.project import db_url, nbgrader_messages, source_of
from course_lib.grading.sources.release import generate, source_notebook
from tests.conftest import ROOT
from tests.grading.tiny import cell_of

if TYPE_CHECKING:
    from playwright.sync_api import Browser

NAME = "attention_by_hand"
STUDENTS = ("ada", "bela", "<b>cem")


@pytest.fixture(scope="module")
def answered(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three answers; Bela's is marked."""
    place = tmp_path_factory.mktemp("class")
    generate(ROOT, NAME, db_url(place))
    with nbgrader_messages(), Gradebook(db_url(place)) as gradebook:
        for student in STUDENTS:
            gradebook.update_or_create_student(student)
            gradebook.update_or_create_submission(NAME, student)
            notebook = source_notebook(source_of(ROOT, NAME))
            cell_of(notebook, "why").source = f"Because of *{student}* <script>alert(1)</script>"
            path = place / "autograded" / student / NAME / f"{NAME}.ipynb"
            path.parent.mkdir(parents=True)
            nbformat.write(notebook, path)
        grade = gradebook.find_grade("why", NAME, NAME, "bela")
        grade.manual_score, grade.needs_manual_grade = 2, False
        gradebook.db.commit()
    return place


@pytest.fixture
def place(answered: Path, tmp_path: Path) -> Path:
    """A copy, to be marked."""
    return shutil.copytree(answered, tmp_path / "class")


@pytest.fixture
def address(place: Path) -> Iterator[str]:
    with serving(ROOT, place, NAME, "why") as (server, address):
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield address
        server.shutdown()
        thread.join()


def marks(place: Path) -> dict[str, tuple[float | None, bool, str | None]]:
    found = {}
    with nbgrader_messages(), Gradebook(db_url(place)) as gradebook:
        for student in STUDENTS:
            grade = gradebook.find_grade("why", NAME, NAME, student)
            said = gradebook.find_comment("why", NAME, NAME, student).manual_comment
            found[student] = (grade.manual_score, bool(grade.needs_manual_grade), said)
    return found


def ask(address: str, said: Any = None, **headers: str) -> int:
    data = None if said is None else json.dumps(said).encode()
    request = urllib.request.Request(address, data, headers)
    try:
        with urllib.request.urlopen(request) as answer:
            return int(answer.status)
    except urllib.error.HTTPError as error:
        return error.code


def test_the_whole_class_is_marked_without_a_mouse(
    address: str, place: Path, browser: "Browser"
) -> None:
    page = browser.new_page()
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("dialog", lambda dialog: errors.append(dialog.message))
    page.goto(address)
    order = page.locator("h2").all_inner_texts()
    assert order == ["<b>cem", "ada", "bela"]  # those to be read first
    assert "1 point: why it wins" in page.inner_text("header")
    keys = page.keyboard
    keys.type("1.5")
    keys.press("Enter")
    page.get_by_text("Kept.").nth(0).wait_for()
    keys.type("3")
    keys.press("Tab")
    keys.type("Well *said*.")
    keys.press("Control+Enter")
    page.get_by_text("Kept.").nth(1).wait_for()
    keys.press("ControlOrMeta+a")
    keys.type("7")
    keys.press("Enter")
    page.close()
    assert errors == []
    assert marks(place) == {
        "<b>cem": (1.5, False, None),
        "ada": (3, False, "Well *said*."),
        "bela": (2, False, None),  # 7 is more than there are
    }


def test_nobody_else_can_mark(address: str, place: Path) -> None:
    said = {"student": "ada", "score": 3, "comment": ""}
    assert ask(address[:-5], said) == 403
    assert ask(address, said, Host="evil.example") == 403
    for wrong in ({}, [], said | {"score": "nan"}, said | {"score": 4}, said | {"student": "dora"}):
        assert ask(address, wrong) == 400
    assert marks(place)["ada"] == (None, True, None)
    assert ask(address, said) == 200
    assert marks(place)["ada"] == (3, False, None)


def test_what_is_to_be_marked_has_to_be_there(place: Path) -> None:
    assert list(parts_by_hand(ROOT, NAME)) == ["why"]
    with (
        pytest.raises(CourseError, match="Parts that one marks: why"),
        serving(ROOT, place, NAME, "energies"),
    ):
        pass
    shutil.rmtree(place / "autograded")
    with (
        pytest.raises(CourseError, match="course grade attention_by_hand"),
        serving(ROOT, place, NAME, "why"),
    ):
        pass
