"""Attention: where the weights lie, what they add up to, and the c that comes of them."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor, nn
from torch.nn.functional import scaled_dot_product_attention

from course_lib.errors import CourseError
from course_lib.models import Attention, FixedContext, ModelConfig, masked_softmax
from course_lib.models.scores import DotAttention
from tests.models.tiny import encoder_for, random, tiny_model
from tests.reference.attention import look
from tests.reference.translator import SCORES, Choices

n = 4
LOOKS = [(score, window) for score in SCORES for window in (0, 1, 3)]


def attention_of(score: str, window: int) -> tuple[nn.Module, int]:
    """The attention of a tiny model, and how many numbers its annotations have."""
    model = tiny_model(Choices(score, window, encoder=encoder_for(score)))
    return model.decoder.attention, model.config.annotation_size


def sentences(
    lengths: list[int], width: int, size: int, seed: int
) -> tuple[Tensor, Tensor, Tensor]:
    """States (B, n), annotations (B, width, size), mask."""
    mask = torch.arange(width) < torch.tensor(lengths)[:, None]
    rows = len(lengths)
    annotations = random(rows, width, size, seed=seed + 1) * mask[..., None]
    return random(rows, n, seed=seed), annotations, mask


@pytest.mark.parametrize(("score", "window"), LOOKS)
@settings(max_examples=25, deadline=None)
@given(
    lengths=st.lists(st.integers(1, 7), min_size=1, max_size=4),
    extra=st.integers(0, 3),
    seed=st.integers(0, 99),
)
def test_a_look_is_its_equations_and_stays_within_mask_and_window(
    score: str, window: int, lengths: list[int], extra: int, seed: int
) -> None:
    attention, size = attention_of(score, window)
    states, annotations, mask = sentences(lengths, max(lengths) + extra, size, seed)
    annotations[~mask] = 1e6  # what lies in the padding is never read
    with torch.no_grad():
        c, alpha = attention(states, attention.keys(annotations), annotations, mask)
    assert c.shape == (len(lengths), size)
    assert not alpha[~mask].any()
    p = {name.split(".")[-2]: w.detach().numpy() for name, w in attention.named_parameters()}
    p |= {name: p[name][0] for name in ("v_a", "v_p") if name in p}
    for row, length in enumerate(lengths):
        h = annotations[row, :length].numpy()
        expected = look(p, score, window, states[row].numpy(), h)
        np.testing.assert_allclose(alpha[row, :length], expected.alpha, atol=1e-12)
        np.testing.assert_allclose(c[row], expected.context, atol=1e-12)
        # c_i = sum_j alpha_ij h_j, of the weights that are handed out
        by_hand = sum(float(alpha[row, j]) * h[j] for j in range(length))
        np.testing.assert_allclose(c[row], by_hand, atol=1e-12)
        total = alpha[row].sum().item()
        if window:
            assert 0 <= total <= 1 + 1e-12
            assert (alpha[row] > 0).sum() <= 2 * window + 1
        else:
            assert total == pytest.approx(1)


def test_a_fixed_context_is_the_last_real_forward_state() -> None:
    """Of annotations with marks for numbers, in a padded batch, whatever the state asks."""
    j = torch.arange(5.0)
    annotations = torch.stack([j, j + 10, j + 20, j + 30], dim=1).expand(3, 5, 4)
    mask = torch.arange(5) < torch.tensor([5, 1, 3])[:, None]
    context = FixedContext(2)
    for seed in (0, 1):
        c, alpha = context(random(3, 7, seed=seed), context.keys(annotations), annotations, mask)
        assert alpha is None
        assert c.tolist() == [[4, 14], [0, 10], [2, 12]]


@pytest.mark.parametrize(("score", "window"), LOOKS)
def test_a_sentence_without_words_gives_zeros_and_no_nan_gradient(score: str, window: int) -> None:
    attention, size = attention_of(score, window)
    states, annotations, mask = sentences([4, 0], 4, size, 0)
    states.requires_grad_()
    annotations.requires_grad_()
    c, alpha = attention(states, attention.keys(annotations), annotations, mask)
    assert not alpha[1].any()
    assert not c[1].any()
    (c.square().sum() + alpha.square().sum()).backward()
    for tensor in (states.grad, annotations.grad, *(p.grad for p in attention.parameters())):
        assert tensor.isfinite().all()
    assert not states.grad[1].any()
    assert not annotations.grad[1].any()
    assert states.grad[0].any()


def test_half_precision_keeps_positions_exact() -> None:
    """Words on either side of p_i = 150.5 have equal weights; bfloat16 knows only 150 and 151."""
    attention, size = attention_of("general", 10)
    for parameter in attention.float().parameters():
        torch.nn.init.zeros_(parameter)
    states, annotations, mask = sentences([301], 301, size, 0)
    states, annotations = states.float(), annotations.float()
    whole = attention(states, attention.keys(annotations), annotations, mask)[1]
    with torch.autocast("cpu", dtype=torch.bfloat16):
        c, alpha = attention(states, attention.keys(annotations), annotations, mask)
    assert c.isfinite().all()
    torch.testing.assert_close(alpha.float(), whole, atol=1e-3, rtol=0)
    torch.testing.assert_close(alpha[:, 141:151], alpha[:, 151:161].flip(1))
    attention.bfloat16()
    states, annotations = states.bfloat16(), annotations.bfloat16()
    c, alpha = attention(states, attention.keys(annotations), annotations, mask)
    assert c.dtype == alpha.dtype == torch.bfloat16
    torch.testing.assert_close(alpha.float(), whole, atol=1e-3, rtol=0)


@settings(max_examples=50, deadline=None)
@given(data=st.data(), width=st.integers(1, 6))
def test_masked_softmax_is_softmax_over_what_is_left(data, width) -> None:
    """Any mask, energies of any size: weights of the rest, exact zeros, no NaN, sum 1 or 0."""
    number = st.floats(-1e30, 1e30)
    energies = torch.tensor(
        data.draw(st.lists(number, min_size=width, max_size=width)), dtype=torch.double
    ).requires_grad_()
    mask = torch.tensor(data.draw(st.lists(st.booleans(), min_size=width, max_size=width)))
    alpha = masked_softmax(energies[None], mask[None])[0]
    assert not alpha[~mask].any()
    if mask.any():
        torch.testing.assert_close(alpha[mask], energies[mask].softmax(dim=0))
    alpha.square().sum().backward()
    assert energies.grad.isfinite().all()
    assert not energies.grad[~mask].any()


@pytest.mark.parametrize("lengths", [[5, 5, 5], [5, 2, 1]], ids=["whole", "padded"])
def test_a_look_with_the_scaled_dot_is_torchs_attention(lengths: list[int]) -> None:
    """Values and derivatives of `scaled_dot_product_attention` with one query a sentence."""
    attention: Attention = DotAttention(n, n, n**-0.5)
    results = []
    for ours in (True, False):
        states, annotations, mask = sentences(lengths, 5, n, 0)
        states.requires_grad_()
        annotations.requires_grad_()
        if ours:
            c, _ = attention(states, attention.keys(annotations), annotations, mask)
        else:
            looked = scaled_dot_product_attention(
                states[:, None], annotations, annotations, attn_mask=mask[:, None]
            )
            c = looked[:, 0]
        (c * random(3, n, seed=2)).sum().backward()
        results.append((c.detach(), states.grad, annotations.grad))
    for found, expected in zip(*results, strict=True):
        torch.testing.assert_close(found, expected, atol=1e-12, rtol=0)


@pytest.mark.parametrize("name", ["dot", "scaled-dot"])
def test_unequal_sizes_name_the_scores_that_can(name: str) -> None:
    errors = []
    for refused in (
        lambda: DotAttention(n, 2 * n),
        lambda: ModelConfig(10, 10, hidden=n, context=name),
    ):
        with pytest.raises(CourseError) as caught:
            refused()
        errors.append(str(caught.value))
    assert errors[0] == errors[1]
    assert "\n" not in errors[0]
    # What the line recommends does work.
    for other in ("general", "concat", "additive"):
        assert other in errors[0]
        ModelConfig(10, 10, hidden=n, context=other)
    ModelConfig(10, 10, hidden=n, context=name, encoder=encoder_for(name))
