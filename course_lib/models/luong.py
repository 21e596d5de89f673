"""Luong's decoder (Luong et al., 2015, Section 3): update first, look back with the new state.

It replaces the order of a step and the readout, which is the attentional vector
t_i = tanh(W_c [c_i; s_i]); the unit also reads t_{i-1} (input feeding, Section 3.3).
"""

import torch
from torch import Tensor, nn

from course_lib.models.config import ModelConfig
from course_lib.models.rnnsearch import Context, Decoder, GatedUnit, State


class LuongDecoder(Decoder):
    """What a step hands to the next is [s_i; t_i]."""

    def __init__(self, config: ModelConfig, attention: Context, unit: GatedUnit) -> None:
        super().__init__(config, attention, unit)
        size = config.readout_size
        self.F = nn.Linear(size, self.C.out_features, bias=False)
        # W_c = [C_o U_o], without a maxout's pairs; no context and no word enter elsewhere.
        self.U_o = nn.Linear(config.hidden, size, bias=False)
        self.C_o = nn.Linear(config.context_size, size, bias=False)
        del self.C, self.V_o

    def start(self, annotations: Tensor, summary: Tensor, mask: Tensor) -> State:
        """s_0 and zeros for t_0."""
        state = super().start(annotations, summary, mask)
        t_0 = state.s.new_zeros(len(state.s), self.F.in_features)
        return state._replace(s=torch.cat([state.s, t_0], dim=-1))

    def advance(self, WEy: Tensor, state: State) -> tuple[Tensor, Tensor, Tensor | None, State]:
        """One step: update with the word and t_{i-1}, then look back with s_i."""
        before, keys, annotations, mask = state
        s_prev, t_prev = before.tensor_split([-self.F.in_features], dim=-1)
        # s_i = f(s_{i-1}, [y_{i-1}; t_{i-1}])
        s = self.unit(WEy + self.F(t_prev), s_prev)
        c, alpha = self.attention(s, keys, annotations, mask)
        after = torch.cat([s, self.attentional(s, c)], dim=-1)
        return s, c, alpha, state._replace(s=after)

    def attentional(self, s: Tensor, c: Tensor) -> Tensor:
        """t_i = tanh(W_c [c_i; s_i]) (equation 5)."""
        return torch.tanh(self.C_o(c) + self.U_o(s))

    def readout(self, s: Tensor, Ey: Tensor, c: Tensor) -> Tensor:
        """Logits of the next word from t_i (equation 6)."""
        return self.W_o(self.dropout(self.attentional(s, c)))
