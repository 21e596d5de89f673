"""Whatever a student's folder holds, nbgrader sees one well-formed notebook.

Common mishaps (no notebook, two, old formats, links, moved and copied cells) are graded in
`test_hostile.py`.
"""

import copy
import json
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import nbformat
import pytest
from nbformat import NotebookNode

from course_lib.errors import CourseError
from course_lib.grading.intake.staging import find_students, repair, stage, unusable
from course_lib.grading.running.journal import key_of
from tests.conftest import ROOT
from tests.grading.tiny import cell_of

NAME = "attention_by_hand"
RELEASED = nbformat.read(ROOT / "exercises" / NAME / f"{NAME}.ipynb", as_version=4)


def ids(notebook: NotebookNode) -> list[str]:
    found = (cell.metadata.get("nbgrader", {}).get("grade_id") for cell in notebook.cells)
    return [grade_id for grade_id in found if grade_id]


def submission() -> NotebookNode:
    notebook = copy.deepcopy(RELEASED)
    cell_of(notebook, "winner_answer").source = "winner = 2"
    return notebook


def test_an_honest_submission_is_left_as_it_is() -> None:
    repaired, remarks = repair(submission(), RELEASED)
    assert remarks == []
    assert repaired == submission()


def test_deleted_cells_come_back_in_their_places_one_or_all() -> None:
    for deleted in (*([name] for name in ids(RELEASED)), ids(RELEASED)):
        notebook = submission()
        for grade_id in deleted:
            notebook.cells.remove(cell_of(notebook, grade_id))
        repaired, remarks = repair(notebook, RELEASED)
        assert ids(repaired) == ids(RELEASED)
        for grade_id in deleted:
            assert cell_of(repaired, grade_id).source == cell_of(RELEASED, grade_id).source
        assert remarks == [
            f"The cell {name} was missing; it was put back as released." for name in deleted
        ]


def test_tests_points_and_locks_are_the_released_ones() -> None:
    notebook = submission()
    test = cell_of(notebook, "winner")
    test.source = "pass"
    test.metadata.nbgrader.points = 1000
    test.metadata.nbgrader.solution = True
    notebook.cells[0].metadata["nbgrader"] = {"grade_id": "invented", "grade": True, "points": 50}
    notebook.cells[1].metadata["nbgrader"] = ["no", "dictionary"]
    repaired, remarks = repair(notebook, RELEASED)
    assert cell_of(repaired, "winner") == cell_of(RELEASED, "winner")
    assert ids(repaired) == ids(RELEASED)
    assert remarks == ["The cell winner had been changed; the original was used."]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A student's empty folder."""
    handed_in = tmp_path / "submitted" / "ada" / NAME
    handed_in.mkdir(parents=True)
    return handed_in


def staged(folder: Path, tmp_path: Path) -> tuple[bool, list[str], NotebookNode]:
    target = tmp_path / "staged"
    result = stage(folder, NAME, RELEASED, target, "ada")
    notebook = nbformat.reads(nbformat.writes(result.notebook), as_version=4)
    nbformat.validate(notebook)
    assert ids(notebook) == ids(RELEASED)
    return result.notebook_found, result.remarks, notebook


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"\xff\xfe\x00",
        b"[]",
        b'{"cells": 3}',
        b'{"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": [{"cell_type": "x"}]}',
        b"<html>",
    ],
)
def test_a_damaged_notebook_is_graded_as_the_blank_one_with_the_reason(
    folder: Path, tmp_path: Path, content: bytes
) -> None:
    (folder / f"{NAME}.ipynb").write_bytes(content)
    found, remarks, notebook = staged(folder, tmp_path)
    assert not found
    assert "cannot be read as a notebook" in remarks[0]
    assert remarks[0] in notebook.cells[0].source


