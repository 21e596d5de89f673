"""The recurrent units: their equations, torch's modules, and where the two gated ones part."""

import pytest
import torch
from torch import Tensor, nn

from course_lib.models import GatedUnit
from course_lib.models.units import LSTMUnit, TanhUnit, TorchUnit
from tests.models.tiny import random

m, n = 3, 4
TORCH_CELLS = {TanhUnit: nn.RNNCell, TorchUnit: nn.GRUCell, LSTMUnit: nn.LSTMCell}


def drawn(module: nn.Module, seed: int = 0) -> nn.Module:
    """The module in double precision, every weight from N(0, 1)."""
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in module.double().parameters():
            parameter.normal_(generator=generator)
    return module


def torch_cell(unit: GatedUnit) -> nn.Module:
    """The cell of torch.nn with the unit's weights."""
    cell = TORCH_CELLS[type(unit)](m, n).double()
    state_bias = unit.U.bias if unit.U.bias is not None else torch.zeros_like(unit.W.bias)
    weights = {"weight_ih": unit.W.weight, "bias_ih": unit.W.bias, "weight_hh": unit.U.weight}
    cell.load_state_dict({**weights, "bias_hh": state_bias})
    return cell


@pytest.mark.parametrize("kind", TORCH_CELLS)
def test_a_step_is_that_of_torchs_cell(kind: type[GatedUnit]) -> None:
    unit = drawn(kind(m, n))
    x, h = random(5, m), random(5, n, seed=2)
    if kind is LSTMUnit:
        cell = random(5, n, seed=3)
        new_h, new_cell = torch_cell(unit)(x, (h, cell))
        state, expected = torch.cat([cell, h], dim=1), torch.cat([new_cell, new_h], dim=1)
    else:
        state, expected = h, torch_cell(unit)(x, h)
    torch.testing.assert_close(unit(unit.W(x), state), expected, atol=1e-14, rtol=0)


def same_weights(reset_bias: float, seed: int = 0) -> tuple[GatedUnit, TorchUnit]:
    """The two gated units with equal weights, z renamed: 1 - sigma(a) = sigma(-a).

    The reset gates get no weights, only `reset_bias`, unless that is NaN.
    """
    paper, other = drawn(GatedUnit(m, n), seed), drawn(TorchUnit(m, n), seed)
    with torch.no_grad():
        W_z, W_r, W = paper.W.weight.split(n)
        b_z, b_r, b = paper.W.bias.split(n)
        U_z, U_r = paper.U_gates.weight.split(n)
        if reset_bias == reset_bias:
            for weight in (W_r, U_r):
                weight.zero_()
            b_r.fill_(reset_bias)
        other.W.weight.copy_(torch.cat([W_r, -W_z, W]))
        other.W.bias.copy_(torch.cat([b_r, -b_z, b]))
        other.U.weight.copy_(torch.cat([U_r, -U_z, paper.U.weight]))
        other.U.bias.zero_()
    return paper, other


def difference(paper: GatedUnit, other: TorchUnit, state: Tensor) -> float:
    x = random(5, m)
    return (paper(paper.W(x), state) - other(other.W(x), state)).abs().max().item()


@pytest.mark.parametrize("reset_bias", [1000.0, 0.3, -1000.0])
def test_with_one_reset_value_for_all_units_the_two_gated_units_agree(reset_bias: float) -> None:
    """r = 1 is a plain candidate, r = 0 forgets; any one number can change places with U."""
    paper, other = same_weights(reset_bias)
    assert difference(paper, other, random(5, n, seed=2)) < 1e-14


def test_with_a_reset_value_for_each_unit_they_part() -> None:
    paper, other = same_weights(float("nan"))
    assert difference(paper, other, random(5, n, seed=2)) > 0.1
    assert difference(paper, other, torch.zeros(5, n, dtype=torch.double)) < 1e-14
