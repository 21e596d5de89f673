"""benchmarks/README.md says what the recorded results say, and nothing else is in them."""

import json
import re

import pytest

from benchmarks import record
from course_lib.widgets import FIGURES
from course_lib.widgets.modules import LIVE

RESULTS = record.read_results()


def test_the_readme_is_in_step_with_the_results() -> None:
    text = record.README.read_text()
    assert record.filled_in(text, record.blocks(RESULTS)) == text


def test_every_result_has_its_place_in_the_readme() -> None:
    marks = re.findall(r"<!-- (?!end)([a-z0-9-]+) -->", record.README.read_text())
    assert sorted(marks) == sorted(record.blocks(RESULTS))


@pytest.mark.parametrize("name", RESULTS)
def test_a_result_is_dated_and_names_the_processor_but_no_machine(name: str) -> None:
    result = RESULTS[name]
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", result["date"])
    assert result["processor"]
    assert result["torch"]
    assert not re.search(r'"[^"]*(?:/[a-z]+){2,}', json.dumps(result))


def test_what_is_promised_of_training_and_search_is_recorded() -> None:
    one = RESULTS["train-1-threads-batch-64"]
    assert one["ratio"] >= 3.2
    assert one["ratio_bucketed"] >= 1.6
    assert one["fraction_of_limit"] >= 0.42
    assert RESULTS["train-1-threads-batch-128"]["fraction_of_limit"] >= 0.48
    assert RESULTS["decode"]["ratio"] >= 9
    assert min(RESULTS["decode"]["ratio_per_sentence"].values()) >= 2.5


def test_what_is_promised_of_the_input_pipeline_is_recorded() -> None:
    result = RESULTS["pipeline"]
    largest = max(row["pairs"] for row in result["rows"])
    assert largest >= 5_000_000
    trainings = [one for one in RESULTS.values() if one["what"] == "train"]
    assert result["ours"] / max(one["ours_bf16"] or one["ours"] for one in trainings) >= 10
    # A hundred times as many pairs in the same memory; the smallest corpus fills no whole buffer.
    assert result["memory_growth"] < 1.15
    by_stage: dict[str, dict[int, float]] = {}
    for row in result["rows"]:
        by_stage.setdefault(row["stage"], {})[row["pairs"]] = row["peak_mib"]
    for stage, peaks in by_stage.items():  # counting keeps two million different words at most
        assert max(peaks.values()) < (1.6 if stage == "count words" else 1.15) * min(peaks.values())


def test_what_is_promised_of_the_cost_model_is_recorded() -> None:
    errors = RESULTS["cost"]["errors"]
    for quantity in ("peak memory, MiB", "peak memory, MiB, other sizes"):
        assert abs(errors[quantity]["worst"]) < 0.1
    assert errors["time of an update, ms"]["median"] < 0.1
    assert abs(errors["time of a training alone, minutes"]["worst"]) < 0.5


def test_what_is_promised_of_grading_is_recorded() -> None:
    assert RESULTS["grade"]["ratio"] >= 2.5
    result = RESULTS["class"]
    assert result["submissions"] >= 200
    assert max(row["minutes"] for row in result["rows"]) < 60
    assert result["rows"][1]["finished"] < result["submissions"] == result["rows"][2]["finished"]


def test_what_is_promised_of_the_moving_figures_is_recorded() -> None:
    result = RESULTS["figures"]
    assert {row["figure"] for row in result["rows"]} == set(FIGURES) - {LIVE}
    for row in result["rows"]:
        assert row["drawn"] <= 100, row["figure"]
        assert row["step"] <= 16, row["figure"]


def test_what_is_promised_of_the_live_translators_is_recorded() -> None:
    rows = RESULTS["figures"]["live"]
    assert len(rows) == 4
    for row in rows:
        assert row["measured"] <= row["promised"], row["what"]
