"""Pages and assignments from their first cell to their last, on a card that is not there.

What the library trains is on the card; a loop of a page's own trains a model that it has put on no
card, so on the CPU, as for a reader who has one.
"""

import json
import os
import shlex
import subprocess
import sys
from operator import attrgetter
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell

from course_lib.assignments import inspection, owner
from course_lib.grading.runs.comparison import LEAST, inspect
from course_lib.grading.sources.project import assignment_names, source_of
from course_lib.grading.sources.release import copy_files, data_files
from course_lib.training import read_result
from tests.assignments.cells import source, text_of
from tests.book.conftest import runnable
from tests.conftest import ROOT

NOTEBOOKS = ROOT / "book" / "notebooks"
WITH_ROOT = {**os.environ, "PYTHONPATH": str(ROOT)}

pytestmark = pytest.mark.slow


def run_on_card(notebook: NotebookNode, folder: Path) -> None:
    notebook.cells.insert(0, new_code_cell("import tests.card.card"))
    NotebookClient(
        notebook, timeout=3600, startup_timeout=600, resources={"metadata": {"path": folder}}
    ).execute(env=WITH_ROOT)


@pytest.mark.parametrize("page", runnable(), ids=attrgetter("stem"))
def test_the_cells_of_a_page_run_on_a_card(page: Path) -> None:
    run_on_card(nbformat.read(NOTEBOOKS / f"{page.stem}.ipynb", as_version=4), NOTEBOOKS)


@pytest.mark.parametrize("name", sorted({*assignment_names(ROOT)} - {inspection.ASSIGNMENT}))
def test_an_assignment_is_solved_and_tested_on_a_card(name: str, tmp_path: Path) -> None:
    """With the instructor's solution and the hidden tests."""
    copy_files(data_files(source_of(ROOT, name)), tmp_path)
    run_on_card(source(name), tmp_path)


def test_the_comparison_is_trained_judged_and_looked_at_on_a_card(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The command that the notebook prints, for the smallest models that a grader takes.

    What they score does not matter. The grader computes it all again on the CPU, so the card has to
    have written down the same; the hidden tests are about that.
    """
    notebook, student = source(inspection.ASSIGNMENT), "OWNER"
    names = {"student_id": student, "setting": "toy", "owner": owner}
    exec(text_of(notebook, "command"), names)
    _, *words = shlex.split(capsys.readouterr().out)
    smaller = {**LEAST, "corpus.test": 60, "epochs": 2, "warmup": 5}
    changes = [word for name, value in smaller.items() for word in ("--set", f"{name}={value}")]
    on_card = "import tests.card.card; from course_lib.cli import main; main()"
    command = [sys.executable, "-c", on_card, *words, *changes]
    subprocess.run(command, cwd=tmp_path, env=WITH_ROOT, check=True)
    for run in inspection.RUNS:
        assert read_result(tmp_path / inspection.FOLDER / run)["device"].endswith("(CARD)")
    (tmp_path / owner.FILE).write_text(student)
    (tmp_path / inspection.FILE).write_text(json.dumps(inspect(tmp_path, student)))
    # Where the work is graded, the notebook does not look at the runs; a student's does.
    together = next(i for i, cell in enumerate(notebook.cells) if cell.id == "together")
    notebook.cells.insert(together + 1, new_code_cell("RUNS = look()"))
    run_on_card(notebook, tmp_path)
