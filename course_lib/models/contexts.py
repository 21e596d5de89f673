"""Where the context comes from: the one object in which RNNencdec and RNNsearch differ.

memory = context.prepare(annotations, mask)   # once a sentence
c, alpha = context(query, memory, step)       # once a step

A decoder reads c_i only through matrices V. It hands them to `prepare`, and a look then gives the
products V c_i in place of c_i. They are the same, V sum_j alpha_ij h_j = sum_j alpha_ij V h_j, and
are made once a source word instead of once a target word and hypothesis.
"""

from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional

from course_lib.models.config import ModelConfig
from course_lib.models.encoder import last_real
from course_lib.models.scores import Score, build_score, masked_softmax, products_by_sentence


class Memory(NamedTuple):
    """What the decoder may look at, prepared once a sentence.

    keys: (B, T_x, n'), what a query is scored against; None where
        nothing is scored.
    values: (B, T_x, 2n), what is averaged: h_j, or its products
        side by side; for the fixed context its one vector, (B, n);
        for a decoder that does not look back none, (B, 0).
    mask: (B, T_x), True at real words.
    """

    keys: Tensor | None
    values: Tensor
    mask: Tensor

    def select(self, index: Tensor | slice) -> "Memory":
        """The memories of the sentences at `index`, in that order, repeats allowed."""
        keys = None if self.keys is None else self.keys[index]
        return Memory(keys, self.values[index], self.mask[index])


class FixedContext(nn.Module):
    """RNNencdec: "fix c_i to the last forward state" (Section 3.2.2).

    The same vector at every step, whatever the query; there are no
    weights, so alpha is None. A self-attentive encoder has no
    direction, and its last annotation has seen the whole sentence.
    """

    def __init__(self, size: int) -> None:
        super().__init__()
        self.size = size

    def prepare(self, annotations: Tensor, mask: Tensor, *matrices: Tensor) -> Memory:
        """Keep the last real annotation, or its products; of two directions the forward half.

        (B, T_x, 2n) annotations to (B, n) values.
        """
        forward_states = annotations[..., : self.size]
        return Memory(None, multiplied(last_real(forward_states, mask), matrices), mask)

    def forward(self, query: Tensor, memory: Memory, step: int = 0) -> tuple[Tensor, None]:
        """The sentence's one vector, (B, n), and no weights."""
        return memory.values, None


class AttentionContext(nn.Module):
    """RNNsearch: score, normalise, aggregate (the paper, Section 3.1).

    `score` says how well a query fits a key; `window`, where there is
    one, which words may be looked at.
    """

    def __init__(self, score: Score, size: int, window: nn.Module | None = None) -> None:
        super().__init__()
        self.score = score
        self.size = size
        self.window = window

    def prepare(self, annotations: Tensor, mask: Tensor, *matrices: Tensor) -> Memory:
        """The same at every step: keys, (B, T_x, n'), and values, h_j or V h_j."""
        keys = self.score.keys(annotations)
        return Memory(keys, multiplied(annotations, matrices), mask)

    def forward(self, query: Tensor, memory: Memory, step: int = 0) -> tuple[Tensor, Tensor]:
        """One look back, at target position `step` (from 0).

        Context c_i, (B, 2n), or those of its products that `prepare`
        was given matrices for, side by side; and weights alpha_i,
        (B, T_x), for the (B, n) query. A row without a word to look at gets 0 and 0.
        For k queries a sentence, (k, B, n), all have k in front.
        """
        # e_ij = a(s_{i-1}, h_j)
        energies = self.score(query, memory.keys)
        # alpha_ij = exp(e_ij) / sum_k exp(e_ik)
        if self.window is None:
            alpha = masked_softmax(energies, memory.mask)
        else:
            visible, focus = self.window(query, memory.mask, step)
            alpha = masked_softmax(energies, visible) * focus
        # c_i = sum_j alpha_ij h_j
        return products_by_sentence(alpha, memory.values), alpha


class MonotonicWindow(nn.Module):
    """local-m: only words within D of the target position (Luong et al., 2015, Section 3.2).

    Target word i looks at source words i - D to i + D. Past the end of a source sentence that is
    much shorter than its translation there is nothing left to look at.
    """

    def __init__(self, half_width: int) -> None:
        super().__init__()
        self.half_width = half_width

    def forward(self, query: Tensor, mask: Tensor, step: int) -> tuple[Tensor, Tensor]:
        """Which words are visible, (B, T_x), and by what their weights are multiplied: 1."""
        j = torch.arange(mask.shape[1], device=mask.device)
        return mask & ((j - step).abs() <= self.half_width), query.new_ones(())


class PredictiveWindow(nn.Module):
    """local-p: the query says where to look (Luong et al., 2015, equations 9 and 10).

    The centre is p_i = T_x sigma(v_p' tanh(W_p s)), T_x the real length with its end mark, and
    positions count from 0. Weights within D
    of it are multiplied by a Gaussian around it with standard deviation D / 2, and not normalised
    again: they add up to at most 1.
    """

    def __init__(self, half_width: int, query_size: int) -> None:
        super().__init__()
        self.half_width = half_width
        self.W_p = nn.Linear(query_size, query_size, bias=False)
        self.v_p = nn.Linear(query_size, 1, bias=False)

    def forward(self, query: Tensor, mask: Tensor, step: int) -> tuple[Tensor, Tensor]:
        """Which words are visible, (B, T_x), and the Gaussian, (B, T_x)."""
        j = torch.arange(mask.shape[1], device=mask.device)
        length = mask.sum(dim=1, keepdim=True)
        guess = self.v_p(torch.tanh(self.W_p(query)))
        # In bfloat16, positions beyond 256 are no longer whole numbers.
        centre = length * torch.sigmoid(guess.to(torch.promote_types(guess.dtype, torch.float32)))
        distance = j - centre
        sigma = self.half_width / 2
        gaussian = torch.exp(-distance.square() / (2 * sigma**2)).to(query.dtype)
        return mask & (distance.abs() <= self.half_width), gaussian


def multiplied(vectors: Tensor, matrices: tuple[Tensor, ...]) -> Tensor:
    """The products of each vector with all matrices, side by side; without any, the vectors."""
    if not matrices:
        return vectors
    return torch.cat([functional.linear(vectors, V) for V in matrices], dim=-1)


Context = FixedContext | AttentionContext


def build_context(config: ModelConfig) -> Context:
    """The context that `config.context` names."""
    n = config.hidden
    if config.score is None:
        return FixedContext(config.summary_size)
    score = build_score(config.score, n, config.annotation_size, config.alignment)
    window: nn.Module | None = None
    if config.scope == "local-m":
        window = MonotonicWindow(config.window)
    elif config.scope == "local-p":
        window = PredictiveWindow(config.window, n)
    return AttentionContext(score, config.annotation_size, window)
