"""Weights in 8 bits: how near they are, and that they are the same for whoever reads them."""

import torch
from torch import Tensor

from course_lib.models.quantised import LARGEST_INT8, SCALE, dequantised, quantised


def tensors(seed: int = 0) -> dict[str, Tensor]:
    numbers = torch.Generator().manual_seed(seed)
    wide = torch.randn(40, 33, generator=numbers) * torch.logspace(-6, 4, 40)[:, None]
    wide[7] = 0
    return {"W.weight": wide, "W.bias": torch.randn(40, generator=numbers)}


def test_a_weight_is_off_by_half_a_scale_at_most() -> None:
    before = tensors()
    stored = quantised(before)
    after = dequantised(stored)
    assert stored["W.weight"].dtype == torch.int8
    assert stored["W.weight"].abs().max() == LARGEST_INT8
    scale = stored["W.weight" + SCALE]
    # 12 binary digits make the scale at most a 2048th larger than it need be.
    assert (scale <= before["W.weight"].abs().amax(dim=1) / LARGEST_INT8 * (1 + 2**-11)).all()
    assert ((after["W.weight"] - before["W.weight"]).abs() <= scale[:, None] * 0.5001).all()
    assert torch.equal(after["W.bias"], before["W.bias"])


def test_stored_again_nothing_changes() -> None:
    once = quantised(tensors())
    twice = quantised(dequantised(once))
    assert once.keys() == twice.keys()
    assert all(torch.equal(once[name], twice[name]) for name in once)


def test_single_precision_holds_each_weight_exactly() -> None:
    stored = quantised(tensors())
    exact = stored["W.weight"].double() * stored["W.weight" + SCALE].double()[:, None]
    assert torch.equal(dequantised(stored)["W.weight"].double(), exact)


def test_a_large_weight_costs_its_own_row_alone() -> None:
    before, changed = tensors(), tensors()
    changed["W.weight"][3, 0] = 1e6
    one, other = quantised(before)["W.weight"], quantised(changed)["W.weight"]
    rows = [row for row in range(40) if not torch.equal(one[row], other[row])]
    assert rows == [3]


def test_half_precision_passes_through() -> None:
    half = {"E.weight": torch.randn(3, 4).half()}
    assert torch.equal(dequantised(half)["E.weight"], half["E.weight"])
