"""The benchmark of one look back: every score."""

import pytest

from benchmarks import attention

pytestmark = pytest.mark.usefixtures("small_products")


def test_every_score_is_measured_at_every_length() -> None:
    result = attention.measure_attention(batch=2, rounds=1, size=8, lengths=(3, 5))
    rows = {(row["score"], row["size"], row["source_length"]) for row in result["rows"]}
    assert rows == {(score, 8, t_x) for score in attention.SCORES for t_x in (3, 5)}
    for row in result["rows"]:
        assert row["ratio"] == pytest.approx(row["ours"] / row["textbook"])
        assert row["fraction_of_limit"] == pytest.approx(row["ours"] / row["limit"])
        assert row["bounded_by"] in ("products", "memory", "tanh")
    assert result["ours"] == result["rows"][0]["ours"]
