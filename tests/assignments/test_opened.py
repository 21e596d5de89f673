"""What a student's kernel has of the library."""

import json
import re
import subprocess
import sys

import pytest

from course_lib.assignments import opened
from course_lib.grading.sandbox import bubblewrap
from course_lib.grading.sources.project import assignment_names, source_of
from course_lib.grading.sources.release import data_files, source_notebook
from tests.conftest import ROOT

LEFT_OUT = {"build_rnnsearch": "together", "training_comparison": "together"}
"""Given cells that compare with the library's own, and are left out while a notebook is checked."""


@pytest.mark.parametrize("name", assignment_names(ROOT))
def test_the_files_that_are_given_out_are_known_without_the_sources(name: str) -> None:
    folder = ROOT / "exercises" / name
    patterns = opened.given(name)
    known = {path.relative_to(folder) for one in patterns for path in folder.glob(one)}
    assert {str(path) for path in known} == set(data_files(source_of(ROOT, name)))


BOXES = {opened.parts(name): name for name in assignment_names(ROOT)}


@pytest.mark.parametrize("box", BOXES.values())
def test_a_notebook_can_import_what_its_own_cells_import_and_none_of_the_rest(box: str) -> None:
    """Assignments with the same parts are tried in one box."""
    cells = [
        cell.source
        for name in assignment_names(ROOT)
        if opened.parts(name) == opened.parts(box)
        for cell in source_notebook(source_of(ROOT, name)).cells
        if cell.cell_type == "code"
        and not cell.metadata.get("nbgrader", {}).get("grade")
        and cell.metadata.get("nbgrader", {}).get("grade_id") != LEFT_OUT.get(name)
    ]
    lines = re.findall(r"^from course_lib.*$", "\n".join(cells), re.MULTILINE)
    program = "\n".join(
        (
            "import json, pathlib, sys, importlib, course_lib",
            *lines,
            "folder = pathlib.Path(course_lib.__file__).parent",
            "print(json.dumps(sorted(m for m in sys.modules if m.startswith('course_lib.'))))",
            "for closed in ('models.scores', 'evaluation.alignment', 'grading.running.judge'):",
            "    try: importlib.import_module(f'course_lib.{closed}')",
            "    except ImportError: print(closed)",
        )
    )
    command = bubblewrap.reader([sys.executable, "-c", program], [], {}, opened.parts(box))
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    loaded, *closed = done.stdout.splitlines()
    assert all(opened.is_open(box, module) for module in json.loads(loaded))
    models = [] if box == "heatmap_analysis" else ["models.scores"]
    assert closed == [*models, "evaluation.alignment", "grading.running.judge"]
