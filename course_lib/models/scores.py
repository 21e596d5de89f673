"""How well a query and a key fit: the scores of Bahdanau et al. and of Luong et al.

keys = score.keys(annotations)      # once a sentence: what does not depend on the query
energies = score(query, keys)       # once a step: one number for each source word

A search asks several queries of every sentence, (k, B, n), and gets (k, B, T_x) energies.
"""

import math

import torch
from torch import Tensor, nn

from course_lib.errors import CourseError
from course_lib.models.config import unequal_sizes


class AdditiveScore(nn.Module):
    """e_ij = v_a' tanh(W_a s + U_a h_j) (the paper, Appendix A.1.2)."""

    def __init__(self, query_size: int, key_size: int, hidden: int) -> None:
        super().__init__()
        self.W_a = nn.Linear(query_size, hidden, bias=False)
        self.U_a = nn.Linear(key_size, hidden, bias=False)
        self.v_a = nn.Linear(hidden, 1, bias=False)

    def keys(self, annotations: Tensor) -> Tensor:
        """U_a h_j, once a sentence: (B, T_x, 2n) to (B, T_x, n')."""
        return self.U_a(annotations)

    def forward(self, query: Tensor, keys: Tensor) -> Tensor:
        """Energies (B, T_x): (B, n) query against (B, T_x, n') keys."""
        hidden = torch.tanh(self.W_a(query).unsqueeze(-2) + keys)
        return self.v_a(hidden).squeeze(-1)


class ConcatScore(nn.Module):
    """e_ij = v_a' tanh(W_a [s; h_j]): Luong's "concat" (Luong et al., 2015, Section 3.1).

    W_a [s; h_j] is one product with the left columns of W_a and one with the right ones, and only
    the first depends on the step: this is the additive score with W_a and U_a side by side.
    """

    def __init__(self, query_size: int, key_size: int, hidden: int) -> None:
        super().__init__()
        self.query_size = query_size
        self.W_a = nn.Linear(query_size + key_size, hidden, bias=False)
        self.v_a = nn.Linear(hidden, 1, bias=False)

    def keys(self, annotations: Tensor) -> Tensor:
        """The annotations' part of W_a [s; h_j]: (B, T_x, 2n) to (B, T_x, n')."""
        return nn.functional.linear(annotations, self.W_a.weight[:, self.query_size :])

    def forward(self, query: Tensor, keys: Tensor) -> Tensor:
        """Energies (B, T_x) of the (B, n) query against the (B, T_x, n') keys."""
        projected = nn.functional.linear(query, self.W_a.weight[:, : self.query_size])
        return self.v_a(torch.tanh(projected.unsqueeze(-2) + keys)).squeeze(-1)


class GeneralScore(nn.Module):
    """e_ij = s' W_a h_j: Luong's "general" (Luong et al., 2015, Section 3.1)."""

    def __init__(self, query_size: int, key_size: int) -> None:
        super().__init__()
        self.W_a = nn.Linear(key_size, query_size, bias=False)

    def keys(self, annotations: Tensor) -> Tensor:
        """W_a h_j, as wide as the query: (B, T_x, 2n) to (B, T_x, n)."""
        return self.W_a(annotations)

    def forward(self, query: Tensor, keys: Tensor) -> Tensor:
        """Energies (B, T_x) of the (B, n) query against the (B, T_x, n) keys."""
        return products_by_sentence(query, keys.transpose(1, 2))


class DotScore(nn.Module):
    """e_ij = s' h_j: Luong's "dot", without weights (Luong et al., 2015, Section 3.1).

    `scale` multiplies it; 1 / sqrt(d) makes the scaled dot product of Vaswani et al. (2017,
    Section 3.2.1), whose spread does not grow with the dimension d.

    Raises:
        CourseError: query and key differ in size, so there is no dot product.
    """

    def __init__(self, query_size: int, key_size: int, scale: float = 1.0) -> None:
        super().__init__()
        if query_size != key_size:
            raise CourseError(unequal_sizes(query_size, key_size))
        self.scale = scale

    def keys(self, annotations: Tensor) -> Tensor:
        """The annotations themselves, scaled: (B, T_x, d)."""
        return annotations if self.scale == 1 else annotations * self.scale

    def forward(self, query: Tensor, keys: Tensor) -> Tensor:
        """Energies (B, T_x) of the (B, d) query against the (B, T_x, d) keys."""
        return products_by_sentence(query, keys.transpose(1, 2))


Score = AdditiveScore | ConcatScore | GeneralScore | DotScore


def build_score(name: str, query_size: int, key_size: int, hidden: int) -> Score:
    """The score called `name`; `hidden` is n', which additive and concat have."""
    if name == "additive":
        return AdditiveScore(query_size, key_size, hidden)
    if name == "concat":
        return ConcatScore(query_size, key_size, hidden)
    if name == "general":
        return GeneralScore(query_size, key_size)
    if name == "scaled-dot":
        return DotScore(query_size, key_size, scale=1 / math.sqrt(key_size))
    return DotScore(query_size, key_size)


def products_by_sentence(rows: Tensor, matrices: Tensor) -> Tensor:
    """Each row times the matrix of its sentence: (..., B, a) and (B, a, b) to (..., B, b).

    The row comes first, s' H and not H' s: on a CPU the second takes ten times as long.
    """
    return torch.einsum("...ba,bac->...bc", rows, matrices)


def masked_softmax(energies: Tensor, mask: Tensor) -> Tensor:
    """Softmax over the last axis where `mask` is True, exactly 0 elsewhere.

    A row that is masked everywhere becomes zeros, not NaN, and sends
    no NaN back.
    """
    lowest = torch.finfo(energies.dtype).min
    return torch.softmax(energies.masked_fill(~mask, lowest), dim=-1) * mask
