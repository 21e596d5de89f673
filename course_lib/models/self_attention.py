"""Every word looks at every word of its own sentence (Vaswani et al., 2017).

    alpha = softmax(Q K' / sqrt(d_k))    # one row a query, one column a key
    output = alpha V

The same three moves as in RNNsearch: score, normalise, average. Here the
queries come from the sentence itself, so all rows are computed at once.
"""

import math

import torch
from torch import Tensor, nn

from course_lib.errors import CourseError
from course_lib.models.rnnsearch import masked_softmax


def scaled_dot_product_attention(
    query: Tensor, key: Tensor, value: Tensor, mask: Tensor
) -> tuple[Tensor, Tensor]:
    """Attention(Q, K, V) = softmax(Q K' / sqrt(d_k)) V (equation 1).

    Args:
        query: (..., T_q, d_k).
        key: (..., T_k, d_k).
        value: (..., T_k, d_v).
        mask: True where a query may look at a key; anything that
            broadcasts to (..., T_q, T_k), such as (B, 1, T_k) at padding.

    Returns:
        The averages, (..., T_q, d_v), and their weights alpha,
        (..., T_q, T_k). A query that may look nowhere gets 0 and 0.
    """
    # e_ij = q_i' k_j / sqrt(d_k)
    energies = query @ key.transpose(-1, -2) / math.sqrt(query.shape[-1])
    # alpha_ij = exp(e_ij) / sum_k exp(e_ik), and exactly 0 where masked
    alpha = masked_softmax(energies, mask)
    # c_i = sum_j alpha_ij v_j
    return alpha @ value, alpha


class MultiHeadAttention(nn.Module):
    """Several attentions side by side (Section 3.2.2).

        head_k = Attention(Q W_Q^k, K W_K^k, V W_V^k)
        output = [head_1; ...; head_h] W_O

    Each head works in d / h dimensions of its own. `W_Q` stacks W_Q^1 to
    W_Q^h, and so do `W_K` and `W_V`: one product for all heads.

    Raises:
        CourseError: `heads` does not divide `size`.
    """

    def __init__(self, size: int, heads: int) -> None:
        super().__init__()
        if size % heads:
            fitting = [str(k) for k in range(1, size + 1) if size % k == 0]
            raise CourseError(
                f"{heads} heads do not share {size} dimensions equally. Set heads to a divisor of "
                f"{size}: {', '.join(fitting)}."
            )
        self.heads = heads
        self.W_Q = nn.Linear(size, size, bias=False)
        self.W_K = nn.Linear(size, size, bias=False)
        self.W_V = nn.Linear(size, size, bias=False)
        self.W_O = nn.Linear(size, size, bias=False)

    def forward(
        self, query: Tensor, key: Tensor, value: Tensor, mask: Tensor
    ) -> tuple[Tensor, Tensor]:
        """All heads at once.

        Args:
            query: (B, T_q, d).
            key: (B, T_k, d).
            value: (B, T_k, d).
            mask: (B, T_q, T_k) or (B, 1, T_k), True where to look.

        Returns:
            (B, T_q, d) outputs and (B, heads, T_q, T_k) weights.
        """
        heads, alpha = scaled_dot_product_attention(
            self._split(self.W_Q(query)),
            self._split(self.W_K(key)),
            self._split(self.W_V(value)),
            mask[:, None],
        )
        return self.W_O(heads.transpose(1, 2).flatten(start_dim=2)), alpha

    def _split(self, x: Tensor) -> Tensor:
        """(B, T, d) to (B, heads, T, d / heads)."""
        return x.unflatten(-1, (self.heads, -1)).transpose(1, 2)


class SelfAttentionBlock(nn.Module):
    """Self-attention, then a small network at each position (Section 3.1).

        x = x + dropout(attention(norm(x)))
        x = x + dropout(W_2 max(0, W_1 norm(x) + b_1) + b_2)

    The norm comes first in each half, where the paper has it last,
    norm(x + attention(x)): so placed, training does not depend on a long
    warm-up (Xiong et al., 2020). The network is 2 d wide where the paper's
    is 4 d, for corpora as small as the course's.
    """

    def __init__(self, size: int, heads: int, dropout: float) -> None:
        super().__init__()
        self.attention = MultiHeadAttention(size, heads)
        self.W_1 = nn.Linear(size, 2 * size)
        self.W_2 = nn.Linear(2 * size, size)
        self.norm_attention = nn.LayerNorm(size)
        self.norm_network = nn.LayerNorm(size)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        """One block: (B, T_x, d) vectors, (B, T_x) mask, True at words.

        Returns:
            (B, T_x, d) vectors and (B, heads, T_x, T_x) weights.
        """
        normed = self.norm_attention(x)
        looked, alpha = self.attention(normed, normed, normed, mask[:, None])
        x = x + self.dropout(looked)
        hidden = torch.relu(self.W_1(self.norm_network(x)))
        return x + self.dropout(self.W_2(hidden)), alpha


class SelfAttention(nn.Module):
    """Annotations without recurrence: each has seen the whole sentence.

    Words are projected to the annotations' size d and scaled by sqrt(d),
    so that the positions added to them do not drown them (Sections 3.4 and 3.5).
    After the blocks comes the norm that norm-first blocks leave out.
    Without `positions` the words are a set: moved words take their
    annotations with them.
    """

    def __init__(
        self,
        input_size: int,
        size: int,
        layers: int,
        heads: int,
        dropout: float,
        positions: bool = True,
    ) -> None:
        super().__init__()
        self.positions = positions
        self.W_x = nn.Linear(input_size, size, bias=False)
        self.dropout = nn.Dropout(dropout)
        self.blocks = nn.ModuleList(SelfAttentionBlock(size, heads, dropout) for _ in range(layers))
        self.norm = nn.LayerNorm(size)

    def forward(self, embedded: Tensor, mask: Tensor) -> Tensor:
        """(B, T_x, m) embedded words to (B, T_x, d) annotations.

        They are 0 where the (B, T_x) mask is False.
        """
        return self.with_weights(embedded, mask)[0]

    def with_weights(self, embedded: Tensor, mask: Tensor) -> tuple[Tensor, list[Tensor]]:
        """The annotations, and what each layer looked at, for drawing.

        Returns:
            (B, T_x, d) annotations and for each layer its
            (B, heads, T_x, T_x) weights.
        """
        words = self.W_x(embedded)
        size = words.shape[2]
        # In bfloat16, positions beyond 256 are no longer whole numbers.
        exact = torch.promote_types(words.dtype, torch.float32)
        x = (words * math.sqrt(size)).to(exact)
        if self.positions:
            position = torch.arange(words.shape[1], dtype=exact, device=words.device)
            x = x + sinusoids(position, size)
        x = self.dropout(x)
        weights = []
        for block in self.blocks:
            x, alpha = block(x, mask)
            weights.append(alpha)
        return self.norm(x) * mask[..., None], weights


def sinusoids(position: Tensor, size: int) -> Tensor:
    """Positions as waves of growing length (Section 3.5): (T,) to (T, d).

    PE(pos, 2k)     = sin(pos / 10000^(2k/d))
    PE(pos, 2k + 1) = cos(pos / 10000^(2k/d))
    """
    column = torch.arange(size, dtype=position.dtype, device=position.device)
    odd = column % 2
    angle = position[:, None] / 10000.0 ** ((column - odd) / size)
    return torch.where(odd == 0, torch.sin(angle), torch.cos(angle))
