"""Whatever a student's folder holds, nbgrader sees one well-formed notebook.

Common mishaps (no notebook, two, old formats, links, moved and copied cells) are graded in
`test_hostile.py`.
"""

import copy
import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbformat import NotebookNode

from course_lib.errors import CourseError
from course_lib.grading.intake.notebooks import LONGEST_CELL, MOST_CELLS, repair
from course_lib.grading.intake.staging import find_students, stage, unusable
from course_lib.grading.running.journal import key_of
from course_lib.grading.sources.marked_cells import checksum, is_solution
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
        (remark,) = remarks
        assert remark.startswith(f"Cells missing, put back as released: {deleted[0]}")


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
    assert remarks == ["Cells changed; the originals were used: winner."]


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
    ("content", "said"),
    [
        (b"", "is empty"),
        (b"{", "cannot be read as a notebook: it is damaged, or cut off"),
        (b"\xff\xfe\x00", "damaged"),
        (b"[" * 100_000, "damaged"),
        (b"[]", "is no notebook"),
        (b'{"cells": 3}', "is no notebook"),
        (b"%PDF-1.7", "cannot be read as a notebook: it is a PDF"),
    ],
)
def test_a_damaged_notebook_is_graded_as_the_blank_one_with_the_reason(
    folder: Path, tmp_path: Path, content: bytes, said: str
) -> None:
    (folder / f"{NAME}.ipynb").write_bytes(content)
    for name in ("timestamp.txt", "submission_secret.txt"):
        (folder / name).write_text("2026-05-05 12:00:00 UTC")
    found, remarks, notebook = staged(folder, tmp_path)
    assert not found
    assert said in remarks[0]
    assert remarks[0] in notebook.cells[0].source
    # `nbgrader release_feedback` stops for the whole class where these are missing
    assert (tmp_path / "staged" / "timestamp.txt").is_file()
    assert (tmp_path / "staged" / "submission_secret.txt").is_file()


def test_a_group_is_named_by_who_collects_and_not_by_what_lies_in_the_folder(
    folder: Path, tmp_path: Path
) -> None:
    nbformat.write(submission(), folder / f"{NAME}.ipynb")
    for forged in (".owner", ".collected.json"):
        (folder / forged).write_text('["bea"]')
    names = ["ada", "cem"]
    staged = stage(folder, NAME, RELEASED, tmp_path / "staged", names[0], names[1:])
    assert (staged.folder / ".owner").read_text().split() == names


def test_what_was_handed_in_instead_of_a_notebook_is_called_what_it_is(
    folder: Path, tmp_path: Path
) -> None:
    (folder / "attention.pdf").write_bytes(b"%PDF-1.7")
    (folder / "typed text.html").write_text("<p>")
    found, remarks, _ = staged(folder, tmp_path)
    assert not found
    assert "Handed in: attention.pdf (a PDF), typed text.html (a web page)." in remarks[0]


