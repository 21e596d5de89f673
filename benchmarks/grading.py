"""How long a class takes to grade: `course grade` in sandboxes against nbgrader's own commands."""

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from statistics import mean, median
from typing import Any
from unittest import mock

from tqdm import tqdm

from benchmarks.machine import about
from course_lib.errors import CourseError
from course_lib.grading.authoring.demonstration import Student, hand_in, read_variants
from course_lib.grading.running import submission
from course_lib.grading.running.submission import Job, grade
from course_lib.grading.sandbox import bubblewrap
from course_lib.grading.sources.project import db_url, project_root
from course_lib.grading.sources.release import generate

JOBS = 2
STUDENTS = 24
NAME = "attention_by_hand"
STEPS = ("stage", "inspect_models", "run_notebook", "record_marks", "write_feedback")
"""The steps of `submission.grade`."""

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
    """Submissions a minute of a class of 24 different ones, each timed from start to end.

    The textbook is nbgrader's own `autograde` and `generate_feedback`, without a sandbox, in as
    many processes beside each other as `course grade` has, each with its share of the class and a
    gradebook of its own, since nbgrader cannot grade two submissions at a time. The limit is what
    those would do if running the notebooks cost nothing.
    """
    bubblewrap.require()
    root = project_root()
    seconds: dict[str, list[float]] = {"ours": [], "textbook": [], "nothing run": []}
    for number in tqdm(range(rounds), desc="rounds"):
        names = list(seconds)
        for name in names[number % 2 :] + names[: number % 2]:
            with tempfile.TemporaryDirectory() as folder:
                seconds[name].append(_grade(root, Path(folder), name))
    minute = {name: 60 * STUDENTS / median(times) for name, times in seconds.items()}
    with tempfile.TemporaryDirectory() as folder:
        steps = _seconds_of_steps(root, Path(folder))
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
        "limit": minute["nothing run"],
        "fraction_of_limit": minute["ours"] / minute["nothing run"],
        "seconds": seconds,
        "steps": steps,
        **about(),
    }


def _grade(root: Path, place: Path, how: str) -> float:
    """Seconds that it takes to grade the class; everybody has to be graded."""
    students = _everybody(root)
    if how == "ours":
        hand_in(root, NAME, released(root), place / "submitted", students)
        command = f"course grade {NAME} --jobs {JOBS} --json --submitted {place / 'submitted'}"
        started = time.perf_counter()
        said = _end(_start(command, root, root))
        taken = time.perf_counter() - started
        if not all(one["graded"] for one in json.loads(said)["students"]):
            raise CourseError("course grade could not grade everybody.")
        return taken
    shares = [place / f"share-{job}" for job in range(JOBS)]
    for job, share in enumerate(shares):
        hand_in(root, NAME, released(root), share / "submitted", students[job::JOBS])
        generate(root, NAME, db_url(share))
        config = CONFIG.format(root=str(share), db_url=db_url(share))
        (share / "nbgrader_config.py").write_text(config + NOTHING_RUN * (how == "nothing run"))
    commands = f"nbgrader autograde {NAME} && nbgrader generate_feedback {NAME}"
    started = time.perf_counter()
    for process in [_start(commands, root, share) for share in shares]:
        _end(process)
    taken = time.perf_counter() - started
    for kind in ("autograded/*/*/*.ipynb", "feedback/*/*/*.html"):
        if (made := len(list(place.glob(f"share-*/{kind}")))) != STUDENTS:
            raise CourseError(f"nbgrader has made {made} of {STUDENTS} files {kind}.")
    return taken


def _start(commands: str, root: Path, where: Path) -> "subprocess.Popen[str]":
    environment = os.environ | {
        "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")]),
        "PYTHONPATH": str(root),
        "OMP_NUM_THREADS": "1",
    }
    return subprocess.Popen(
        ["bash", "-c", commands],
        cwd=where,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )


def _end(process: "subprocess.Popen[str]") -> str:
    """What it has put out."""
    said, _ = process.communicate()
    if process.returncode != 0:
        raise CourseError(f"{process.args!s} ended with {process.returncode}.")
    return said


def _seconds_of_steps(root: Path, place: Path) -> dict[str, float]:
    """What each step takes of a submission, on average, with nothing graded beside it."""
    notebook = released(root)
    hand_in(root, NAME, notebook, place / "submitted", _everybody(root))
    generate(root, NAME, db_url(place))
    seconds: dict[str, list[float]] = {name: [] for name in STEPS}
    with _timed(seconds):
        for folder in sorted((place / "submitted").iterdir()):
            grade(Job(root, place, folder / NAME, folder.name, NAME, notebook, True))
    return {name: mean(times[1:]) for name, times in seconds.items()}  # the first one imports


@contextmanager
def _timed(seconds: dict[str, list[float]]) -> Iterator[None]:
    """Let each step add the time that it takes."""

    def timed(name: str) -> Any:
        step = getattr(submission, name)

        def run(*arguments: Any) -> Any:
            started = time.perf_counter()
            result = step(*arguments)
            seconds[name].append(time.perf_counter() - started)
            return result

        return run

    with mock.patch.multiple(submission, **{name: timed(name) for name in seconds}):
        yield


def released(root: Path) -> str:
    """The notebook that students get."""
    return (root / "exercises" / NAME / f"{NAME}.ipynb").read_text(encoding="utf-8")


def _everybody(root: Path) -> list[Student]:
    """Students whose answers are spread over those that prove the assignment's tests."""
    variants = read_variants(root, NAME).answers
    return [
        replace(variants[number * len(variants) // STUDENTS], name=f"student-{number:02d}")
        for number in range(STUDENTS)
    ]
