"""Pages and assignments from their first cell to their last, on a card that is not there.

Those that train are left out: written in Python, the card takes longer than a page's minutes.
Training on it is shown in on_card.py.
"""

import os
from operator import attrgetter
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell

from course_lib.grading.sources.project import assignment_names, source_of
from course_lib.grading.sources.release import copy_files, data_files
from tests.assignments.cells import source
from tests.book.conftest import runnable, trains
from tests.conftest import ROOT

NOTEBOOKS = ROOT / "book" / "notebooks"

pytestmark = pytest.mark.slow


def run_on_card(notebook: NotebookNode, folder: Path) -> None:
    notebook.cells.insert(0, new_code_cell("import tests.card.card"))
    NotebookClient(
        notebook, timeout=3600, startup_timeout=600, resources={"metadata": {"path": folder}}
    ).execute(env={**os.environ, "PYTHONPATH": str(ROOT)})


@pytest.mark.parametrize(
    "page", [path for path in runnable() if not trains(path)], ids=attrgetter("stem")
)
def test_the_cells_of_a_page_run_on_a_card(page: Path) -> None:
    run_on_card(nbformat.read(NOTEBOOKS / f"{page.stem}.ipynb", as_version=4), NOTEBOOKS)


@pytest.mark.parametrize("name", sorted({*assignment_names(ROOT)} - {"training_comparison"}))
def test_an_assignment_is_solved_and_tested_on_a_card(name: str, tmp_path: Path) -> None:
    """With the instructor's solution and the hidden tests."""
    copy_files(data_files(source_of(ROOT, name)), tmp_path)
    run_on_card(source(name), tmp_path)
