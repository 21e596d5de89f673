"""A class of 200, graded by two jobs: once in one go, and once killed half-way and gone on with."""

import json
import os
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import psutil

from benchmarks.grading import JOBS, NAME, released
from benchmarks.machine import about
from course_lib.errors import CourseError
from course_lib.grading.authoring.demonstration import Student, hand_in, read_class, read_variants
from course_lib.grading.sources.project import project_root

STUDENTS = 200
RARE = 40
"""One in so many has an answer without end, and one in so many takes all the memory it gets."""
HOG = {"context_answer": "context = [b'x' * 2**26 for _ in range(100)]"}
LOOK_SECONDS = 0.5
GONE_SECONDS = 30


def measure_class(students: int = STUDENTS) -> dict[str, Any]:
    """Minutes, memory and what came of it.

    Raises:
        CourseError: somebody has no marks, or other marks after the kill.
    """
    root = project_root()
    with tempfile.TemporaryDirectory() as folder:
        calm, stormy = Path(folder) / "calm", Path(folder) / "stormy"
        for place in (calm, stormy):
            _write_class(root, place / "submitted", students)
        rows = [
            _run("in one go", root, calm, students),
            _run("until it was killed", root, stormy, students // 2),
            _run("from there to the end", root, stormy, students),
        ]
        marks, others = _marks(calm), _marks(stormy)
    if differing := [name for name in marks if marks[name] != others.get(name)]:
        raise CourseError(f"Other marks after the kill: {', '.join(differing)}.")
    if len(marks) != students:
        raise CourseError(f"{students - len(marks)} of {students} have no marks.")
    return {
        "what": "class",
        "assignment": NAME,
        "submissions": students,
        "jobs": JOBS,
        "rows": rows,
        **about(),
    }


def _write_class(root: Path, submitted: Path, students: int) -> None:
    """The made-up students and the answers that prove the tests, over and over."""
    made_up = read_class(root, NAME)
    [endless] = [one for one in made_up if one.name == "endless"]
    rare = {RARE // 4: endless, RARE // 2: Student("hog", HOG, loses=frozenset())}
    usual = [one for one in made_up if one is not endless] + read_variants(root, NAME).answers
    everybody = [
        replace(
            rare.get(number % RARE, usual[number % len(usual)]),
            name=f"student-{number:03d}",
            owner="",
        )
        for number in range(students)
    ]
    hand_in(root, NAME, released(root), submitted, everybody)


def _run(what: str, root: Path, place: Path, enough: int) -> dict[str, Any]:
    """Grade; with fewer than all as `enough` the command is killed when so many are finished."""
    begun, peak = time.perf_counter(), 0
    everything = sum(1 for _ in (place / "submitted").iterdir())
    command = ["grade", NAME, "--jobs", str(JOBS), "--json", "--submitted", place / "submitted"]
    with (place / "said.json").open("w") as said:
        process = psutil.Popen(
            [sys.executable, "-m", "course_lib", *map(str, command)],
            cwd=root,
            env={**os.environ, "PYTHONPATH": str(root), "OMP_NUM_THREADS": "1"},
            stdout=said,
            stderr=subprocess.DEVNULL,
        )
    while process.poll() is None:
        below = process.children(recursive=True)
        peak = max(peak, sum(map(_memory, [process, *below])))
        if enough < everything and _finished(place) >= enough:
            process.kill()  # the command alone: what it has started has to notice
            process.wait()
            if psutil.wait_procs(below, GONE_SECONDS)[1]:
                raise CourseError("Something goes on after the command was killed.")
        time.sleep(LOOK_SECONDS)
    return {
        "run": what,
        "minutes": (time.perf_counter() - begun) / 60,
        "finished": _finished(place),
        "peak_mib": peak / 2**20,
    }


def _memory(process: psutil.Process) -> int:
    """Bytes; of what n processes share, each has 1/n."""
    with suppress(psutil.Error):
        return int(process.memory_full_info().pss)
    return 0


def _finished(place: Path) -> int:
    return len(list((place / "grading" / "journal" / NAME).glob("*.json")))


def _marks(place: Path) -> dict[str, Any]:
    """What the command has said of those who were graded."""
    said = json.loads((place / "said.json").read_text(encoding="utf-8"))
    return {
        one["student"]: (one["score"], one["parts"]) for one in said["students"] if one["graded"]
    }
