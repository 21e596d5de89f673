"""Where the time goes adds up, and both ways of a product give one result."""

import pytest
import torch

from benchmarks import profiling


@pytest.mark.slow
def test_shares_add_up_and_products_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    small = profiling.workload("toy", batch=4, batches=2, hidden=8)
    monkeypatch.setattr(profiling, "workload", lambda *_: small)
    result = profiling.measure_update("toy", batch=4)
    assert sum(result["shares"].values()) == pytest.approx(1)
    assert all(share > 0 for share in result["shares"].values())


def test_both_ways_of_a_product_give_one_result() -> None:
    for what, first, library in profiling._pairs():
        expected = first()
        found = library().reshape(len(expected), -1)[:, : expected[0].numel()]
        torch.testing.assert_close(
            found, expected.reshape(len(expected), -1), rtol=1e-4, atol=1e-4, msg=what
        )
