"""How weights are drawn: the paper's way, and the same ones for the same seed."""

from dataclasses import replace

import pytest
import torch

from course_lib.models import ModelConfig, build_model, model_config
from course_lib.models.config import CHOICES


def test_the_papers_initialisation() -> None:
    """Appendix B.1."""
    config = replace(model_config("rnnsearch", "paper", 50, 50), embedding=40, hidden=60)
    model = build_model(config)
    U = model.decoder.unit.U.weight
    torch.testing.assert_close(U @ U.T, torch.eye(60), atol=1e-5, rtol=0)
    for block in model.encoder.back.U_gates.weight.split(60):
        torch.testing.assert_close(block @ block.T, torch.eye(60), atol=1e-5, rtol=0)
    assert not model.decoder.attention.v_a.weight.any()
    assert all(not p.any() for name, p in model.named_parameters() if name.endswith("bias"))
    assert model.decoder.attention.U_a.weight.std().item() == pytest.approx(0.001, rel=0.05)
    assert model.decoder.C.weight.std().item() == pytest.approx(0.01, rel=0.05)
    assert model.encoder.E.weight[1:].std().item() == pytest.approx(0.01, rel=0.05)


@pytest.mark.parametrize("scheme", CHOICES["initialisation"])
@pytest.mark.parametrize("unit", CHOICES["unit"])
def test_every_recurrent_matrix_of_every_layer_starts_orthogonal(unit: str, scheme: str) -> None:
    """Gates stacked in one tensor are matrices of their own; input matrices are not orthogonal."""
    n = 6
    config = ModelConfig(9, 9, embedding=6, hidden=n, unit=unit, layers=2, initialisation=scheme)
    square = 0
    for name, weight in build_model(config).named_parameters():
        if any(part in name for part in (".U.weight", ".U_gates.weight", ".weight_hh_")):
            for block in weight.split(n):
                torch.testing.assert_close(block @ block.T, torch.eye(n), atol=1e-5, rtol=0)
                square += 1
    # Two directions and the decoder, two layers each.
    assert square == 6 * {"tanh": 1, "paper": 3, "torch": 3, "lstm": 4}[unit]


@pytest.mark.parametrize("scheme", CHOICES["initialisation"])
@pytest.mark.parametrize("encoder", CHOICES["encoder"])
def test_padding_starts_at_zero_and_nothing_starts_dead(encoder: str, scheme: str) -> None:
    config = ModelConfig(
        9, 9, embedding=4, hidden=4, alignment=4, readout=4, encoder=encoder, initialisation=scheme
    )
    model = build_model(config)
    assert not model.encoder.E.weight[0].any()
    assert not model.decoder.E.weight[0].any()
    zero = {name for name, p in model.named_parameters() if p.dim() > 1 and not p.any()}
    assert zero == ({"decoder.attention.v_a.weight"} if scheme == "paper" else set())


def test_the_same_seed_draws_the_same_weights_and_leaves_the_generator_alone() -> None:
    config = model_config("rnnsearch", "smoke", 20, 20)
    torch.manual_seed(5)
    expected = torch.rand(3)
    torch.manual_seed(5)
    first, second = build_model(config, 1), build_model(config, 1)
    assert torch.equal(torch.rand(3), expected)
    for a, b in zip(first.parameters(), second.parameters(), strict=True):
        assert torch.equal(a, b)
    other = build_model(config, 2)
    assert not torch.equal(first.decoder.W_o.weight, other.decoder.W_o.weight)