def test_a_file_that_cannot_be_read_is_left_out_and_named(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    nbformat.write(submission(), folder / f"{NAME}.ipynb")
    for name in ("data.txt", "locked.txt"):
        (folder / name).write_text("mine")
    copy = shutil.copyfile

    def refuse(source: Path, target: Path) -> None:
        if source.name == "locked.txt":
            raise PermissionError(13, "Permission denied")
        copy(source, target)

    monkeypatch.setattr(shutil, "copyfile", refuse)
    _, remarks, _ = staged(folder, tmp_path)
    assert remarks == ["locked.txt cannot be read (PermissionError); it was left out."]
    names = sorted(path.name for path in (tmp_path / "staged").rglob("*"))
    assert names == [".owner", "data.txt"]


def test_a_link_is_no_notebook(folder: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.ipynb"
    nbformat.write(submission(), other)
    (folder / f"{NAME}.ipynb").symlink_to(other)
    found, remarks, _ = staged(folder, tmp_path)
    assert not found
    assert "not a plain file" in remarks[0]


def test_who_has_handed_in_is_read_from_the_folders(tmp_path: Path) -> None:
    for student, what in (("bea", NAME), ("ada", NAME), ("cem", "another"), (".trash", NAME)):
        (tmp_path / student / what).mkdir(parents=True)
    (tmp_path / "readme.txt").write_text("")
    assert find_students(tmp_path, NAME) == ["ada", "bea"]
    with pytest.raises(CourseError, match="Nothing is submitted for"):
        find_students(tmp_path / "nowhere", NAME)


def given(submission: NotebookNode, folder: Path, tmp_path: Path) -> tuple[list[str], NotebookNode]:
    (folder / f"{NAME}.ipynb").write_text(json.dumps(submission))
    found, remarks, notebook = staged(folder, tmp_path)
    assert found
    return remarks, notebook


def test_a_test_turned_into_text_is_a_test_again(folder: Path, tmp_path: Path) -> None:
    notebook = submission()
    for grade_id, kind in (("winner", "markdown"), ("winner_answer", "raw"), ("why", "code")):
        cell_of(notebook, grade_id)["cell_type"] = kind
    remarks, result = given(notebook, folder, tmp_path)
    assert [cell_of(result, name).cell_type for name in ("winner", "winner_answer", "why")] == [
        "code",
        "code",
        "markdown",
    ]
    assert cell_of(result, "winner_answer").source == "winner = 2"
    assert len(remarks) == 3


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_notebooks_without_cell_ids_and_in_other_encodings_are_read(
    folder: Path, tmp_path: Path, encoding: str
) -> None:
    old = json.loads(nbformat.writes(submission()))
    old["nbformat_minor"] = 2
    for cell in old["cells"]:
        del cell["id"]
    text = json.dumps(old, ensure_ascii=False).replace("winner = 2", "winner = 2  # größer")
    (folder / f"{NAME}.ipynb").write_bytes(text.encode(encoding))
    found, remarks, notebook = staged(folder, tmp_path)
    assert found
    assert ["utf-16" in remark for remark in remarks] == [True] * (encoding == "utf-16")
    assert "größer" in cell_of(notebook, "winner_answer").source


def test_raw_cells_are_shown_as_text(folder: Path, tmp_path: Path) -> None:
    notebook = submission()
    raw = nbformat.v4.new_raw_cell("<b>\nbold", metadata={"raw_mimetype": "text/html"})
    notebook.cells.append(raw)
    _, result = given(notebook, folder, tmp_path)
    cell = result.cells[-1]
    assert (cell.cell_type, cell.source, cell.metadata) == ("markdown", "    <b>\n    bold", {})


def test_a_pasted_picture_stays_with_its_text(folder: Path, tmp_path: Path) -> None:
    notebook = submission()
    picture = {"image/png": "aGVsbG8="}
    for cell in (cell_of(notebook, "why"), nbformat.v4.new_markdown_cell("one more")):
        cell["attachments"] = {
            "map.png": picture | {"text/html": "<b>"},
            "broken.png": {"image/png": "#!"},
            "odd": "text",
        }
        if cell not in notebook.cells:
            notebook.cells.append(cell)
    _, result = given(notebook, folder, tmp_path)
    nbformat.validate(result)
    assert cell_of(result, "why").attachments == {"map.png": picture}
    assert result.cells[-1].attachments == {"map.png": picture}


def test_marks_that_turn_the_direction_of_writing_are_seen(folder: Path, tmp_path: Path) -> None:
    notebook = submission()
    cell_of(notebook, "winner_answer").source = 'winner = "a\u202eb\u2066"'
    cell_of(notebook, "why").source = "right\u200fleft"
    _, result = given(notebook, folder, tmp_path)
    source = cell_of(result, "winner_answer").source
    assert source == r'winner = "a\u202eb\u2066"'
    assert eval(source.removeprefix("winner = ")) == "a\u202eb\u2066"
    assert cell_of(result, "why").source == r"right\u200fleft"


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (lambda notebook: notebook.cells.extend([nbformat.v4.new_code_cell()] * 1001), "cells"),
        (lambda notebook: notebook.cells.append(nbformat.v4.new_code_cell("#" * 200001)), "200001"),
        (
            lambda notebook: notebook.cells.append(nbformat.v4.new_markdown_cell("[" * 20001)),
            "20001",
        ),
        (lambda notebook: notebook.update(nbformat=7), "unknown format, 7"),
    ],
)
def test_what_would_keep_the_grader_busy_is_no_homework(
    spoil: Callable[[NotebookNode], None], said: str, folder: Path, tmp_path: Path
) -> None:
    notebook = submission()
    spoil(notebook)
    (folder / f"{NAME}.ipynb").write_text(json.dumps(notebook))
    found, remarks, _ = staged(folder, tmp_path)
    assert not found
    assert said in remarks[0]


