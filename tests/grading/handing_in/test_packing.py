"""A notebook that `course submit` packs is graded, whatever cells are in it."""

import copy
import json
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from nbformat import NotebookNode
from nbgrader.api import Gradebook

from course_lib.errors import CourseError
from course_lib.grading.handing_in.packing import pack_submission
from course_lib.grading.intake.archives import extract
from course_lib.grading.intake.collecting import collect
from course_lib.grading.intake.notebooks import LARGEST_NOTEBOOK
from course_lib.grading.intake.roster import read_roster
from course_lib.grading.intake.staging import stage
from course_lib.grading.reporting.pages import safe_html
from course_lib.grading.running.submission import Job, grade
from course_lib.grading.sandbox import bubblewrap
from course_lib.grading.sources.marked_cells import grade_id
from course_lib.grading.sources.project import db_url
from course_lib.grading.sources.release import generate
from tests.grading.tiny import NAME, cell_of, write_course

ANSWER, TEST, WHY = "value = 3", "assert value == 3", "Because of the gradient."


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("course")
    write_course(place, answer=ANSWER, test=TEST)
    return place


@pytest.fixture(scope="module")
def released(course: Path) -> NotebookNode:
    return nbformat.reads(generate(course, NAME)[f"{NAME}.ipynb"].decode(), as_version=4)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path_factory.mktemp("student"))
        yield Path.cwd()


def solved(released: NotebookNode) -> dict[str, Any]:
    notebook = copy.deepcopy(released)
    cell_of(notebook, "part_answer").source = ANSWER
    cell_of(notebook, "why").source = WHY
    return dict(json.loads(nbformat.writes(notebook)))


WORDS = st.text(max_size=40) | st.sampled_from(
    [
        *("[" * 3000, "<img src='attachment:a.png'>", "### BEGIN HIDDEN TESTS", "\u202e\ud800"),
        *("![a](data:image/png;base64,aGVsbG8=)", "$$\\frac", "%%javascript\nalert(1)", "\r\n\x00"),
    ]
)
ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=5,
)
CELL = st.fixed_dictionaries(
    {},
    optional={
        "cell_type": st.sampled_from(["code", "markdown", "raw", "sql", "heading"]) | ANYTHING,
        "source": WORDS | st.lists(WORDS, max_size=3) | ANYTHING,
        "metadata": st.just({}) | ANYTHING | st.fixed_dictionaries({"nbgrader": ANYTHING}),
        "outputs": st.just([]) | ANYTHING,
        "attachments": st.just({"a.png": {"image/png": "aGVsbG8="}}) | ANYTHING,
        "id": st.text(max_size=8) | ANYTHING,
    },
)


@settings(max_examples=60)
@given(
    st.lists(st.tuples(st.integers(0, 10), CELL | ANYTHING), max_size=6),
    st.sampled_from(["shuffled", "no marks", "no marks and ids", "as they were"]),
    st.randoms(),
    st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "cp1252"]),
)
def test_a_packed_notebook_is_graded_whatever_cells_in_whatever_order(
    released: NotebookNode,
    place: Path,
    tmp_path_factory: pytest.TempPathFactory,
    others: list[tuple[int, Any]],
    state: str,
    chance: Any,
    encoding: str,
) -> None:
    raw = solved(released)
    cells = raw["cells"]
    for cell in cells if state.startswith("no marks") else ():
        cell["metadata"] = {}
        if "ids" in state:
            del cell["id"]
    if state == "shuffled":
        chance.shuffle(cells)
    # an answer without any mark is known by its place: between two cells that are known
    for at, cell in others:
        cells.insert(at if state in ("shuffled", "as they were") else len(cells), cell)
    path = place / f"{NAME}.ipynb"
    text = json.dumps(raw, ensure_ascii=encoding == "cp1252")
    path.write_bytes(text.encode(encoding, "replace"))

    folder = tmp_path_factory.mktemp("handed-in")
    extract(pack_submission(path, NAME).path, folder / "in")
    staged = stage(folder / "in", NAME, released, folder / "staged", "ada")
    assert staged.notebook_found
    nbformat.validate(staged.notebook)
    parts: dict[str, Any] = {}
    for cell in staged.notebook.cells:
        if cell.cell_type == "markdown":
            safe_html.markdown(cell.source, pasted=cell.get("attachments"))
        elif grade_id(cell):
            exec(cell.source, parts)
    assert parts["value"] == 3
    # of several texts without any mark the longest is taken; a person reads it, and sees the others
    why = cell_of(staged.notebook, "why").source
    assert why != cell_of(released, "why").source
    assert WHY in why or state == "no marks and ids"
    assert any(WHY in cell.source for cell in staged.notebook.cells)
    assert [grade_id(cell) for cell in staged.notebook.cells if grade_id(cell)] == [
        grade_id(cell) for cell in released.cells if grade_id(cell)
    ]


def test_the_whole_way_from_packing_to_marks(
    course: Path, released: NotebookNode, place: Path, tmp_path: Path
) -> None:
    bubblewrap.require()
    raw = solved(released)
    raw["cells"] += [
        {"cell_type": "sql", "source": 3},
        {"cell_type": "code", "source": "1 +", "outputs": ["0.5\n" * 3_000_000]},
        {"cell_type": "markdown", "source": f"![a](data:image/png;base64,{'aGVsbG8A' * 4000})"},
        None,
    ]
    (place / f"{NAME}.ipynb").write_text(json.dumps(raw))
    packed = pack_submission(place / f"{NAME}.ipynb", NAME)
    assert packed.path.stat().st_size < 10_000  # without the outputs

    everybody, roster = tmp_path / "all.zip", tmp_path / "roster.csv"
    with zipfile.ZipFile(everybody, "w") as archive:
        archive.write(packed.path, f"o'brienpat_7_70_{NAME}.zip".replace("'", ""))
    roster.write_text("Student,ID,SIS Login ID\n\"O'Brien, Pat\",7,o'brien\n")
    collect(NAME, [everybody], tmp_path / "submitted", read_roster(roster))
    handed_in = tmp_path / "submitted" / "o-brien" / NAME
    text = generate(course, NAME, db_url(tmp_path))[f"{NAME}.ipynb"].decode()
    outcome = grade(Job(course, tmp_path, handed_in, "o-brien", NAME, text, boxed=True))
    assert outcome.graded
    with Gradebook(db_url(tmp_path)) as gradebook:
        submission = gradebook.find_submission(NAME, "o-brien")
        assert (submission.score, submission.needs_manual_grade) == (2, True)
    assert (tmp_path / "feedback" / "o-brien" / NAME / f"{NAME}.html").is_file()


def test_what_the_grader_would_not_take_is_not_packed(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = place / f"{NAME}.ipynb"
    path.write_text("no notebook")
    with pytest.raises(CourseError, match="damaged"):
        pack_submission(path, NAME)
    path.write_text(json.dumps({"cells": [{"cell_type": "code", "source": "#" * 100}]}))
    monkeypatch.setattr("course_lib.grading.handing_in.packing.LARGEST_NOTEBOOK", 50)
    assert LARGEST_NOTEBOOK > 50
    with pytest.raises(CourseError, match="without its outputs"):
        pack_submission(path, NAME)
