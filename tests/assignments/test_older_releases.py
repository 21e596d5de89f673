"""Notebooks given out before the test cells' modules had a package of their own still run."""

import json
import re
import subprocess
import sys
from pathlib import Path

from course_lib.grading.sources.project import project_root

IMPORT = re.compile(r"^from course_lib\.assignments(?:\.\w+)? import .*$", re.MULTILINE)


def test_what_they_import_is_where_they_look_for_it_and_the_same_module() -> None:
    releases = sorted((project_root(Path(__file__).parent) / "exercises").glob("*/*.ipynb"))
    cells = [cell for path in releases for cell in json.loads(path.read_text())["cells"]]
    lines = IMPORT.findall("\n".join("".join(cell["source"]) for cell in cells))
    now = dict.fromkeys(lines)
    assert {"checks", "steps", "inspection"} <= set(re.findall(r"\w+", " ".join(now)))
    before = [line.replace("course_lib.assignments", "course_lib.grading") for line in now]
    program = "\n".join(
        (
            *before,
            "from course_lib import assignments, grading",
            "assert checks is assignments.checks is grading.checks",
            "checks.that(True, 'Nothing is refused.')",
        )
    )
    subprocess.run([sys.executable, "-c", program], check=True)


def test_nothing_else_is_found_there_by_mistake() -> None:
    program = "import course_lib.grading; course_lib.grading.nothing"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert "has no attribute 'nothing'" in done.stderr
