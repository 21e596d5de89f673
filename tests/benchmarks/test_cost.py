"""The cost model's measurement: predictions stand beside what processes and records say."""

from collections.abc import Callable

import pytest

from benchmarks import cost, record, report
from benchmarks.cost import Point
from course_lib.models import ModelConfig
from course_lib.training import RunConfig

Trained = tuple[ModelConfig, int, float]


@pytest.mark.slow
def test_memory_is_measured_in_a_process_of_its_own() -> None:
    small, large = cost.memory_rows(
        (
            Point("rnnsearch", "smoke", 100, 4, 5),
            Point("rnnsearch", "smoke", 20_000, 64, 20),
        )
    )
    # The second takes 200 MiB more and so does its process, roughly: what is freed is not all gone.
    more = {key: large[key] - small[key] for key in ("predicted", "measured")}
    assert more["predicted"] > 200
    assert 0.5 < more["measured"] / more["predicted"] < 2


def test_time_is_compared_with_every_recorded_update_but_the_one_it_is_taken_from() -> None:
    rows = cost.update_rows()
    assert len(rows) == len(record.read_results()["growth"]["rows"]) - 1
    doubled = {row["what"]: row["predicted"] for row in rows}
    # Twice the vocabulary adds the same again as the doubling before it did, twice.
    first, second, third = (doubled[f"vocabulary {k}"] for k in (1000, 2000, 4000))
    assert abs((third - second) / (second - first) - 2) < 1e-9


@pytest.mark.slow
def test_whole_trainings_stand_beside_what_their_size_predicts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Each trains in a process of its own, of which `pipeline.alone` is tested above."""
    took = {8: 60.0, 128: 30.0}

    def alone(work: Callable[[RunConfig], Trained], config: RunConfig) -> Trained:
        model, updates, seconds = work(config)
        assert seconds > 0
        return model, updates, took[model.hidden]

    monkeypatch.setattr(cost, "alone", alone)
    small = {"corpus.train": 200, "corpus.val": 8, "corpus.test": 8, "epochs": 1}
    sizes = [dict.fromkeys(("embedding", "hidden", "alignment", "readout"), n) for n in took]
    little, much = cost.whole_rows(
        tuple(
            RunConfig("rnnsearch", "toy", preset="smoke", changes={**small, **each})
            for each in sizes
        )
    )
    assert [row["what"] for row in (little, much)] == [
        f"rnnsearch, n = {n}, 7 updates" for n in took
    ]
    assert 0 < little["predicted"] < much["predicted"]
    assert [row["measured"] for row in (little, much)] == [1, 0.5]


def test_the_errors_are_those_of_the_rows() -> None:
    rows = [
        {"quantity": "memory", "what": name, "predicted": predicted, "measured": 4.0}
        for name, predicted in (("a", 8.0), ("b", 3.0), ("c", 4.0))
    ]
    errors = cost.errors_of(rows)
    assert errors == {"memory": {"points": 3, "median": 0.25, "worst": 1.0}}
    assert report.cost({"errors": errors})[1:] == [["memory", "3", "25%", "+100%"]]
