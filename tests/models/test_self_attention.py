"""Self-attention equals torch's and the paper's equations, and reads words as a set with places."""

import math

import numpy as np
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor, nn

from course_lib.models.self_attention import (
    MultiHeadAttention,
    SelfAttention,
    sinusoids,
)
from tests.models.tiny import random


def mask_of(*lengths: int, width: int = 0) -> Tensor:
    """(B, T): True at the real words of sentences of these lengths."""
    return torch.arange(max([width, *lengths])) < torch.tensor(lengths)[:, None]


def drawn(module: nn.Module, seed: int = 0) -> nn.Module:
    """The module in float64 with weights large enough for every nonlinearity to matter."""
    generator = torch.Generator().manual_seed(seed)
    for parameter in module.double().eval().parameters():
        parameter.data.normal_(std=0.6, generator=generator)
    return module


def encoder(layers: int = 2, seed: int = 0) -> SelfAttention:
    module = drawn(SelfAttention(3, 8, layers, heads=2, dropout=0.3), seed)
    assert isinstance(module, SelfAttention)
    return module


def attention_by_hand(q: np.ndarray, k: np.ndarray, v: np.ndarray, mask: np.ndarray) -> np.ndarray:
    """Equation 1 in NumPy, query by query and over the visible keys alone: (T_q, d_v)."""
    rows = []
    for query, visible in zip(q, mask, strict=True):
        exponentials = np.exp(k[visible] @ query / math.sqrt(len(query)))
        rows.append(exponentials / exponentials.sum() @ v[visible] if visible.any() else 0 * v[0])
    return np.stack(rows)


def test_heads_are_those_of_torch_with_the_same_weights() -> None:
    """Equal to torch.nn.MultiheadAttention: outputs, weights of each head, every gradient."""
    ours = drawn(MultiHeadAttention(12, 3))
    theirs = nn.MultiheadAttention(12, 3, bias=False, batch_first=True).double()
    stacked = torch.cat([ours.W_Q.weight, ours.W_K.weight, ours.W_V.weight])
    theirs.load_state_dict({"in_proj_weight": stacked, "out_proj.weight": ours.W_O.weight})
    mask = mask_of(5, 2)
    results = []
    for module in (ours, theirs):
        query, memory = random(2, 4, 12, grad=True), random(2, 5, 12, seed=1, grad=True)
        if module is ours:
            output, alpha = ours(query, memory, memory, mask[:, None])
        else:
            output, alpha = theirs(
                query, memory, memory, key_padding_mask=~mask, average_attn_weights=False
            )
        (output.square().sum() + alpha.square().sum()).backward()
        results.append([output, alpha, query.grad, memory.grad])
    results[0] += [
        torch.cat([ours.W_Q.weight.grad, ours.W_K.weight.grad, ours.W_V.weight.grad]),
        ours.W_O.weight.grad,
    ]
    results[1] += [theirs.in_proj_weight.grad, theirs.out_proj.weight.grad]
    for mine, reference in zip(*results, strict=True):
        torch.testing.assert_close(mine, reference, atol=1e-12, rtol=0)


def normed(rows: np.ndarray, weights: dict[str, np.ndarray]) -> np.ndarray:
    """Each row brought to mean 0 and variance 1, then scaled and moved."""
    centred = rows - rows.mean(axis=1, keepdims=True)
    spread = np.sqrt((centred**2).mean(axis=1, keepdims=True) + 1e-5)
    return centred / spread * weights["weight"] + weights["bias"]


def part(weights: dict[str, np.ndarray], prefix: str) -> dict[str, np.ndarray]:
    """The weights whose names begin so, without it."""
    return {n.removeprefix(prefix): w for n, w in weights.items() if n.startswith(prefix)}


def heads_by_hand(
    weights: dict[str, np.ndarray],
    asking: np.ndarray,
    asked: np.ndarray,
    mask: np.ndarray,
) -> np.ndarray:
    """Section 3.2.2 in NumPy, two heads one after the other: (T_q, d)."""
    width = asking.shape[1] // 2
    outputs = []
    for rows in (slice(0, width), slice(width, 2 * width)):
        q = asking @ weights["W_Q.weight"][rows].T
        keys, v = (asked @ weights[f"W_{name}.weight"][rows].T for name in "KV")
        outputs.append(attention_by_hand(q, keys, v, mask))
    return np.concatenate(outputs, axis=1) @ weights["W_O.weight"].T


