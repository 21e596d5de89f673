"""Questions from students' own answers: three, of several kinds, each with its place."""

from pathlib import Path

import nbformat
import pytest
from nbformat import NotebookNode
from nbformat.v4 import new_output

from course_lib.errors import CourseError
from course_lib.grading.authoring.demonstration import Student, answered
from course_lib.grading.reporting.orals import as_text, orals, questions_about
from course_lib.grading.sources.data import ORALS
from course_lib.grading.sources.marked_cells import grade_id
from course_lib.grading.sources.project import assignment_names, source_of
from course_lib.grading.sources.release import release, source_notebook
from tests.conftest import ROOT, Course
from tests.grading.tiny import NAME as TINY
from tests.grading.tiny import cell_of, write_course

NAME = "attention_by_hand"


def released(name: str) -> NotebookNode:
    return nbformat.read(ROOT / "exercises" / name / f"{name}.ipynb", as_version=4)


def given(notebook: NotebookNode) -> dict[str | None, str]:
    return {grade_id(cell): cell.source for cell in notebook.cells}


def handed_in(name: str) -> NotebookNode:
    """The solution, as a student would hand it in."""
    student = Student("ada", loses=frozenset())
    return answered(student, source_notebook(source_of(ROOT, name)), released(name))


@pytest.mark.parametrize("name", assignment_names(ROOT))
def test_there_are_three_about_every_whole_hand_in_and_they_quote_it(name: str) -> None:
    notebook = handed_in(name)
    asked = questions_about(notebook, given(released(name)), {})
    assert len(asked) == 3
    assert len({one.kind for one in asked}) >= 2
    for one in asked:
        part = one.place.split()[1].rstrip(",")
        text = " ".join(cell_of(notebook, part).source.split())
        assert " ".join(one.quote.rstrip("…").split()) in text
        if "line" in one.place:
            line = int(one.place.split()[-1])
            assert one.quote.rstrip("…") in cell_of(notebook, part).source.split("\n")[line - 1]


def test_what_was_given_out_is_nobodys_answer() -> None:
    assert questions_about(released(NAME), given(released(NAME)), {}) == []
    assert "Nothing of their own" in as_text({"ada": []})


def test_two_students_are_asked_about_their_own() -> None:
    one, other = handed_in(NAME), handed_in(NAME)
    cell_of(other, "weights_answer").source = f"#\nweights = [1.25, 1.5, 1.75]\n#{'-' * 900}"
    cell_of(other, "why").source = "Because the third is the largest by 0.4 of all three here."
    told = [
        as_text({"x": questions_about(each, given(released(NAME)), {})}) for each in (one, other)
    ]
    assert told[0] != told[1]
    assert "cell weights_answer, line 2: weights = [1.25, 1.5, 1.75]" in told[1]
    assert "How did you get 1.5?" in told[1]
    assert "the third is the largest" in told[1]


@pytest.mark.parametrize(
    "source",
    [
        "def f(:",
        "x = " + "(" * 5000,
        f"x.sum(dim={'+'.join('1' * 900)})",
        "\0",
        "x = [1.0, 2.0]\x1b[31m",
        "# nothing",
        "x = " + "1" * 10**5,
    ],
)
def test_whatever_stands_there_the_questions_are_fit_to_be_printed(source: str) -> None:
    notebook = handed_in(NAME)
    for cell in notebook.cells:
        if cell.metadata.get("nbgrader", {}).get("solution"):
            cell.source = source
    text = as_text({"ada": questions_about(notebook, given(released(NAME)), {})})
    assert not set(text) & {"\x1b", "\0"}
    assert max(map(len, text.splitlines())) < 250


def test_a_line_that_a_cell_printed_is_asked_about_too() -> None:
    notebook = released(NAME)
    cell_of(notebook, "together").outputs = [new_output("stream", text="By pencil 0.28\nDone\n")]
    [asked] = questions_about(notebook, given(released(NAME)), {})
    assert asked.quote == "By pencil 0.28"
    assert asked.place == "what cell together printed"


def test_an_assignments_own_questions_come_first_and_the_command_prints_them(
    tmp_path: Path, course: Course, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_course(tmp_path, answer="number = 42", test="assert number == 42")
    path = tmp_path / "solutions" / TINY / ORALS
    path.write_text("part: {question: 'Why {answer}? And six times seven?', owner: It is 42.}\n")
    monkeypatch.chdir(tmp_path)
    assert course("orals", TINY).refused("course grade tiny")
    release(tmp_path, [TINY])
    assert not (tmp_path / "exercises" / TINY / ORALS).exists()
    notebook = nbformat.read(tmp_path / "exercises" / TINY / f"{TINY}.ipynb", as_version=4)
    cell_of(notebook, "part_answer").source = "number = 6 * 7"
    graded = tmp_path / "autograded" / "ada" / TINY / f"{TINY}.ipynb"
    graded.parent.mkdir(parents=True)
    nbformat.write(notebook, graded)
    said = course("orals", TINY)
    assert said.status == 0
    assert said.out.startswith("ada\n  1. cell part_answer, line 1: number = 6 * 7\n")
    assert "Why number = 6 * 7? And six times seven? (Whose it is: It is 42.)" in said.out
    with pytest.raises(CourseError, match="Nothing of nobody was graded"):
        orals(tmp_path, tmp_path, TINY, ["nobody"])