def test_a_link_is_no_notebook(folder: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.ipynb"
    nbformat.write(submission(), other)
    (folder / f"{NAME}.ipynb").symlink_to(other)
    found, remarks, _ = staged(folder, tmp_path)
    assert not found
    assert "is a link" in remarks[0]
    assert "nor any other notebook" in remarks[1]


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
    assert remarks == ["Cells of another type, changed back: winner_answer, winner, why."]


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


def code(source: str) -> NotebookNode:
    return nbformat.v4.new_code_cell(source)


def text(source: object) -> NotebookNode:
    cell = nbformat.v4.new_markdown_cell()
    cell["source"] = source
    return cell


def deep() -> list[object]:
    nested: list[object] = []
    for _ in range(400):
        nested = [nested]
    return nested


ODD: dict[str, tuple[list[object], str]] = {
    "a picture of Colab's": ([text(f"![a](data:image/png;base64,{'aGVsbG8A' * 3000})")], ""),
    "a long text": ([text("[" * 300_000)], ""),
    "a longer one": ([text("[" * (LONGEST_CELL + 1))], f"has {LONGEST_CELL + 1} characters"),
    "text that keeps a search busy": ([text("<img " * 70_000), text("data:image/" * 30_000)], ""),
    "long code": ([code("x = [" + "1," * LONGEST_CELL + "]")], "characters; the grader takes"),
    "many cells": ([text("word")] * MOST_CELLS, "were left out"),
    "an unknown kind": ([{"cell_type": "sql", "source": "select", "metadata": {}}], "sql"),
    "a heading": ([{"cell_type": "heading", "level": 1, "source": "Mine"}], ""),
    "no source": ([{"cell_type": "code", "metadata": {}}], "has no text"),
    "null": ([{"cell_type": "markdown", "source": None}], "has no text"),
    "a number among the lines": ([text(["a\n", 3])], ""),
    "metadata that are a list": ([{"cell_type": "raw", "source": "x", "metadata": ["no"]}], ""),
    "brackets in brackets": (
        [
            {
                **dict.fromkeys(("cell_type", "source", "id", "outputs", "attachments"), deep()),
                "metadata": {"nbgrader": {"grade_id": deep(), "points": deep()}},
            }
        ],
        "is of a kind that is not known here",
    ),
    "no cell at all": ([3, None], "each was no cell at all"),
    "an output of any kind": (
        [{"cell_type": "code", "source": "1", "outputs": "?", "execution_count": "DIGITS"}],
        "",
    ),
}


@pytest.mark.parametrize(("cells", "said"), ODD.values(), ids=ODD)
@pytest.mark.parametrize("at", [0, 40])
def test_an_odd_cell_costs_itself_and_no_other(
    cells: list[object], said: str, at: int, folder: Path, tmp_path: Path
) -> None:
    notebook = json.loads(nbformat.writes(submission()))
    notebook["cells"][at:at] = cells
    written = json.dumps(notebook).replace('"DIGITS"', "9" * 5000)
    (folder / f"{NAME}.ipynb").write_text(written)
    found, remarks, result = staged(folder, tmp_path)
    assert found
    assert cell_of(result, "winner_answer").source == "winner = 2"
    assert len(result.cells) <= MOST_CELLS + 1
    assert (said in " ".join(remarks)) if said else remarks == []


def test_what_is_cut_is_cut_visibly(folder: Path, tmp_path: Path) -> None:
    notebook = submission()
    cell_of(notebook, "why").source = "Because " * LONGEST_CELL
    notebook.cells.append(code("#" * (LONGEST_CELL + 1)))
    _, result = given(notebook, folder, tmp_path)
    assert "[Cut here by the grader" in cell_of(result, "why").source
    assert result.cells[-1].source.startswith("# Left out by the grader")


@pytest.mark.parametrize(
    ("pasted", "shown"),
    [
        ("![map.png](data:image/png;base64,aGVsbG8=)", "![map.png](attachment:picture-1)"),
        (
            '<img src="data:image/png;base64,aGVsbG8=" width=40>',
            "![picture-1](attachment:picture-1)",
        ),
    ],
)
def test_a_picture_in_the_text_itself_becomes_one_that_pages_show(
    pasted: str, shown: str, folder: Path, tmp_path: Path
) -> None:
    notebook = submission()
    cell_of(notebook, "why").source = f"Because:\n\n{pasted}\n\nSee?"
    _, result = given(notebook, folder, tmp_path)
    assert cell_of(result, "why").source == f"Because:\n\n{shown}\n\nSee?"
    assert cell_of(result, "why").attachments == {"picture-1": {"image/png": "aGVsbG8="}}


@pytest.mark.parametrize("newline", ["\r\n", "\r"])
def test_line_ends_are_nobodys_change(newline: str, folder: Path, tmp_path: Path) -> None:
    notebook = json.loads(nbformat.writes(submission()))
    for cell in notebook["cells"]:
        cell["source"] = "".join(cell["source"]).replace("\n", newline)
    (folder / f"{NAME}.ipynb").write_text(json.dumps(notebook))
    assert staged(folder, tmp_path)[1] == []


LOST: dict[str, Callable[[dict[str, Any]], None]] = {
    "metadata": lambda cell: cell.update(metadata={}),
    "metadata and ids": lambda cell: (cell.update(metadata={}), cell.pop("id"))[0],
    "metadata, with other ids": lambda cell: cell.update(metadata={}, id=f"x{id(cell)}"),
}


@pytest.mark.parametrize("lose", LOST.values(), ids=LOST)
def test_cells_that_lost_nbgraders_marks_are_known_by_ids_texts_and_places(
    lose: Callable[[dict[str, Any]], None], folder: Path, tmp_path: Path
) -> None:
    notebook = submission()
    answers = [cell for cell in notebook.cells if is_solution(cell)]
    for place, cell in enumerate(answers):
        cell.source = f"answer = {place}"
    notebook.cells.insert(3, text("A thought of mine."))
    raw = json.loads(nbformat.writes(notebook))
    for cell in raw["cells"]:
        lose(cell)
    (folder / f"{NAME}.ipynb").write_text(json.dumps(raw))
    found, (remark,), result = staged(folder, tmp_path)
    assert found
    assert remark.startswith("Cells without nbgrader's mark")
    graded = [cell.source for cell in result.cells if is_solution(cell)]
    assert graded == [cell.source for cell in answers]


def test_a_cell_moved_to_the_end_moves_no_other(folder: Path, tmp_path: Path) -> None:
    notebook = submission()
    helper = notebook.cells.index(cell_of(notebook, "winner_answer"))
    notebook.cells.insert(helper, code("mine = 1"))
    moved = cell_of(notebook, "energies_answer")
    notebook.cells.remove(moved)
    notebook.cells.append(moved)
    remarks, result = given(notebook, folder, tmp_path)
    assert remarks == ["Cells moved, put back in their places: energies_answer."]
    sources = [cell.source for cell in result.cells]
    assert sources[sources.index("mine = 1") + 1] == "winner = 2"


def test_a_test_that_the_instructor_changed_is_no_change_of_the_students(
    folder: Path, tmp_path: Path
) -> None:
    notebook = submission()
    test = cell_of(notebook, "winner")
    test.source = "assert winner == 1"
    test.metadata.nbgrader["checksum"] = checksum(test)
    remarks, _ = given(notebook, folder, tmp_path)
    assert remarks == ["Cells of an earlier release; the present ones were used: winner."]


BLANK = cell_of(RELEASED, "why").source


def below(notebook: NotebookNode) -> None:
    at = notebook.cells.index(cell_of(notebook, "why")) + 1
    notebook.cells.insert(at, text("Because it looks back."))


def above(notebook: NotebookNode) -> None:
    at = notebook.cells.index(cell_of(notebook, "why")) - 1
    notebook.cells[at].source += "\n\nBecause it looks back."


def copied(notebook: NotebookNode) -> None:
    again = copy.deepcopy(cell_of(notebook, "why"))
    again.source = "Because it looks back."
    notebook.cells.insert(0, cell_of(notebook, "why"))
    notebook.cells.remove(cell_of(notebook, "why"))
    notebook.cells.append(cell_of(submission(), "why"))
    notebook.cells.append(again)


def in_code(notebook: NotebookNode) -> None:
    at = notebook.cells.index(cell_of(notebook, "why")) + 1
    notebook.cells.insert(at, code("It looks back at every word. Because it looks back."))


def retyped(notebook: NotebookNode) -> None:
    at = notebook.cells.index(cell_of(notebook, "why"))
    notebook.cells[at] = text("Because it looks back.")


@pytest.mark.parametrize("where", [below, above, copied, in_code, retyped])
def test_an_answer_beside_its_cell_is_put_before_a_person(
    where: Callable[[NotebookNode], None], folder: Path, tmp_path: Path
) -> None:
    notebook = submission()
    where(notebook)
    remarks, result = given(notebook, folder, tmp_path)
    why = cell_of(result, "why")
    assert "Because it looks back." in why.source
    assert why.metadata.nbgrader.checksum != checksum(why)  # so nbgrader does not give it 0
    assert "why" in " ".join(remarks)


def test_a_cell_left_blank_stays_so_whatever_the_code_around_it(
    folder: Path, tmp_path: Path
) -> None:
    notebook = submission()
    notebook.cells += [code("x = 1  # mine"), code("x = " + "a" * 390_000)]
    remarks, result = given(notebook, folder, tmp_path)
    assert cell_of(result, "why").source == BLANK
    assert remarks == []


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


WRITTEN = nbformat.writes(submission())
PACKED: dict[str, tuple[dict[str, str], str]] = {
    "the proper name counts": ({f"{NAME}.ipynb": WRITTEN, "draft.ipynb": WRITTEN}, "counts, not"),
    "in folders": ({f"my work/week 5/{NAME}.ipynb": WRITTEN}, ""),
    "oddly named": ({f"{NAME}.ipynb.txt": WRITTEN}, "it should be"),
    "with a mark nobody sees": ({f"{NAME}\u200e.ipynb": WRITTEN}, "it should be"),
    "without an ending": ({"homework": WRITTEN}, "it should be"),
    "two, and neither has the name": (
        {"draft.ipynb": nbformat.writes(RELEASED), "final.ipynb": WRITTEN},
        "final.ipynb counts, not draft.ipynb",
    ),
    "a blank one of the proper name": (
        {f"{NAME}.ipynb": nbformat.writes(RELEASED), f"{NAME} (1).ipynb": WRITTEN},
        "(1).ipynb counts",
    ),
    "another assignment's beside it": (
        {f"{NAME}.ipynb": nbformat.writes(nbformat.v4.new_notebook()), "x.ipynb": WRITTEN},
        "x.ipynb counts",
    ),
    "settings beside it": ({f"{NAME}.ipynb": WRITTEN, "run/config.json": '{"cells": 3}'}, ""),
}


@pytest.mark.parametrize(("files", "said"), PACKED.values(), ids=PACKED)
def test_a_notebook_is_found_wherever_it_is_packed(
    files: dict[str, str], said: str, folder: Path, tmp_path: Path
) -> None:
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(content)
    found, remarks, notebook = staged(folder, tmp_path)
    assert found
    assert cell_of(notebook, "winner_answer").source == "winner = 2"
    assert (said in " ".join(remarks)) if said else remarks == []


def test_files_beside_a_notebook_in_a_folder_stay_beside_it(folder: Path, tmp_path: Path) -> None:
    inner = folder / "homework"
    inner.mkdir()
    nbformat.write(submission(), inner / f"{NAME}.ipynb")
    (inner / "words.txt").write_text("mine")
    staged(folder, tmp_path)
    assert (tmp_path / "staged" / "words.txt").read_text() == "mine"


def test_another_assignments_notebook_is_named_so_in_one_line(folder: Path, tmp_path: Path) -> None:
    other = nbformat.read(ROOT / "exercises" / "decoding" / "decoding.ipynb", as_version=4)
    remarks, _ = given(other, folder, tmp_path)
    assert "it may be another assignment's" in remarks[0]
    assert len(remarks) < 5


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
    key = key_of({}, "student", handed_in)
    assert key == key_of({}, "student", handed_in)
    staged = stage(handed_in, NAME, RELEASED, tmp_path / "staged", "ada")
    assert list(staged.data_files) == ["data.csv", ".owner"]
    assert any("more than 20 folders" in remark for remark in staged.remarks)
    subprocess.run(["rm", "-rf", handed_in], check=True)  # or pytest cannot
