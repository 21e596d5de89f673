"""Every benchmark on a tiny workload, with its processes: to its end and its table."""

import json
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from benchmarks import grading, joeynmt, pipeline, searches, training
from benchmarks.attention import measure_attention
from benchmarks.report import as_text
from benchmarks.rounds import Step
from benchmarks.training import Minibatches
from benchmarks.workload import Workload, workload
from course_lib.models import ModelConfig
from tests.conftest import ROOT, Course

SIZES = {"embedding": 8, "hidden": 8, "alignment": 8, "readout": 8}


def tiny(*_: Any, **more: Any) -> Workload:
    return workload("toy", batch=4, batches=2, **SIZES)


def measured(course: Course, monkeypatch: pytest.MonkeyPatch, *words: str) -> dict[str, Any]:
    """What a command prints, once as JSON; its table is made of that, and of whole numbers."""
    monkeypatch.chdir(ROOT)
    result: dict[str, Any] = json.loads(course("bench", *words, "--json").out)
    header, *rows = as_text(result).split("\n\n")[1].splitlines()
    assert header
    assert len(rows) > 1
    assert result["ours"] > 0
    return result


@pytest.mark.slow
def test_training(course: Course, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(training, "workload", tiny)
    result = measured(course, monkeypatch, "train", "--rounds", "1")
    assert result["pairs"] == 8
    assert all(peak > 0 for peak in result["peak_mib"].values())


@pytest.mark.slow
def test_searches(course: Course, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(searches, "workload", tiny)
    monkeypatch.setattr(
        searches, "measure_decode", partial(searches.measure_decode, batches=1, updates=2)
    )
    result = measured(course, monkeypatch, "decode", "--rounds", "1")
    assert result["sentences"] == 8
    assert not any(result["different"].values())


@pytest.mark.slow
def test_attention(course: Course, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("benchmarks.machine.SHAPES", ((64, 64, 64),))
    small = partial(measure_attention, size=8, lengths=(3, 5))
    monkeypatch.setattr("benchmarks.attention.measure_attention", small)
    result = measured(course, monkeypatch, "attention", "--rounds", "1", "--batch", "2")
    assert all(row["ours"] > 0 for row in result["rows"])


@pytest.mark.slow
def test_pipeline(course: Course, monkeypatch: pytest.MonkeyPatch) -> None:
    result = measured(course, monkeypatch, "pipeline", "--pairs", "1000")
    assert {row["stage"] for row in result["rows"]} == set(pipeline.STAGES.values())


@pytest.mark.slow
def test_grading(course: Course, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(grading, "STUDENTS", 2)
    result = measured(course, monkeypatch, "grade")
    assert result["submissions"] == 2
    assert result["steps"].keys() == set(grading.STEPS)


def test_the_steps_of_a_submission(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(grading, "STUDENTS", 2)
    seconds = grading._seconds_of_steps(ROOT, tmp_path)
    assert seconds.keys() == set(grading.STEPS)


def stand_in(config: ModelConfig, batches: Minibatches, threads: int, bf16: bool) -> Step:
    """In the place of JoeyNMT, which has an environment of its own: the textbook's update."""
    return training.textbook(config, batches, threads)


@pytest.mark.slow
def test_joeynmt(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(joeynmt, "workload", tiny)
    monkeypatch.setattr(joeynmt, "theirs", stand_in)
    result = joeynmt.measure_joeynmt(rounds=1)
    assert min(result["speeds"].values()) > 0
    assert "times JoeyNMT" in as_text(result)