def network_by_hand(weights: dict[str, np.ndarray], x: np.ndarray) -> np.ndarray:
    """The last part of a block over one sentence: (T, d) to (T, d)."""
    hidden = normed(x, part(weights, "norm_network.")) @ weights["W_1.weight"].T
    hidden = np.maximum(hidden + weights["W_1.bias"], 0)
    return x + hidden @ weights["W_2.weight"].T + weights["W_2.bias"]


def block_by_hand(weights: dict[str, np.ndarray], x: np.ndarray) -> np.ndarray:
    """One block over one sentence in NumPy, a position at a time: (T, d) to (T, d)."""
    x_normed = normed(x, part(weights, "norm_attention."))
    everything = np.ones((len(x), len(x)), dtype=bool)
    x = x + heads_by_hand(part(weights, "attention."), x_normed, x_normed, everything)
    return network_by_hand(weights, x)


def with_positions(words: np.ndarray) -> np.ndarray:
    """(T, d) words scaled and given their places, number by number."""
    x = words * math.sqrt(words.shape[1])
    for (pos, k), _ in np.ndenumerate(x):
        angle = pos / 10000 ** ((k - k % 2) / words.shape[1])
        x[pos, k] += math.cos(angle) if k % 2 else math.sin(angle)
    return x


def encoder_by_hand(weights: dict[str, np.ndarray], words: np.ndarray) -> np.ndarray:
    """The encoder's two blocks over one sentence: (T, m) to (T, d)."""
    x = with_positions(words @ weights["W_x.weight"].T)
    for layer in range(2):
        x = block_by_hand(part(weights, f"blocks.{layer}."), x)
    return normed(x, part(weights, "norm."))


def test_the_encoder_is_its_equations() -> None:
    module = encoder()
    words = random(2, 5, 3)
    tensors = {name: p.detach().numpy() for name, p in module.named_parameters()}
    annotations = module(words, mask_of(5, 3)).detach().numpy()
    for row, length in enumerate((5, 3)):
        expected = encoder_by_hand(tensors, words[row, :length].numpy())
        np.testing.assert_allclose(annotations[row, :length], expected, atol=1e-12)
    assert not annotations[1, 3:].any()


@settings(max_examples=25, deadline=None)
@given(order=st.permutations(range(5)))
def test_an_encoder_without_positions_reads_a_set(order: list[int]) -> None:
    """The same weights, drawn alike, and no waves: moved words take their annotations along."""
    told = encoder()
    untold = drawn(SelfAttention(3, 8, layers=2, heads=2, dropout=0.3, positions=False))
    assert told.state_dict().keys() == untold.state_dict().keys()
    words, mask = random(1, 5, 3), mask_of(5)
    plain = untold(words, mask)
    torch.testing.assert_close(untold(words[:, order], mask), plain[:, order], atol=1e-12, rtol=0)
    assert (plain - told(words, mask)).abs().max() > 1e-3


def test_waves_tell_positions_apart_and_distances_alike() -> None:
    waves = sinusoids(torch.arange(120, dtype=torch.double), 16)
    assert waves.shape == (120, 16)
    torch.testing.assert_close(waves[0], torch.tensor([0.0, 1.0], dtype=torch.double).repeat(8))
    products = waves @ waves.T
    for distance in (1, 7, 50):  # PE(pos + k) is a fixed rotation of PE(pos), so products agree
        along = products.diagonal(distance)
        torch.testing.assert_close(along, along[:1].expand_as(along))
        assert (along < 8 - 1e-3).all()
    assert sinusoids(torch.arange(3.0), 5).shape == (3, 5)


def test_the_weights_for_drawing_are_those_behind_the_annotations() -> None:
    module, words, mask = encoder(layers=3), random(2, 4, 3), mask_of(4, 2)
    annotations, weights = module.with_weights(words, mask)
    assert torch.equal(annotations, module(words, mask))
    assert [alpha.shape for alpha in weights] == [(2, 2, 4, 4)] * 3
    for alpha in weights:
        torch.testing.assert_close(alpha.sum(dim=-1), torch.ones(2, 2, 4, dtype=torch.double))
        assert not alpha[1, :, :, 2:].any()


def test_half_precision_keeps_positions_and_norms_exact() -> None:
    module = SelfAttention(3, 8, layers=2, heads=2, dropout=0.0)
    words, mask = torch.randn(1, 300, 3), torch.ones(1, 300, dtype=torch.bool)
    with torch.autocast("cpu", torch.bfloat16):
        half = module(words, mask)
    assert half.dtype == torch.float32
    torch.testing.assert_close(half, module(words, mask), atol=0.1, rtol=0.1)
