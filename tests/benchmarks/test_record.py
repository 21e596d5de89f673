"""benchmarks/README.md says what the recorded results say, and nothing else is in them."""

import json
import re

import pytest

from benchmarks import record

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


def test_what_is_promised_of_grading_is_recorded() -> None:
    assert RESULTS["grade"]["ratio"] >= 2.5
