"""`course bench`, as typed; what it measures is tested in tests/benchmarks."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from benchmarks import attention, grading, moving, searches, training
from course_lib.cli import main
from course_lib.cli.bench import checkout

ROOT = Path(__file__).resolve().parents[2]
RESULT: dict[str, Any] = {
    "unit": "steps a second",
    "ours": 30.0,
    "textbook": 10.0,
    "ratio": 3.0,
    "ratio_bucketed": None,
    "limit": 60.0,
    "fraction_of_limit": 0.5,
    "processor": "a processor",
    "torch": "2",
    "date": "2000-01-01",
}
MEASURES = {
    "train": (training, "measure_training", {"corpus", "threads", "batch", "rounds"}),
    "decode": (searches, "measure_decode", {"corpus", "threads", "batch", "rounds"}),
    "attention": (attention, "measure_attention", {"threads", "batch", "rounds"}),
    "grade": (grading, "measure_grading", {"rounds"}),
    "figures": (moving, "measure_moving", {"rounds"}),
}


def course(monkeypatch: pytest.MonkeyPatch, *words: str) -> int:
    """Run `course WORDS` and return its exit status."""
    monkeypatch.setattr(sys, "argv", ["course", *words])
    with pytest.raises(SystemExit) as done:
        main()
    return int(done.value.code or 0)


@pytest.mark.parametrize("command", MEASURES)
def test_each_command_measures_and_prints(
    command: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    module, function, options = MEASURES[command]
    asked: list[dict[str, Any]] = []

    def measure(**arguments: Any) -> dict[str, Any]:
        asked.append(arguments)
        return {"what": "a test", **RESULT}

    monkeypatch.setattr(module, function, measure)
    monkeypatch.chdir(ROOT / "tests")
    assert course(monkeypatch, "bench", command, "--rounds", "7", "--json") == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed.keys() >= {"ours", "textbook", "ratio", "limit", "fraction_of_limit"}
    assert course(monkeypatch, "bench", command) == 0
    assert "3.00" in capsys.readouterr().out
    assert asked[0]["rounds"] == 7
    assert asked[0].keys() == asked[1].keys() == options


@pytest.mark.parametrize("command", MEASURES)
def test_outside_a_checkout_one_line_says_where_to_go(
    command: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert course(monkeypatch, "bench", command) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert "clone" in error


def test_a_missing_corpus_is_one_line_with_the_remedy(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("benchmarks.workload.locate", lambda _: None)
    monkeypatch.chdir(ROOT)
    assert course(monkeypatch, "bench", "train") == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert "course corpus fetch multi30k" in error


def test_the_checkout_is_found_from_below() -> None:
    assert checkout(ROOT / "tests" / "cli") == ROOT
