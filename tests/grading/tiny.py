"""The smallest assignment: an answer, its test, and a paragraph that a person marks."""

import shutil
from pathlib import Path
from typing import Any

import nbformat
from nbformat import NotebookNode

from course_lib.grading.running.submission import Job
from course_lib.grading.sources.marked_cells import grade_id
from course_lib.grading.sources.project import db_url
from course_lib.grading.sources.release import generate
from tests.conftest import ROOT

NAME = "tiny"
COMMON = "schema_version: 3, task: false"
PARAGRAPH = '"locked": false, "solution": true, "grade": true, "grade_id": "why", "points": 3'


def cell_of(notebook: NotebookNode, name: str) -> NotebookNode:
    """The cell of this grade id."""
    return next(cell for cell in notebook.cells if grade_id(cell) == name)


def write_course(folder: Path, answer: str, test: str) -> None:
    """A course with this assignment and the settings of ours."""
    (folder / "solutions" / NAME).mkdir(parents=True)
    shutil.copy(ROOT / "nbgrader_config.py", folder)
    (folder / "solutions" / NAME / f"{NAME}.md").write_text(
        f"""\
---
jupytext:
  text_representation: {{extension: .md, format_name: myst, format_version: 0.13}}
kernelspec: {{display_name: Python 3, language: python, name: python3}}
---

```{{code-cell}} ipython3
:nbgrader: {{{COMMON}, locked: false, solution: true, grade: false, grade_id: part_answer}}
### BEGIN SOLUTION
{answer}
### END SOLUTION
```

```{{code-cell}} ipython3
:nbgrader: {{{COMMON}, locked: true, solution: false, grade: true, grade_id: part, points: 2}}
{test}
```

+++ {{"nbgrader": {{"schema_version": 3, "task": false, {PARAGRAPH}}}}}

Because.
"""
    )


def released(course: Path) -> str:
    """The notebook that students are given, as JSON."""
    return generate(course, NAME)[f"{NAME}.ipynb"].decode()


def hand_in(course: Path, student: str, answer: str, why: str | None = None) -> Path:
    """Let a student of this course hand in; the folder with the notebook."""
    notebook = nbformat.reads(released(course), as_version=4)
    cell_of(notebook, "part_answer").source = answer
    cell_of(notebook, "why").source = f"Says {student}." if why is None else why
    folder = course / "submitted" / student / NAME
    folder.mkdir(parents=True, exist_ok=True)
    nbformat.write(notebook, folder / f"{NAME}.ipynb")
    return folder


def job_of(course: Path, student: str, **more: Any) -> Job:
    """What is graded of a student of this course, in a class's folder that is the course's own."""
    text = generate(course, NAME, db_url(course))[f"{NAME}.ipynb"].decode()
    handed_in = course / "submitted" / student / NAME
    return Job(course, course, handed_in, student, NAME, text, **{"boxed": True, **more})
