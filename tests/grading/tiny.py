"""The smallest assignment: an answer, its test, and a paragraph that a person marks."""

import shutil
from pathlib import Path

from nbformat import NotebookNode

from course_lib.grading.sources.marked_cells import grade_id
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
