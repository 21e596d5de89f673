"""Contexts: where the weights may lie, what they add up to, and that company changes nothing."""

import numpy as np
import pytest
import torch
from course_lib.models.contexts import build_context
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from course_lib.models import ModelConfig
from course_lib.models.config import SCORES
from course_lib.models.scores import masked_softmax
from tests.models.tiny import encoder_for
from tests.reference.attention import look

n = 4
SCOPES = ("global", "local-m", "local-p")
LOOKS = [(context, scope) for context in SCORES for scope in SCOPES]


def context_of(name: str, scope: str, window: int = 2, seed: int = 0):
    config = ModelConfig(
        9,
        9,
        hidden=n,
        alignment=5,
        context=name if scope == "global" else f"{scope}-{name}",
        window=window,
        encoder=encoder_for(name),
    )
    context = build_context(config).double()
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in context.parameters():
            parameter.normal_(generator=generator)
    return context, config.annotation_size


def sentences(
    lengths: list[int], width: int, size: int, seed: int
) -> tuple[Tensor, Tensor, Tensor]:
    """Queries (B, n), annotations (B, width, size), mask. A sentence's numbers are its own: they
    depend on the seed and its place in the list, not on the width of the padding."""
    generator = torch.Generator().manual_seed(seed)
    queries, annotations = [], torch.zeros(len(lengths), width, size, dtype=torch.double)
    for row, length in enumerate(lengths):
        queries.append(torch.randn(n, dtype=torch.double, generator=generator))
        annotations[row, :length] = torch.randn(
            length, size, dtype=torch.double, generator=generator
        )
    return torch.stack(queries), annotations, torch.arange(width) < torch.tensor(lengths)[:, None]


lengths = st.lists(st.integers(1, 7), min_size=1, max_size=4)


@pytest.mark.parametrize(("name", "scope"), LOOKS)
@settings(max_examples=25, deadline=None)
@given(
    lengths=lengths,
    extra=st.integers(0, 3),
    window=st.integers(1, 4),
    step=st.integers(0, 9),
    seed=st.integers(0, 99),
)
def test_a_look_is_its_equations_and_stays_within_mask_and_window(
    name, scope, lengths, extra, window, step, seed
) -> None:
    context, size = context_of(name, scope, window)
    queries, annotations, mask = sentences(lengths, max(lengths) + extra, size, seed)
    annotations[~mask] = 1e6  # what lies in the padding is never read
    c, alpha = context(queries, context.prepare(annotations, mask), step)
    assert not alpha[~mask].any()
    p = {key.split(".")[-2]: w.detach().numpy() for key, w in context.named_parameters()}
    p |= {key: p[key][0] for key in ("v_a", "v_p") if key in p}
    totals = alpha.sum(dim=1).tolist()
    for row, length in enumerate(lengths):
        h = annotations[row, :length].numpy()
        expected = look(p, name, scope, window, queries[row].numpy(), h, step)
        np.testing.assert_allclose(alpha[row, :length].detach(), expected.alpha, atol=1e-12)
        np.testing.assert_allclose(c[row].detach(), expected.context, atol=1e-12)
        if scope == "global":
            assert totals[row] == pytest.approx(1)
        elif scope == "local-m":
            inside = range(max(0, step - window), min(length, step + window + 1))
            outside = [j for j in range(length) if j not in inside]
            assert not alpha[row, outside].any()
            assert totals[row] == pytest.approx(1 if len(inside) else 0)
        else:
            assert 0 < totals[row] <= 1 + 1e-12
            assert (alpha[row] > 0).sum() <= 2 * window + 1


@pytest.mark.parametrize(("name", "scope"), LOOKS)
def test_a_sentence_without_words_gives_zeros_and_no_nan_gradient(name, scope) -> None:
    context, size = context_of(name, scope)
    queries, annotations, mask = sentences([4, 0], 4, size, 0)
    queries.requires_grad_()
    annotations.requires_grad_()
    c, alpha = context(queries, context.prepare(annotations, mask), 1)
    assert not alpha[1].any()
    assert not c[1].any()
    (c.square().sum() + alpha.square().sum()).backward()
    for tensor in (queries.grad, annotations.grad, *(p.grad for p in context.parameters())):
        assert tensor.isfinite().all()
    assert not queries.grad[1].any()
    assert not annotations.grad[1].any()
    assert queries.grad[0].any()


def test_half_precision_keeps_positions_exact() -> None:
    """Words on either side of p_i = 150.5 have equal weights; bfloat16 knows only 150 and 151."""
    context, size = context_of("general", "local-p", window=10)
    for parameter in context.float().parameters():
        torch.nn.init.zeros_(parameter)
    queries, annotations, mask = sentences([301], 301, size, 0)
    queries, annotations = queries.float(), annotations.float()
    whole = context(queries, context.prepare(annotations, mask), 0)[1]
    with torch.autocast("cpu", dtype=torch.bfloat16):
        c, alpha = context(queries, context.prepare(annotations, mask), 0)
    assert c.isfinite().all()
    torch.testing.assert_close(alpha.float(), whole, atol=1e-3, rtol=0)
    torch.testing.assert_close(alpha[:, 141:151], alpha[:, 151:161].flip(1))
    context.bfloat16()
    memory = context.prepare(annotations.bfloat16(), mask)
    c, alpha = context(queries.bfloat16(), memory, 0)
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
