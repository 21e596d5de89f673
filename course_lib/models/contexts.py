"""Where the context comes from: the one object in which RNNencdec and RNNsearch differ.

memory = context.prepare(annotations, mask)   # once a sentence
c, alpha = context(query, memory)             # once a step
"""

from typing import NamedTuple

import torch
from torch import Tensor, nn

from course_lib.models.config import ModelConfig
from course_lib.models.encoder import last_real


class Memory(NamedTuple):
    """What the decoder may look at, prepared once a sentence.

    keys: (B, T_x, n'), what a query is scored against; None where nothing is scored.
    values: (B, T_x, 2n), what is averaged; for the fixed context its one vector, (B, n).
    mask: (B, T_x), True at real words.
    """

    keys: Tensor | None
    values: Tensor
    mask: Tensor

    def select(self, index: Tensor) -> "Memory":
        """The memories of the sentences at `index`, in that order, repeats allowed."""
        keys = None if self.keys is None else self.keys[index]
        return Memory(keys, self.values[index], self.mask[index])


class FixedContext(nn.Module):
    """RNNencdec: "fix c_i to the last forward state" (the paper, Section 3.2.2).

    The same vector at every step, whatever the query; there are no weights, so alpha is None.
    """

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.size = config.hidden

    def prepare(self, annotations: Tensor, mask: Tensor) -> Memory:
        """Keep the forward half of the last real annotation: (B, T_x, 2n) to (B, n) values."""
        return Memory(None, last_real(annotations[..., : self.size], mask), mask)

    def forward(self, query: Tensor, memory: Memory) -> tuple[Tensor, None]:
        """The sentence's one vector, (B, n), and no weights."""
        return memory.values, None


class AdditiveContext(nn.Module):
    """RNNsearch: score, normalise, aggregate (the paper, Section 3.1 and Appendix A.1.2)."""

    def __init__(self, config: ModelConfig, annotation_size: int) -> None:
        super().__init__()
        self.size = annotation_size
        self.W_a = nn.Linear(config.hidden, config.alignment, bias=False)
        self.U_a = nn.Linear(annotation_size, config.alignment, bias=False)
        self.v_a = nn.Linear(config.alignment, 1, bias=False)

    def prepare(self, annotations: Tensor, mask: Tensor) -> Memory:
        """Project the keys U_a h_j, the same at every step: (B, T_x, 2n) to (B, T_x, n')."""
        return Memory(self.U_a(annotations), annotations, mask)

    def forward(self, query: Tensor, memory: Memory) -> tuple[Tensor, Tensor]:
        """Context c_i, (B, 2n), and weights alpha_i, (B, T_x), for the (B, n) query s_{i-1}.

        A row without a single real word gets alpha = 0 and c = 0.
        """
        assert memory.keys is not None
        # e_ij = v_a' tanh(W_a s_{i-1} + U_a h_j)
        hidden = torch.tanh(self.W_a(query)[:, None] + memory.keys)
        energies = self.v_a(hidden).squeeze(-1)
        alpha = masked_softmax(energies, memory.mask)
        # c_i = sum_j alpha_ij h_j
        return torch.bmm(alpha[:, None], memory.values).squeeze(1), alpha


def masked_softmax(energies: Tensor, mask: Tensor) -> Tensor:
    """Softmax over the last axis where `mask` is True, exactly 0 elsewhere.

    A row that is masked everywhere becomes zeros, not NaN, and sends no NaN back.
    """
    lowest = torch.finfo(energies.dtype).min
    return torch.softmax(energies.masked_fill(~mask, lowest), dim=-1) * mask


def build_context(config: ModelConfig, annotation_size: int) -> FixedContext | AdditiveContext:
    """The context that `config.context` names."""
    if config.context == "fixed":
        return FixedContext(config)
    return AdditiveContext(config, annotation_size)
