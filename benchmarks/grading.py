"""How long a class takes to grade: several submissions at a time against one by one."""

import tempfile
import time
from pathlib import Path
from statistics import median
from typing import Any

import psutil
from tqdm import tqdm

from benchmarks.machine import about
from course_lib.grading.classroom import grade_class
from course_lib.grading.demonstration import write_class
from course_lib.grading.project import assignment_names, project_root
from course_lib.grading.release import generate
from course_lib.grading.sandbox import require

JOBS = 2


def measure_grading(rounds: int = 1) -> dict[str, Any]:
    """Submissions a minute of the first demonstration class, two at a time and one by one.

    Both are timed as a whole, starting the processes included. The limit is what the processors
    that take part would allow: as many times the speed of one.
    """
    require()
    root = project_root()
    name = next(n for n in assignment_names(root) if _has_class(root, n))
    released = generate(root, name)[f"{name}.ipynb"].decode()
    seconds: dict[int, list[float]] = {JOBS: [], 1: []}
    submissions = 0
    for jobs in tqdm([jobs for _ in range(rounds) for jobs in seconds], desc="classes"):
        with tempfile.TemporaryDirectory() as folder:
            submitted = Path(folder) / "submitted"
            submissions = len(write_class(root, name, released, submitted))
            started = time.perf_counter()
            grade_class(root, name, submitted=submitted, jobs=jobs)
            seconds[jobs].append(time.perf_counter() - started)
    speed = {jobs: 60 * submissions / median(times) for jobs, times in seconds.items()}
    limit = speed[1] * min(JOBS, psutil.cpu_count() or 1)
    return {
        "what": "grade",
        "unit": "submissions a minute",
        "assignment": name,
        "submissions": submissions,
        "jobs": JOBS,
        "rounds": rounds,
        "ours": speed[JOBS],
        "textbook": speed[1],
        "ratio": speed[JOBS] / speed[1],
        "ratio_bucketed": None,
        "limit": limit,
        "fraction_of_limit": speed[JOBS] / limit,
        "seconds": {f"{jobs} at a time": times for jobs, times in seconds.items()},
        **about(),
    }


def _has_class(root: Path, name: str) -> bool:
    return (root / "solutions" / name / "demonstration.md").is_file()
