"""How long a class takes to grade: `course grade` in sandboxes against nbgrader's own command."""

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import Any

import nbformat
import psutil
from tqdm import tqdm

from benchmarks.machine import about
from course_lib.errors import CourseError
from course_lib.grading.authoring.demonstration import answered, read_variants
from course_lib.grading.sandbox.walls import require
from course_lib.grading.sources.project import db_url, project_root, source_of
from course_lib.grading.sources.release import generate, source_notebook

JOBS = 2
STUDENTS = 24
NAME = "attention_by_hand"

CONFIG = """
c = get_config()
c.CourseDirectory.root = {root!r}
c.CourseDirectory.source_directory = "solutions"
c.CourseDirectory.db_url = {db_url!r}
c.CourseDirectory.ignore = ["*.md"]
"""
NOTHING_RUN = """
from nbgrader.converters import Autograde
from nbgrader.preprocessors import Execute
c.Autograde.autograde_preprocessors = [
    step for step in Autograde.autograde_preprocessors.default() if step is not Execute
]
"""


def measure_grading(rounds: int = 1) -> dict[str, Any]:
    """Submissions a minute of a class of 24 different ones, each command timed from start to end.

    The textbook is `nbgrader autograde` once for the assignment, without a sandbox and without
    feedback, which it leaves to another command; ours does both and writes the report. The limit is
    what nbgrader would do if running the notebooks cost nothing: its own command with that step
    left out, and as many of them at a time.
    """
    require()
    root = project_root()
    seconds: dict[str, list[float]] = {"ours": [], "textbook": [], "nothing run": []}
    for number in tqdm(range(rounds), desc="rounds"):
        names = list(seconds)
        for name in names[number % 2 :] + names[: number % 2]:
            with tempfile.TemporaryDirectory() as folder:
                seconds[name].append(_grade(root, Path(folder), name))
    minute = {name: 60 * STUDENTS / median(times) for name, times in seconds.items()}
    limit = minute["nothing run"] * min(JOBS, psutil.cpu_count() or 1)
    return {
        "what": "grade",
        "unit": "submissions a minute",
        "assignment": NAME,
        "submissions": STUDENTS,
        "jobs": JOBS,
        "rounds": rounds,
        "ours": minute["ours"],
        "textbook": minute["textbook"],
        "ratio": minute["ours"] / minute["textbook"],
        "ratio_bucketed": None,
        "limit": limit,
        "fraction_of_limit": minute["ours"] / limit,
        "seconds": seconds,
        "load_before": os.getloadavg()[0],
        **about(),
    }


def _grade(root: Path, place: Path, how: str) -> float:
    """Seconds that a command takes for the class; it has to have graded everybody."""
    bin_folder = Path(sys.executable).parent
    released = generate(root, NAME, db_url(place))[f"{NAME}.ipynb"].decode()
    _write_class(root, released, place / "submitted")
    if how == "ours":
        command = [str(bin_folder / "course"), "grade", NAME, "--jobs", str(JOBS), "--json"]
        command += ["--submitted", str(place / "submitted")]
        where = root
    else:
        config = CONFIG.format(root=str(place), db_url=db_url(place))
        (place / "nbgrader_config.py").write_text(config + NOTHING_RUN * (how == "nothing run"))
        command = [str(bin_folder / "nbgrader"), "autograde", NAME]
        where = place
    environment = os.environ | {
        "PATH": os.pathsep.join([str(bin_folder), os.environ.get("PATH", os.defpath)]),
        "PYTHONPATH": str(root),
        "OMP_NUM_THREADS": "1",
    }
    started = time.perf_counter()
    done = subprocess.run(
        command, cwd=where, env=environment, capture_output=True, text=True, check=False
    )
    taken = time.perf_counter() - started
    graded = len(list((place / "autograded").glob(f"*/{NAME}/{NAME}.ipynb")))
    if done.returncode != 0 or graded != STUDENTS:
        last = (done.stderr.strip().splitlines() or ["it said nothing"])[-1]
        raise CourseError(f"{Path(command[0]).name} graded {graded} of {STUDENTS}: {last}")
    if how == "ours" and not all(one["graded"] for one in json.loads(done.stdout)["students"]):
        raise CourseError("course grade could not grade everybody.")
    return taken


def _write_class(root: Path, released: str, submitted: Path) -> None:
    """24 students, whose answers are spread over those that prove the assignment's tests."""
    source = source_notebook(source_of(root, NAME))
    variants = read_variants(root, NAME).sections
    step = len(variants) / STUDENTS
    for number in range(STUDENTS):
        student = variants[int(number * step)]
        notebook = answered(student, source, nbformat.reads(released, as_version=4))
        folder = submitted / f"student-{number:02d}" / NAME
        folder.mkdir(parents=True)
        nbformat.write(notebook, folder / f"{NAME}.ipynb")
