"""Attention over a window of source words: local-p of Luong et al. (2015, Section 3.2)."""

import torch
from torch import Tensor, nn

from course_lib.models.precision import at_least_single
from course_lib.models.rnnsearch import Attention, Look, masked_softmax


class LocalAttention(Attention):
    """Another attention, whose state says which words it looks at (equations 9 and 10).

    The centre is p_i = T_x sigma(v_p' tanh(W_p s)), T_x the real length with its end mark, and
    positions count from 0. Weights within D of it are multiplied by a Gaussian around it with
    standard deviation D / 2, and not normalised again: they add up to at most 1.
    """

    def __init__(self, attention: Attention, n: int, window: int) -> None:
        nn.Module.__init__(self)
        self.attention = attention
        self.window = window  # D
        self.W_p = nn.Linear(n, n, bias=False)
        self.v_p = nn.Linear(n, 1, bias=False)

    def keys(self, h: Tensor) -> Tensor:
        """Those of the other attention."""
        return self.attention.keys(h)

    def energies(self, s_prev: Tensor, keys: Tensor) -> Tensor:
        """Those of the other attention."""
        return self.attention.energies(s_prev, keys)

    def forward(self, s_prev: Tensor, keys: Tensor, h: Tensor, mask: Tensor) -> Look:
        """One look at a window: the context c_i, (B, 2n), and the weights alpha_i, (B, T_x)."""
        # In bfloat16, positions beyond 256 are no longer whole numbers.
        guess = at_least_single(self.v_p(torch.tanh(self.W_p(s_prev))))
        # p_i = T_x sigma(v_p' tanh(W_p s))
        centre = mask.sum(dim=1, keepdim=True) * torch.sigmoid(guess)
        distance = torch.arange(mask.shape[1], device=mask.device) - centre
        # alpha_ij = softmax over the window, times exp(-(j - p_i)^2 / (2 (D / 2)^2))
        gaussian = torch.exp(-2 * (distance / self.window).square()).to(s_prev.dtype)
        near = mask & (distance.abs() <= self.window)
        alpha = masked_softmax(self.energies(s_prev, keys), near) * gaussian
        # c_i = sum_j alpha_ij h_j
        return torch.einsum("...bj,bjd->...bd", alpha, h), alpha
