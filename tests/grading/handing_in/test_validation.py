"""What a student hears before handing in."""

import json
from itertools import count
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook
from nbgrader.utils import compute_checksum

from course_lib.errors import CourseError
from course_lib.grading.handing_in import validation
from course_lib.grading.handing_in.validation import validate_notebook
from course_lib.grading.sandbox import limits

IMPORT = "from course_lib.assignments import checks"
KERNEL = {"name": "python3", "display_name": "Python 3", "language": "python"}


def graded(grade_id: str, source: str, *, solution: bool = False, text: bool = False) -> object:
    cell = (new_markdown_cell if text else new_code_cell)(source)
    cell.metadata["nbgrader"] = {
        "grade": True,
        "grade_id": grade_id,
        "locked": not solution,
        "points": 1,
        "schema_version": 3,
        "solution": solution,
        "task": False,
    }
    cell.metadata["nbgrader"]["checksum"] = compute_checksum(cell)
    return cell


@pytest.fixture(scope="module")
def findings(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[bool | None, str]]:
    """One notebook with something of everything, run once."""
    changed = graded("changed", "# Changed\nassert False")
    changed.source = "# Changed\npass"
    together = new_code_cell("import course_lib.files\nprint('Hand and library:\\nthey agree.')")
    together.metadata["nbgrader"] = {**changed.metadata["nbgrader"], "grade": False}
    together.metadata["nbgrader"] |= {"grade_id": "together"}
    notebook = new_notebook(
        metadata={"kernelspec": KERNEL},
        cells=[
            graded("right", f"# Right\n{IMPORT}\nchecks.close([1], [1], 'answer', hint='')"),
            graded(
                "wrong",
                f"# Wrong\n{IMPORT}\nchecks.close([1], [2], 'answer', hint='Mind it.')",
            ),
            graded("unknown", "# Unknown name\nprint(forgotten)"),
            graded("its own", "# Its own name\nforgotten = 3"),
            graded("early", "# Too early\nprint(shares([1]))"),
            new_code_cell("print(shares([2]))"),
            new_code_cell("def shares(energies):\n    return energies"),
            graded("raises", "# Raises\n[][1]"),
            graded("warns", "# Warns\nimport warnings\nwarnings.warn('old style')"),
            changed,
            together,
            new_code_cell("try:\n    import course_lib.files\nexcept ImportError:\n    shut = 1"),
            graded("shut", f"# Shut\n{IMPORT}\nchecks.close(shut, 1, 'shut', hint='')"),
            new_code_cell("%%writefile helpers.py\nthree = 3"),
            new_code_cell("from helpers import three"),
            graded("helped", f"# Helped\n{IMPORT}\nchecks.close(three, 3, 'three', hint='')"),
            new_code_cell("weights = [1, 2]]"),
            new_code_cell("from pathlib import Path\nseen = Path('notes.txt').exists()"),
            graded("beside", f"# Beside\n{IMPORT}\nchecks.that(not seen, 'It is not handed in.')"),
            graded("why", "YOUR ANSWER HERE", solution=True, text=True),
            new_code_cell("import os\ndef leave():\n    os._exit(3)"),
            graded("exits", "# Exits\nleave()"),
            graded("late", "# Late\nassert True"),
        ],
    )
    path = tmp_path_factory.mktemp("student") / "homework.ipynb"
    raw = json.loads(nbformat.writes(notebook))
    raw["cells"].append({"cell_type": "sql", "source": 3})
    path.write_text(json.dumps(raw), encoding="utf-8-sig")
    (path.parent / "notes.txt").write_text("no file that is packed or given out")
    before = path.read_bytes()
    found = validate_notebook(path)
    assert path.read_bytes() == before
    return {finding.part: (finding.passed, finding.message) for finding in found}


@pytest.mark.parametrize(
    ("part", "passed", "said"),
    [
        ("Right", True, ""),
        ("Wrong", False, "answer is not right. Mind it."),
        ("Unknown name", False, "name 'forgotten' is not defined. Keep the names"),
        ("Too early", False, "`shares` is made in a cell further down"),
        ("The cell that begins with `print(shares([2]))`", None, "make it above this one."),
        ("Raises", False, "IndexError: list index out of range"),
        ("Warns", True, ""),
        ("Shut", True, ""),
        ("Helped", True, ""),
        ("Beside", True, ""),
        (
            "The cell that begins with `weights = [1, 2]]`",
            None,
            "in line 1 with SyntaxError",
        ),
        ("Changed", False, "The test itself has been changed"),
        ("The text 'why'", None, "still to be written"),
        ("Exits", False, "The Python process ended"),
        ("Late", False, "was not run"),
        ("The notebook", None, "has an odd cell, which is of a kind that is not known here, sql"),
    ],
)
def test_each_part_is_judged_in_plain_words(
    findings: dict[str, tuple[bool | None, str]], part: str, passed: bool | None, said: str
) -> None:
    assert findings[part][0] is passed
    assert said in findings[part][1]
    assert "Traceback" not in findings[part][1]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (None, "There is no file"),
        ("hello", "cannot be read as a notebook"),
        ("", "is empty"),
        ("{}", "is no notebook"),
        (nbformat.writes(new_notebook()), "has no graded parts"),
    ],
)
def test_what_is_no_notebook_of_the_course_is_a_plain_mistake(
    tmp_path: Path, content: str | None, said: str
) -> None:
    path = tmp_path / "homework.ipynb"
    if content is not None:
        path.write_text(content)
    with pytest.raises(CourseError, match=said):
        validate_notebook(path)


def test_what_the_pieces_do_together_is_shown_and_decides_nothing(
    findings: dict[str, tuple[bool | None, str]],
) -> None:
    passed, shown = findings["Put it together"]
    assert passed is None
    assert [line.strip() for line in shown.split("\n")] == ["", "Hand and library:", "they agree."]


def test_what_a_busy_machine_stopped_is_no_slip_of_the_student(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same measure as in class: a cell that waited for a processor has not been slow."""
    notebook = new_notebook(
        metadata={"kernelspec": KERNEL},
        cells=[new_code_cell("import time; time.sleep(600)"), graded("part", "# Part\npass")],
    )
    path = tmp_path / "homework.ipynb"
    path.write_text(nbformat.writes(notebook))
    monkeypatch.setattr(validation, "SECONDS", 5)  # many more than a kernel computes to begin
    said = {}
    for waited in (count(step=100).__next__, lambda: 0):
        monkeypatch.setattr(limits, "_waited", lambda process, waited=waited: waited())
        said[waited()] = [finding.part for finding in validate_notebook(path)]
    slow = "The cell that begins with `import time; time.sleep(600)`"
    assert list(said.values()) == [["This machine", slow, "Part"], [slow, "Part"]]
