"""nbgrader's own pages for marking work on a class that `course grade` has graded."""

import base64
import io
import json
import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import nbformat
import pytest
from matplotlib.figure import Figure
from nbformat.v4 import new_code_cell
from nbgrader.api import Gradebook
from nbgrader.apps.api import NbGraderAPI
from nbgrader.coursedir import CourseDirectory

from course_lib.grading.authoring.demonstration import automatic_parts
from course_lib.grading.reporting.formgrader import prepare_formgrader
from course_lib.grading.sources.project import db_url, load_config, nbgrader_messages, source_of
from course_lib.grading.sources.release import generate, source_notebook
from tests.conftest import PATIENCE, ROOT
from tests.grading.tiny import cell_of

if TYPE_CHECKING:
    from playwright.sync_api import Browser

NAME = "attention_by_hand"
TOKEN = "for-this-test-only"


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A class of one, graded but for the paragraph."""
    place = tmp_path_factory.mktemp("class")
    generate(ROOT, NAME, db_url(place))
    with nbgrader_messages(), Gradebook(db_url(place), "looking_back") as gradebook:
        gradebook.update_or_create_student("ada", first_name="Ada", last_name="Lovelace")
        gradebook.update_or_create_submission(NAME, "ada")
        for grade in gradebook.find_submission_notebook(NAME, NAME, "ada").grades:
            grade.auto_score = None if grade.name == "why" else grade.max_score
            grade.needs_manual_grade = grade.name == "why"
        gradebook.db.commit()
    for folder in ("autograded", "submitted"):
        (place / folder / "ada" / NAME).mkdir(parents=True)
        notebook = source_notebook(source_of(ROOT, NAME))
        code = f"from pathlib import Path\nPath({str(place / 'ran')!r}).touch()"
        notebook.cells.append(new_code_cell(code))
        why = cell_of(notebook, "why")
        why.source += f"\n\n{HOSTILE}"
        why["attachments"] = {"map.png": {"image/png": base64.b64encode(png()).decode()}}
        nbformat.write(notebook, place / folder / "ada" / NAME / f"{NAME}.ipynb")
    prepare_formgrader(ROOT, place)
    return place


HOSTILE = """before [one](javascript&colon;document.title='ran')
[two](javascript\\:document.title='ran') [three](java&Tab;script:document.title='ran')
<a href="javascript:document.title='ran'">four</a> [five][ref]
<img src=x onerror="document.title='ran'"> <svg onload="document.title='ran'">

[ref]: javascript&#58;document.title='ran'

![a pasted map](attachment:map.png)
"""


def png() -> bytes:
    """A picture of one pixel."""
    stream = io.BytesIO()
    Figure(figsize=(0.01, 0.01), dpi=100).savefig(stream, format="png")
    return stream.getvalue()


def ask(
    port: int, path: str, data: dict[str, Any] | None = None, method: str | None = None
) -> bytes:
    request = urllib.request.Request(
        f"http://127.0.0.1:{port}/formgrader/{path}",
        data=None if data is None else json.dumps(data).encode(),
        headers={"Authorization": f"token {TOKEN}", "Content-Type": "application/json"},
        method=method or ("GET" if data is None else "PUT"),
    )
    with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
        return bytes(answer.read())


@pytest.fixture(scope="module")
def port(place: Path) -> Iterator[int]:
    """Jupyter with nbgrader's pages, on this machine only, started in the class's folder."""
    with socket.socket() as trial:
        trial.bind(("127.0.0.1", 0))
        port = trial.getsockname()[1]
    command = [sys.executable, "-m", "jupyter", "server", "--no-browser", "--allow-root"]
    command += ["--ip=127.0.0.1", f"--port={port}", f"--IdentityProvider.token={TOKEN}"]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    environment["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    log = place / "server.log"
    with log.open("wb") as stream:
        server = subprocess.Popen(
            command, cwd=place, env=environment, stdout=stream, stderr=subprocess.STDOUT
        )
    try:
        for _ in range(240):
            try:
                ask(port, "api/status")
                break
            except OSError:
                assert server.poll() is None, log.read_text()
                time.sleep(0.5)
        else:
            pytest.fail(log.read_text())
        yield port
    finally:
        server.terminate()
        server.wait(timeout=PATIENCE)


def unharmed(place: Path) -> bool:
    """Whether no code of a student's has run, and the graded notebook is as it was."""
    graded = place / "autograded" / "ada" / NAME / f"{NAME}.ipynb"
    return not (place / "ran").exists() and "before [one]" in graded.read_text()


