"""Processes that grade beside each other: what becomes of a submission that ends its process."""

import os
import time
from pathlib import Path

import pytest

from course_lib.grading.running import workers
from course_lib.grading.running.journal import Outcome
from course_lib.grading.running.submission import Job


def graded(place: Path, *students: str) -> dict[str, Outcome]:
    jobs = [Job(place, place, place, one, "tiny", "", boxed=True) for one in students]
    outcomes = {one.student: one for one in workers.outcomes(jobs, 2)}
    assert outcomes.keys() == {*students}
    return outcomes


def test_what_ends_its_process_costs_nobody_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def grade(job: Job) -> Outcome:
        if job.student == "eve":
            os._exit(7)
        if job.student == "ben":
            raise KeyError(job.student)
        return Outcome(job.student, True, 0.0)

    monkeypatch.setattr(workers, "grade", grade)
    outcomes = graded(tmp_path, "eve", "ada", "ben", "joe", "kim")
    assert {name for name, one in outcomes.items() if one.graded} == {"ada", "joe", "kim"}
    assert "status 7" in outcomes["eve"].remarks[0]
    assert "KeyError" in outcomes["ben"].remarks[0]


def test_one_that_does_not_end_or_takes_all_memory_is_not_graded_and_costs_nobody_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def grade(job: Job) -> Outcome:
        if job.student == "endless":
            time.sleep(600)
        if job.student == "huge":
            bytearray(workers.MOST_MEMORY + 1)
        return Outcome(job.student, True, 0.0)

    monkeypatch.setattr(workers, "grade", grade)
    monkeypatch.setattr(workers, "LONGEST", 2)
    outcomes = graded(tmp_path, "endless", "ada", "huge", "joe")
    assert {name for name, one in outcomes.items() if one.graded} == {"ada", "joe"}
    assert outcomes["endless"].fault
    assert "no end within 2 seconds" in outcomes["endless"].remarks[0]
    assert outcomes["huge"].fault
    assert "MemoryError" in outcomes["huge"].remarks[0]
