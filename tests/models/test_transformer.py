"""The Transformer equals the paper's equations in NumPy, and no word sees what comes after it."""

import numpy as np
import torch

from course_lib.models.transformer import Transformer
from tests.models.test_self_attention import (
    drawn,
    encoder_by_hand,
    heads_by_hand,
    mask_of,
    network_by_hand,
    normed,
    part,
    with_positions,
)

Weights = dict[str, np.ndarray]
SOURCE, READ = (
    torch.tensor([[3, 1, 4, 1, 5], [2, 6, 5, 0, 0]]),
    torch.tensor([[1, 5, 2, 4], [1, 3, 3, 2]]),
)
LENGTHS = (5, 3)


def model() -> Transformer:
    made = drawn(Transformer(7, 6, size=8, layers=2, heads=2, dropout=0.3))
    assert isinstance(made, Transformer)
    return made


def logits_by_hand(w: Weights, source: np.ndarray, read: np.ndarray) -> np.ndarray:
    """Encoder and decoder of one sentence without padding: (T_y, K)."""
    annotations = encoder_by_hand(part(w, "encoder."), w["E_x.weight"][source])
    y = with_positions(w["E_y.weight"][read])
    earlier = np.tril(np.ones((len(read), len(read)), dtype=bool))
    all_words = np.ones((len(read), len(source)), dtype=bool)
    for layer in range(2):
        own = part(w, f"blocks.{layer}.")
        y_normed = normed(y, part(own, "norm_self."))
        y = y + heads_by_hand(part(own, "self_attention."), y_normed, y_normed, earlier)
        y_normed = normed(y, part(own, "norm_cross."))
        y = y + heads_by_hand(part(own, "cross_attention."), y_normed, annotations, all_words)
        y = network_by_hand(own, y)
    return normed(y, part(w, "norm.")) @ w["W_o.weight"].T + w["W_o.bias"]


def test_it_is_its_equations_in_a_padded_batch() -> None:
    whole = model()
    logits, _ = whole(SOURCE, mask_of(*LENGTHS), READ)
    weights = {name: p.detach().numpy() for name, p in whole.named_parameters()}
    for row, length in enumerate(LENGTHS):
        expected = logits_by_hand(weights, SOURCE[row, :length].numpy(), READ[row].numpy())
        np.testing.assert_allclose(logits[row].detach().numpy(), expected, atol=1e-12)


def test_no_word_sees_a_later_one() -> None:
    """So what was computed of the earlier ones can be kept."""
    whole, mask = model(), mask_of(*LENGTHS)
    logits, weights = whole(SOURCE, mask, READ)
    for end in range(1, 4):
        first, _ = whole(SOURCE, mask, READ[:, :end])
        torch.testing.assert_close(first, logits[:, :end], atol=1e-12, rtol=0)
    changed = READ.clone()
    changed[:, 2:] = 0
    assert (whole(SOURCE, mask, changed)[0] - logits)[:, 2:].abs().max() > 1e-3
    for alpha_read, alpha_source in weights:
        assert not alpha_read.triu(1).any()
        assert not alpha_source[1, ..., 3:].any()
        for alpha in (alpha_read, alpha_source):
            torch.testing.assert_close(alpha.sum(-1), torch.ones(2, 2, 4, dtype=torch.double))


def test_every_weight_learns() -> None:
    whole = model()
    whole(SOURCE, mask_of(*LENGTHS), READ)[0].square().sum().backward()
    for name, parameter in whole.named_parameters():
        assert parameter.grad is not None, name
        assert parameter.grad.any(), name
