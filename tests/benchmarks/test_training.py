"""The training benchmark on a tiny workload: complete, consistent, and the same work for all."""

import json
from typing import Any

import pytest

from benchmarks import training
from benchmarks.workload import Workload, workload
from course_lib.corpora.batches import EncodedPair
from course_lib.errors import CourseError
from tests.benchmarks.conftest import Given

TINY = {"embedding": 8, "hidden": 8, "alignment": 8, "readout": 8}


@pytest.fixture(scope="module")
def work() -> Workload:
    return workload("toy", batch=4, batches=3, **TINY)


SECONDS = {"ours": 1.0, "ours_bf16": 0.5, "textbook": 4.0, "textbook_bucketed": 2.0}
RATES = {"products": 1e9}


@pytest.fixture
def result(
    work: Workload, given: Given, small_products: None, monkeypatch: pytest.MonkeyPatch
) -> dict[str, Any]:
    given(training, SECONDS | RATES)
    monkeypatch.setattr(training, "has_fast_bf16", lambda: True)
    return training.compare(work, "toy", threads=1, rounds=2)


def test_both_orders_are_the_same_pairs_and_only_one_is_sorted(work: Workload) -> None:
    for batches in (work.bucketed(), work.shuffled()):
        assert sorted(pair for batch in batches for pair in batch) == sorted(work.pairs)
        assert {len(batch) for batch in batches} == {work.batch}

    def padding(batches: list[list[EncodedPair]]) -> int:
        lengths = [[len(target) for _, target in batch] for batch in batches]
        return sum(max(batch) * len(batch) - sum(batch) for batch in lengths)

    assert padding(work.bucketed()) < padding(work.shuffled())


def test_the_workload_is_drawn_the_same_every_time(work: Workload) -> None:
    assert workload("toy", batch=4, batches=3, **TINY) == work


def test_speeds_ratios_and_the_limit_follow_from_the_seconds(
    result: dict[str, Any], work: Workload
) -> None:
    json.dumps(result)
    whole = len(work.bucketed())  # minibatches, each of which took so many seconds
    for name, seconds in SECONDS.items():
        assert result[name] == work.target_tokens / (seconds * whole)
        assert result["peak_mib"][name] == 2048
    assert (result["ratio"], result["ratio_bucketed"]) == (4, 2)
    assert result["gflops_of_products"] == 1
    limit = 1e9 / (result["mflop_a_token"] * 1e6)
    assert result["fraction_of_limit"] == pytest.approx(result["ours"] / limit)


def test_without_a_processor_for_it_bf16_is_not_measured(
    work: Workload, given: Given, small_products: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    given(training, {name: 1.0 for name in (SECONDS | RATES) if not name.endswith("bf16")})
    monkeypatch.setattr(training, "has_fast_bf16", lambda: False)
    found = training.compare(work, "toy", threads=1, rounds=1)
    assert found["ours_bf16"] is None
    assert "ours_bf16" not in found["peak_mib"]


def test_without_the_corpus_one_line_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("benchmarks.workload.locate", lambda _: None)
    with pytest.raises(CourseError, match="course corpus fetch multi30k") as error:
        workload("multi30k", batch=4)
    assert "--corpus toy" in str(error.value)
    with pytest.raises(CourseError, match="multi30k or toy"):
        workload("bible", batch=4)
