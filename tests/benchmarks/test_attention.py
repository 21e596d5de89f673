"""The benchmark of one look back: every score."""

import pytest
import torch

from benchmarks import attention
from benchmarks.report import as_text

pytestmark = pytest.mark.usefixtures("small_products")


def test_every_score_is_measured_at_every_size_and_length() -> None:
    result = attention.measure_attention(batch=2, rounds=1, sizes=(8,), lengths=(3, 5))
    rows = {(row["score"], row["size"], row["source_length"]) for row in result["rows"]}
    assert rows == {(score, 8, t_x) for score in attention.SCORES for t_x in (3, 5)}
    for row in result["rows"]:
        assert row["ratio"] == pytest.approx(row["ours"] / row["textbook"])
        assert row["fraction_of_limit"] == pytest.approx(row["ours"] / row["limit"])
        assert row["bounded_by"] in ("products", "memory", "tanh")
    assert result["ours"] == result["rows"][0]["ours"]
    assert all(score in as_text(result) for score in attention.SCORES)


def test_threads_are_as_before_afterwards() -> None:
    before = torch.get_num_threads()
    attention.measure_attention(threads=2, batch=1, rounds=1, sizes=(8,), lengths=(3,))
    assert torch.get_num_threads() == before
