"""What parts are called, whatever a heading holds."""

import subprocess
import sys

from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from course_lib.grading.reporting.graded_notebook import notebook_title, titles

GRADED = {"nbgrader": {"grade": True, "solution": False, "grade_id": "part", "points": 1}}
ENDLESS = """
import resource
resource.setrlimit(resource.RLIMIT_CPU, (20, 20))
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook
from course_lib.grading.reporting import similarity
from course_lib.grading.reporting.graded_notebook import notebook_title, titles
from course_lib.grading.running.outputs import printable
for text in ("# a" + " " * 200_000 + "b", "#" * 200_000, "# " * 99_000, "# (" + "(point " * 9_000):
    notebook = new_notebook(cells=[new_markdown_cell(text)])
    titles(notebook), notebook_title(notebook)
for text in ("x" * 200_000, "x\\r" * 100_000, "\\x1b[" * 60_000, "\\x1b]" * 60_000):
    printable(text)
loop = "for k, row in enumerate(rows):\\n    scores[k] = [e if keep else 0 for e in row]\\n" * 2
there = [new_code_cell(text) for text in (loop, loop + " \\n" * 200_000 + loop)]
[pair] = similarity.pairs({name: {"f": cell} for name, cell in zip("ab", there)}, {})
"""


def test_a_part_is_called_by_its_comment_or_the_heading_above_it_without_the_points() -> None:
    for text, called in (
        ("# One\n\n## Two (3 points)\ntext", "Two"),
        ("### Two (of them)", "Two (of them)"),
        ("#no heading\n####### none\n#\n## Two", "Two"),
    ):
        test = new_code_cell("assert x", metadata=GRADED)
        assert titles(new_notebook(cells=[new_markdown_cell(text), test])) == {"part": called}
    test = new_code_cell("# Part 1: the energies\nassert x", metadata=GRADED)
    notebook = new_notebook(cells=[new_markdown_cell("# Title\n## More"), test])
    assert titles(notebook) == {"part": "Part 1: the energies"}
    assert notebook_title(notebook) == "Title"


def test_no_text_takes_longer_than_its_length() -> None:
    done = subprocess.run([sys.executable, "-c", ENDLESS], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-500:]
