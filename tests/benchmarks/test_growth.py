"""How cost grows: one factor at a time, whole rows."""

import pytest

from benchmarks import growth
from tests.benchmarks.conftest import Given

TINY = {"embedding": 8, "hidden": 8, "alignment": 8, "readout": 8}
VALUES = {"source_length": (2, 4), "target_length": (3, 5), "vocabulary": (50, 90), "batch": (1, 3)}


def test_one_factor_changes_at_a_time_and_nothing_is_padded() -> None:
    for point in growth.points(growth.VALUES):
        lengths = {(len(source) + 1, len(target) + 1) for source, target in point.work.pairs}
        [(source_length, target_length)] = lengths
        found = {
            "source_length": source_length,
            "target_length": target_length,
            "vocabulary": point.work.config.target_vocabulary,
            "batch": len(point.work.pairs),
        }
        assert found == {**growth.USUAL, point.factor: point.value}


@pytest.mark.slow
@pytest.mark.usefixtures("small_products")
def test_every_point_is_measured(given: Given) -> None:
    given(growth, {"ours": 0.25, "textbook": 1.0, "products": 1e9})
    result = growth.measure_growth(rounds=1, values=VALUES, **TINY)
    assert [(row["factor"], row["value"]) for row in result["rows"]] == [
        (factor, value) for factor, values in VALUES.items() for value in values
    ]
    for row, point in zip(result["rows"], growth.points(VALUES, **TINY), strict=True):
        assert (row["ours"], row["textbook"]) == (0.25, 1.0)
        assert row["limit"] == point.work.flops / 1e9
    # What is kept for the backward pass grows with every factor.
    for less, more in zip(result["rows"][::2], result["rows"][1::2], strict=True):
        assert more["kept_mib"] > less["kept_mib"] > 0, more["factor"]
