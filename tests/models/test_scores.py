"""The scores: what equals what, and what is refused; their equations are held in test_contexts."""

import pytest
import torch
from course_lib.models.contexts import AttentionContext
from torch.nn.functional import scaled_dot_product_attention

from course_lib.errors import CourseError
from course_lib.models.config import ModelConfig
from course_lib.models.scores import build_score
from tests.models.tiny import encoder_for, random

B, T, n, hidden = 3, 5, 4, 6
NEEDS_EQUAL_SIZES = ("dot", "scaled-dot")


@pytest.mark.parametrize("padded", [False, True])
def test_a_look_with_the_scaled_dot_is_torchs_attention(padded: bool) -> None:
    """Values and derivatives of `scaled_dot_product_attention` with one query a sentence."""
    mask = torch.arange(T) < torch.tensor([T, 2, 1] if padded else [T] * B)[:, None]
    context = AttentionContext(build_score("scaled-dot", n, n, hidden), n)
    results = []
    for ours in (True, False):
        query, annotations = random(B, n).requires_grad_(), random(B, T, n, seed=1).requires_grad_()
        if ours:
            c, _ = context(query, context.prepare(annotations, mask))
        else:
            looked = scaled_dot_product_attention(
                query[:, None], annotations, annotations, attn_mask=mask[:, None]
            )
            c = looked[:, 0]
        (c * random(B, n, seed=2)).sum().backward()
        results.append((c.detach(), query.grad, annotations.grad))
    for found, expected in zip(*results, strict=True):
        torch.testing.assert_close(found, expected, atol=1e-12, rtol=0)


@pytest.mark.parametrize("name", NEEDS_EQUAL_SIZES)
def test_unequal_sizes_name_the_scores_that_can(name: str) -> None:
    errors = []
    for refused in (
        lambda: build_score(name, n, 2 * n, hidden),
        lambda: ModelConfig(10, 10, hidden=n, context=name),
    ):
        with pytest.raises(CourseError) as caught:
            refused()
        errors.append(str(caught.value))
    assert errors[0] == errors[1]
    for word in ("4", "8", "general", "concat", "additive"):
        assert word in errors[0]
    assert "\n" not in errors[0]
    # What the line recommends does work.
    for other in ("general", "concat", "additive"):
        ModelConfig(10, 10, hidden=n, context=other)
    ModelConfig(10, 10, hidden=n, context=name, encoder=encoder_for(name))
