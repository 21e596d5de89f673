"""`course bench`, as typed; what it measures is tested in tests/benchmarks."""

import json
from pathlib import Path
from typing import Any

import pytest

from benchmarks import attention, grading, searches, training
from benchmarks.record import read_results
from benchmarks.report import as_text
from course_lib.cli.bench import checkout
from tests.conftest import ROOT, Course

MEASURES = {
    "train": (training, "measure_training", {"corpus", "threads", "batch", "rounds"}),
    "decode": (searches, "measure_decode", {"corpus", "threads", "batch", "rounds"}),
    "attention": (attention, "measure_attention", {"threads", "batch", "rounds"}),
    "grade": (grading, "measure_grading", {"rounds"}),
}


@pytest.mark.parametrize("command", MEASURES)
def test_each_command_measures_and_prints(
    command: str, course: Course, monkeypatch: pytest.MonkeyPatch
) -> None:
    module, function, options = MEASURES[command]
    asked: list[dict[str, Any]] = []
    recorded = next(one for one in read_results().values() if one["what"] == command)

    def measure(**arguments: Any) -> dict[str, Any]:
        asked.append(arguments)
        return recorded

    monkeypatch.setattr(module, function, measure)
    monkeypatch.chdir(ROOT / "tests")
    printed = json.loads(course("bench", command, "--rounds", "7", "--json").out)
    assert printed == recorded
    assert printed.keys() >= {"ours", "textbook", "ratio", "limit", "fraction_of_limit"}
    assert course("bench", command).out == as_text(recorded) + "\n"
    assert asked[0]["rounds"] == 7
    assert asked[0].keys() == asked[1].keys() == options


def test_what_is_missing_is_one_line_with_the_remedy(
    course: Course, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("benchmarks.workload.locate", lambda _: None)
    cases = [(tmp_path, command, "clone") for command in MEASURES]
    for place, command, remedy in [*cases, (ROOT, "train", "course corpus fetch multi30k")]:
        monkeypatch.chdir(place)
        assert course("bench", command).refused(remedy)


def test_the_checkout_is_found_from_below() -> None:
    assert checkout(ROOT / "tests" / "cli") == ROOT
