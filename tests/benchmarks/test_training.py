"""The training benchmark on a tiny workload: complete, consistent, and the same work for all."""

import json
from typing import Any

import pytest

from benchmarks import training
from benchmarks.report import as_text
from benchmarks.workload import Workload, workload
from course_lib.errors import CourseError

TINY = {"embedding": 8, "hidden": 8, "alignment": 8, "readout": 8}


@pytest.fixture(scope="module")
def work() -> Workload:
    return workload("toy", batch=4, batches=3, **TINY)


@pytest.fixture(scope="module")
def result(work: Workload) -> dict[str, Any]:
    return training.compare(work, "toy", threads=1, rounds=2)


def test_both_orders_are_the_same_pairs_and_only_one_is_sorted(work: Workload) -> None:
    everything = list(range(len(work.pairs)))
    for order in (work.bucketed(), work.shuffled()):
        assert sorted(position for batch in order for position in batch) == everything
        assert {len(batch) for batch in order} == {work.batch}

    def padding(order: list[list[int]]) -> int:
        lengths = [[len(work.pairs[i][1]) for i in batch] for batch in order]
        return sum(max(batch) * len(batch) - sum(batch) for batch in lengths)

    assert padding(work.bucketed()) < padding(work.shuffled())


def test_the_workload_is_drawn_the_same_every_time(work: Workload) -> None:
    assert workload("toy", batch=4, batches=3, **TINY) == work


def test_every_key_is_there_and_fits_the_others(result: dict[str, Any]) -> None:
    json.dumps(result)
    for key in ("ours", "textbook", "textbook_bucketed", "limit"):
        assert result[key] > 0
    assert result["ratio"] == result["ours"] / result["textbook"]
    assert result["ratio_bucketed"] == result["ours"] / result["textbook_bucketed"]
    assert 0 < result["fraction_of_limit"] == result["ours"] / result["limit"] < 1
    assert result["limit"] * result["mflop_a_token"] == pytest.approx(
        result["gflops_of_products"] * 1e3
    )
    assert all(len(speeds) == 2 for speeds in result["by_round"].values())
    assert result["peak_mib"].keys() == result["by_round"].keys()
    assert all(peak > result["peak_mib_before_training"] for peak in result["peak_mib"].values())
    assert sum(result["share_of_operations"].values()) == pytest.approx(1)


def test_bf16_is_measured_where_the_processor_has_it(
    work: Workload, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[dict[str, Any]] = []
    timing = training.Timing([[1.0] * 3], peak=1, empty=1)

    def take_turns(programs: dict[str, Any], **_: Any) -> dict[str, training.Timing]:
        asked.append(programs)
        return dict.fromkeys(programs, timing)

    monkeypatch.setattr(training, "take_turns", take_turns)
    for has in (False, True):
        monkeypatch.setattr(training, "has_fast_bf16", lambda has=has: has)
        found = training.compare(work, "toy", threads=1, rounds=1)
        assert ("ours_bf16" in asked[-1]) == has
        assert (found["ratio_bf16"] is not None) == has


def test_the_table_shows_what_was_measured(result: dict[str, Any]) -> None:
    text = as_text(result)
    for shown in ("textbook, batches in random order", "course_lib, fp32", "limit", "MiB", "toy"):
        assert shown in text
    assert f"{result['ratio']:.2f}" in text


def test_without_the_corpus_one_line_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("benchmarks.workload.locate", lambda _: None)
    with pytest.raises(CourseError, match="course corpus fetch multi30k") as error:
        workload("multi30k", batch=4)
    assert "--corpus toy" in str(error.value)
    with pytest.raises(CourseError, match="multi30k or toy"):
        workload("bible", batch=4)
