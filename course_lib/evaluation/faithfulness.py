"""Do the weights explain the output? Two experiments, the first of them Jain and Wallace's (2019).

How far the next word's distribution moves is its total variation distance, from 0 to 1
(`total_variation`), while the words so far are the true ones.

left_out_words (their Section 4.1, leave one out): leave one source word out of the sentence itself
    and read the rest anew. Words of large weight should be the ones that matter.
erased_words (not theirs): take one source word's weight of a step away and share it out among the
    others. An erased word is still in the annotations of its neighbours.

An erasure changes the weights of a single step and nothing else: the state is the one that the true
words lead to, and the decoder's own code runs with another object in the place of its attention.

Results have NaN at padding, so that it can never be averaged in by mistake.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import torch
from torch import Tensor, nn

from course_lib.corpora.batches import Batch
from course_lib.errors import CourseError
from course_lib.models import Attention, RNNsearch, State
from course_lib.search.hypothesis import evaluating

Edit = Callable[[Tensor], Tensor]
"""Weights of one step in, weights of one step out: (B, T_x) to (B, T_x)."""


class EditedAttention(Attention):
    """Another attention in whose place this one stands, with its weights changed by `edit`."""

    def __init__(self, attention: Attention, edit: Edit) -> None:
        nn.Module.__init__(self)
        self.attention = attention
        self.edit = edit

    def keys(self, annotations: Tensor) -> Tensor:
        """Those of the other attention."""
        return self.attention.keys(annotations)

    def forward(
        self, s_prev: Tensor, keys: Tensor, annotations: Tensor, mask: Tensor
    ) -> tuple[Tensor, Tensor]:
        """c_i from the changed weights, and these: (B, 2n) and (B, T_x)."""
        _, alpha = self.attention(s_prev, keys, annotations, mask)
        alpha = self.edit(alpha)
        return torch.einsum("bj,bjd->bd", alpha, annotations), alpha


@contextmanager
def edited_weights(model: RNNsearch, edit: Edit) -> Iterator[None]:
    """While this lasts, every step of the model uses its weights as `edit` changes them.

    Raises:
        CourseError: the model has no attention.
    """
    attention = getattr(model.decoder, "attention", None)
    if not isinstance(attention, Attention):
        raise CourseError(
            "A model without attention has no weights to change. Take one with it, as RNNsearch."
        )
    model.decoder.attention = EditedAttention(attention, edit)
    try:
        yield
    finally:
        model.decoder.attention = attention


def total_variation(p: Tensor, q: Tensor) -> Tensor:
    """Half the sum of absolute differences over the last axis: 0 for equal distributions, to 1."""
    return (p - q).abs().sum(dim=-1) / 2


@torch.no_grad()
def erased_words(model: RNNsearch, batch: Batch, weights: Tensor | None = None) -> Tensor:
    """How far a step's output moves when one source position cannot be looked at.

    Its weight becomes 0 and the others grow so that they add up to what all did, which is what a
    softmax without that position gives. Where the position had all the weight the context is 0.

    weights: (B, T_y, T_x), in the place of the model's own, before and after the erasure.

    Returns:
        (B, T_y, T_x), the total variation distance for each target and each source position, end
        marks included.
    """
    steps = []
    for i, (y, state, _) in enumerate(_forced_steps(model, batch)):
        given = None if weights is None else weights[:, i]
        whole = _output(model, y, state, given)
        without = [_output(model, y, state, given, without=j) for j in range(batch.source.shape[1])]
        steps.append(torch.stack([total_variation(whole, other) for other in without], dim=1))
    return _blank_padding(torch.stack(steps, dim=1), batch.source_mask, batch.target_mask)


@torch.no_grad()
def left_out_words(model: RNNsearch, batch: Batch) -> Tensor:
    """How far a step's output moves when the source is read without one of its words.

    The decoder is given the same target words and goes through its own states, which have not seen
    the word either.

    Returns:
        (B, T_y, T_x), the total variation distance for each target position and each source word;
        NaN for the source's end mark, which no sentence goes without.
    """
    whole = torch.stack([p for _, _, p in _forced_steps(model, batch)], dim=1)
    words = batch.source_mask.roll(-1, dims=1)
    words[:, -1] = False
    moved = whole.new_zeros(*whole.shape[:2], batch.source.shape[1])
    for j in range(batch.source.shape[1] - 1):
        rows = words[:, j].nonzero().squeeze(-1)
        shorter = _without_word(batch, rows, j)
        changed = torch.stack([p for _, _, p in _forced_steps(model, shorter)], dim=1)
        moved[rows, :, j] = total_variation(whole[rows], changed)
    return _blank_padding(moved, words, batch.target_mask)


def rank_correlation(weights: Tensor, changes: Tensor) -> Tensor:
    """Kendall's tau-b between two rankings of the last axis, from -1 to 1.

    Positions where one of them is NaN are left out; NaN where fewer than two differ in both.
    Tau-b counts pairs of positions that both rank alike against pairs that they rank differently,
    and takes account of ties: (C - D) / sqrt((pairs untied in one) (pairs untied in the other)).
    """
    known = ~(weights.isnan() | changes.isnan())
    both = known[..., :, None] & known[..., None, :]
    first, second = (
        (values[..., :, None] - values[..., None, :]).sign().masked_fill(~both, 0)
        for values in (weights.double(), changes.double())
    )
    agreement = (first * second).sum(dim=(-2, -1))
    untied = first.abs().sum(dim=(-2, -1)) * second.abs().sum(dim=(-2, -1))
    return agreement / untied.sqrt()


def _forced_steps(model: RNNsearch, batch: Batch) -> Iterator[tuple[Tensor, State, Tensor]]:
    """Each step under teacher forcing: the word given, the state before it, p(next word)."""
    with evaluating(model):
        state = model.start(batch.source, batch.source_lengths, batch.source_mask)
        for y in batch.target_in.unbind(dim=1):
            log_probs, _, following = model.step(y, state)
            yield y, state, log_probs.exp()
            state = following


def _output(
    model: RNNsearch,
    y: Tensor,
    state: State,
    given: Tensor | None,
    without: int | None = None,
) -> Tensor:
    """p(next word), (B, K_y), with the given weights or the model's own, one position erased."""

    def edit(alpha: Tensor) -> Tensor:
        alpha = alpha if given is None else given
        return alpha if without is None else _without(alpha, without)

    with edited_weights(model, edit):
        return model.step(y, state)[0].exp()


def _without(alpha: Tensor, j: int) -> Tensor:
    rest = alpha.clone()
    rest[:, j] = 0
    left = rest.sum(dim=1, keepdim=True)
    grown = rest * (alpha.sum(dim=1, keepdim=True) / left)
    # A weight of 0 takes nothing away, not even a rounding error.
    return torch.where(alpha[:, j : j + 1] == 0, alpha, torch.where(left > 0, grown, 0))


def _without_word(batch: Batch, rows: Tensor, j: int) -> Batch:
    """The sentences at `rows`, read without source word j."""
    source, mask = (
        torch.cat([values[rows, :j], values[rows, j + 1 :]], dim=1)
        for values in (batch.source, batch.source_mask)
    )
    lengths = batch.source_lengths[rows.cpu()] - 1
    target_in, target_out, target_mask = (values[rows] for values in batch[3:6])
    real = target_mask.flatten().nonzero().squeeze(1)
    return Batch(source, lengths, mask, target_in, target_out, target_mask, real)


def _blank_padding(values: Tensor, source_mask: Tensor, target_mask: Tensor) -> Tensor:
    real = target_mask[:, :, None] & source_mask[:, None]
    return values.masked_fill(~real, torch.nan)