def test_half_pairs_metadata_and_nbgraders_own_marks_harm_nothing(
    folder: Path, tmp_path: Path
) -> None:
    notebook = submission()
    cell_of(notebook, "winner_answer").source = "winner = 2  # \ud800 ### BEGIN HIDDEN TESTS"
    cell_of(notebook, "winner_answer").metadata["tags"] = ["skip-execution"]
    notebook.metadata["title"] = "<script>"
    _, result = given(notebook, folder, tmp_path)
    source = cell_of(result, "winner_answer").source
    assert "winner = 2" in source
    assert "HIDDEN TESTS" not in source
    assert "tags" not in cell_of(result, "winner_answer").metadata


def test_two_notebooks_one_of_them_under_the_proper_name(folder: Path, tmp_path: Path) -> None:
    nbformat.write(submission(), folder / f"{NAME}.ipynb")
    nbformat.write(RELEASED, folder / "draft.ipynb")
    found, remarks, notebook = staged(folder, tmp_path)
    assert found
    assert "counts, not draft.ipynb" in remarks[0]
    assert cell_of(notebook, "winner_answer").source == "winner = 2"


@pytest.mark.parametrize("name", ["a*", "a?b", "a[1]", "<b>", "a&b", "a'b", "a\x1b[2K", "x" * 101])
def test_a_name_that_would_trouble_a_page_is_no_students_id(name: str) -> None:
    assert unusable(name) is not None
    assert unusable("ada.lovelace-1 (late) Größe") is None


def test_folders_without_end_and_names_that_are_no_text_are_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    handed_in = tmp_path / "in"
    handed_in.mkdir()
    nbformat.write(RELEASED, handed_in / f"{NAME}.ipynb")
    (handed_in / "data.csv").write_text("1,2")
    (handed_in / os.fsdecode(b"\xff.txt")).write_text("no text")
    monkeypatch.chdir(handed_in)
    for _ in range(1100):
        os.mkdir("deeper")
        os.chdir("deeper")
    Path("far.txt").write_text("far")
    os.chdir(tmp_path)
    key = key_of("class", "student", handed_in)
    assert key == key_of("class", "student", handed_in)
    staged = stage(handed_in, NAME, RELEASED, tmp_path / "staged", "ada")
    assert list(staged.data_files) == ["data.csv", ".owner"]
    assert any("more than 20 folders" in remark for remark in staged.remarks)
    subprocess.run(["rm", "-rf", handed_in], check=True)  # or pytest cannot
