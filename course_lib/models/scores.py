"""Scores in the place of the additive one: Luong's concat, general and dot, and the scaled dot.

Each class is `Attention` with other keys and other energies; what is done with them is the same.
"""

import math

import torch
from torch import Tensor, nn

from course_lib.errors import CourseError
from course_lib.models.config import ModelConfig, unequal_sizes
from course_lib.models.rnnsearch import Attention, Context, FixedContext


class ConcatAttention(Attention):
    """e_ij = v_a' tanh(W_a [s; h_j]): Luong's "concat" (Luong et al., 2015, Section 3.1).

    W_a [s; h_j] is one product with the left columns of W_a and one with the right ones, and only
    the first depends on the step: this is the additive score with W_a and U_a side by side.
    """

    def __init__(self, n: int, annotation_size: int, n_prime: int) -> None:
        nn.Module.__init__(self)
        self.n = n
        self.W_a = nn.Linear(n + annotation_size, n_prime, bias=False)
        self.v_a = nn.Linear(n_prime, 1, bias=False)

    def keys(self, h: Tensor) -> Tensor:
        """The annotations' part of W_a [s; h_j]: (B, T_x, 2n) to (B, T_x, n')."""
        return nn.functional.linear(h, self.W_a.weight[:, self.n :])

    def energies(self, s_prev: Tensor, keys: Tensor) -> Tensor:
        """Energies (B, T_x) of the (B, n) state against the (B, T_x, n') keys."""
        asked = nn.functional.linear(s_prev, self.W_a.weight[:, : self.n])
        return self.v_a(torch.tanh(asked.unsqueeze(-2) + keys)).squeeze(-1)


class GeneralAttention(Attention):
    """e_ij = s' W_a h_j: Luong's "general" (Luong et al., 2015, Section 3.1)."""

    def __init__(self, n: int, annotation_size: int) -> None:
        nn.Module.__init__(self)
        self.W_a = nn.Linear(annotation_size, n, bias=False)

    def keys(self, h: Tensor) -> Tensor:
        """W_a h_j, as wide as the state: (B, T_x, 2n) to (B, T_x, n)."""
        return self.W_a(h)

    def energies(self, s_prev: Tensor, keys: Tensor) -> Tensor:
        """Energies (B, T_x) of the (B, n) state against the (B, T_x, n) keys."""
        return torch.einsum("...bd,bjd->...bj", s_prev, keys)


class DotAttention(Attention):
    """e_ij = s' h_j: Luong's "dot", without weights (Luong et al., 2015, Section 3.1).

    `scale` multiplies it; 1 / sqrt(d) makes the scaled dot product of Vaswani et al. (2017,
    Section 3.2.1), whose spread does not grow with the dimension d.

    Raises:
        CourseError: state and annotation differ in size, so there is no dot product.
    """

    def __init__(self, n: int, annotation_size: int, scale: float = 1.0) -> None:
        nn.Module.__init__(self)
        if n != annotation_size:
            raise CourseError(unequal_sizes(n, annotation_size))
        self.scale = scale

    def keys(self, h: Tensor) -> Tensor:
        """The annotations themselves, scaled: (B, T_x, d)."""
        return h * self.scale

    def energies(self, s_prev: Tensor, keys: Tensor) -> Tensor:
        """Energies (B, T_x) of the (B, d) state against the (B, T_x, d) keys."""
        return torch.einsum("...bd,bjd->...bj", s_prev, keys)


def build_attention(config: ModelConfig) -> Context:
    """What `config.context` names."""
    n, size = config.hidden, config.annotation_size
    if config.score is None:
        return FixedContext(config.summary_size)
    if config.context == "additive":
        return Attention(n, size, config.alignment)
    if config.context == "concat":
        return ConcatAttention(n, size, config.alignment)
    if config.context == "general":
        return GeneralAttention(n, size)
    return DotAttention(n, size, 1 / math.sqrt(size) if config.context == "scaled-dot" else 1.0)
