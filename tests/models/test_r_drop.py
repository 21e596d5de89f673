"""R-Drop: the mean loss of two readings and what holds them together, against NumPy."""

import numpy as np
import pytest
import torch

from course_lib.models import EncoderDecoder, ModelConfig, build_model
from course_lib.models.translator import disagreement
from tests.models.tiny import PAIRS, batch_of

CONFIG = ModelConfig(9, 9, embedding=6, hidden=8, alignment=5, readout=6)
BATCH = batch_of(PAIRS)
WORDS = int(BATCH.target_mask.sum())


def model_with(dropout: float) -> EncoderDecoder:
    config = ModelConfig(**{**CONFIG.to_dict(), "dropout": dropout})
    return build_model(config).double().train()


def kl(p: np.ndarray, q: np.ndarray) -> float:
    """KL(p || q), summed over rows; both are log-probabilities."""
    return float(np.sum(np.exp(p) * (p - q)))


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
def test_the_loss_is_the_mean_of_two_readings_and_their_disagreement(smoothing: float) -> None:
    model, seen = model_with(0.3), []
    hook = model.decoder.W_o.register_forward_hook(lambda *call: seen.append(call[2]))
    loss, words = model(BATCH, smoothing, r_drop=2.5)
    hook.remove()
    logits = seen[0].detach().numpy()
    log_probs = logits - np.logaddexp.reduce(logits, axis=-1, keepdims=True)
    one, other = np.split(log_probs, 2)
    assert one.shape == (WORDS, 9)
    assert int(words) == WORDS
    truth = np.full((WORDS, 9), smoothing / 9)
    truth[np.arange(WORDS), BATCH.target_out[BATCH.target_mask]] += 1 - smoothing
    entropy = -np.sum(truth * one) - np.sum(truth * other)
    expected = (entropy + 2.5 / 2 * (kl(one, other) + kl(other, one))) / 2
    assert kl(one, other) > 0.01
    assert loss.item() == pytest.approx(expected, rel=1e-12)


def test_without_dropout_two_readings_agree() -> None:
    model = model_with(0.0)
    (twice, _), (once, _) = model(BATCH, r_drop=5.0), model.loss(BATCH)
    torch.testing.assert_close(twice, once, atol=1e-12, rtol=0)


def test_the_gradient_of_the_disagreement_is_right() -> None:
    generator = torch.Generator().manual_seed(0)
    one, other = (
        torch.randn(3, 5, dtype=torch.double, generator=generator, requires_grad=True)
        for _ in range(2)
    )

    assert torch.autograd.gradcheck(disagreement, (one, other))
    assert disagreement(one, one).item() == 0