def test_nbgraders_own_grading_is_refused_before_it_touches_anything(place: Path) -> None:
    config = load_config(ROOT)
    config.CourseDirectory.root = str(place)
    config.CourseDirectory.db_url = db_url(place)
    answer = NbGraderAPI(CourseDirectory(config=config), config=config).autograde(NAME, "ada")
    assert not answer["success"]
    assert f"course grade {NAME} --student ada" in answer["log"]
    assert unharmed(place)


@pytest.mark.slow
def test_the_button_for_it_is_refused_too(port: int, place: Path, browser: "Browser") -> None:
    context = browser.new_context(extra_http_headers={"Authorization": f"token {TOKEN}"})
    page = context.new_page()
    page.goto(f"http://127.0.0.1:{port}/formgrader/manage_submissions/{NAME}")
    page.locator("td.autograde a").first.click()
    page.get_by_text("course grade").first.wait_for()
    context.close()
    assert unharmed(place)


@pytest.mark.slow
def test_formgrader_serves_the_gradebook_and_takes_a_persons_points(port: int, place: Path) -> None:
    assignments = {one["name"]: one for one in json.loads(ask(port, "api/assignments"))}
    points = automatic_parts(source_notebook(source_of(ROOT, NAME)))
    by_tests = sum(points.values())
    assert assignments[NAME]["max_score"] > by_tests > 0
    assert assignments[NAME]["num_submissions"] == 1
    (submission,) = json.loads(ask(port, f"api/submissions/{NAME}"))
    assert submission["student"] == "ada"
    assert submission["last_name"] == "Lovelace"
    assert submission["score"] == by_tests
    assert submission["needs_manual_grade"]

    (notebook,) = json.loads(ask(port, f"api/submitted_notebooks/{NAME}/{NAME}"))
    grades = json.loads(ask(port, f"api/grades?submission_id={notebook['id']}"))
    found = {grade["name"]: grade for grade in grades}
    assert found["energies"]["auto_score"] == points["energies"]
    ask(port, f"api/grade/{found['why']['id']}", {"manual_score": 2, "extra_credit": 0})

    (submission,) = json.loads(ask(port, f"api/submissions/{NAME}"))
    assert (submission["score"], submission["needs_manual_grade"]) == (by_tests + 2, False)
    with nbgrader_messages(), Gradebook(db_url(place)) as gradebook:
        assert gradebook.find_grade("why", NAME, NAME, "ada").manual_score == 2


@pytest.mark.slow
def test_whoever_marks_sees_the_criteria_and_the_answer(port: int) -> None:
    (notebook,) = json.loads(ask(port, f"api/submitted_notebooks/{NAME}/{NAME}"))
    page = ask(port, f"submissions/{notebook['id']}/").decode()
    assert "1 point: why it wins" in page
    assert "what do the energies measure" in page


@pytest.mark.slow
def test_feedback_made_there_is_the_same_page(port: int, place: Path) -> None:
    answer = json.loads(ask(port, f"api/assignment/{NAME}/ada/generate_feedback", {}, "POST"))
    assert answer["success"], answer
    page = (place / "feedback" / "ada" / NAME / f"{NAME}.html").read_text()
    assert "Feedback for ada" in page
    assert "Part by part" in page


@pytest.mark.slow
def test_the_page_opens_at_the_paragraph_and_all_that_stands_there_can_be_clicked_on(
    port: int, browser: "Browser"
) -> None:
    (notebook,) = json.loads(ask(port, f"api/submitted_notebooks/{NAME}/{NAME}"))
    context = browser.new_context(extra_http_headers={"Authorization": f"token {TOKEN}"})
    page = context.new_page()
    page.goto(f"http://127.0.0.1:{port}/formgrader/submissions/{notebook['id']}/")
    opened = (
        "document.querySelectorAll('.tabbable')[new URLSearchParams(location.search).get('index')]"
    )
    assert page.evaluate(f"{opened}.id") == "why"
    title = page.title()
    text = page.locator(".nbgrader_cell", has_text="before one").last
    for word in ("one", "two", "three", "four", "five"):
        text.get_by_text(word, exact=True).first.click()
    assert page.title() == title
    picture = page.get_by_alt_text("a pasted map")
    assert picture.evaluate("picture => picture.naturalWidth") == 1
    context.close()
