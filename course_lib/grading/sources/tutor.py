"""`AGENTS.md` of a release: what a coding assistant that opens the folder is asked to be.

It is made of the notebook itself, so that hints, guesses and parts are called what the student
reads. A request is no lock, and the student can delete the file.
"""

import re

from nbformat import NotebookNode

from course_lib.figures.templates import render
from course_lib.grading.sources.marked_cells import comment, is_grade, is_solution

FILE = "AGENTS.md"


def tutor(notebook: NotebookNode) -> str:
    """The file for a notebook of an instructor, solutions and all; nothing of them is in it."""
    opening = notebook.cells[0].source
    understood = re.search(r"\*\*What you understand afterwards:\*\* (.*)", opening)
    parts = [comment(cell) for cell in notebook.cells if is_grade(cell) and not is_solution(cell)]
    prose = [cell.source for cell in notebook.cells if cell.cell_type == "markdown"]
    told = "\n".join(text for text in prose if "### BEGIN" not in text)
    hints = re.findall(r"<summary>Hint:? ?(.*?)</summary>", told)
    guesses = re.findall(
        r"\*\*(?:Predict first|Before you compute|Before you read on):\*\* (.*?)$",
        told,
        re.MULTILINE,
    )
    return render(
        *("course_lib.grading", "sources", "agents.md.j2"),
        title=opening.split("\n", 1)[0].lstrip("# "),
        understood=understood[1] if understood else "see the top of the notebook.",
        lists={
            "Graded parts": parts,
            "Hints in the notebook, in its order": [*filter(None, hints)],
            "Guesses that the notebook asks for": guesses,
        },
    )
