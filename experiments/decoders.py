"""Decoders that differ from one of the library's in a single detail, for the tables that compare.

`register()` makes each a value of `decoder`.
"""

import torch
from torch import Tensor, nn

from course_lib.models.build import DECODERS
from course_lib.models.conditional import ConditionalDecoder
from course_lib.models.config import CHOICES, ModelConfig
from course_lib.models.luong import LuongDecoder
from course_lib.models.rnnsearch import Context, Decoder, GatedUnit, State

Step = tuple[Tensor, Tensor, Tensor | None, State]


class ReadsNewState(Decoder):
    """The readout reads s_i where the paper's reads s_{i-1}."""

    def advance(self, WEy: Tensor, state: State) -> Step:
        """As the paper's, but for the state that is read."""
        _, c, alpha, after = super().advance(WEy, state)
        return after.s, c, alpha, after


class SingleReadout(Decoder):
    """t~_i has as many numbers as t_i."""

    def __init__(self, config: ModelConfig, attention: Context, unit: GatedUnit) -> None:
        super().__init__(config, attention, unit)
        size = config.readout_size
        self.U_o = nn.Linear(config.hidden, size, bias=False)
        self.V_o = nn.Linear(config.embedding, size)
        self.C_o = nn.Linear(config.context_size, size, bias=False)


class LinearReadout(SingleReadout):
    """Nothing in place of maxout."""

    def readout(self, s: Tensor, Ey: Tensor, c: Tensor) -> Tensor:
        """t_i = t~_i."""
        return self.W_o(self.dropout(self.U_o(s) + self.V_o(Ey) + self.C_o(c)))


class TanhReadout(SingleReadout):
    """tanh in place of maxout."""

    def readout(self, s: Tensor, Ey: Tensor, c: Tensor) -> Tensor:
        """t_i = tanh(t~_i)."""
        return self.W_o(self.dropout(torch.tanh(self.U_o(s) + self.V_o(Ey) + self.C_o(c))))


class AsksAfter(Decoder):
    """Luong's order: the unit reads the word alone, and s_i asks and is read out."""

    def __init__(self, config: ModelConfig, attention: Context, unit: GatedUnit) -> None:
        super().__init__(config, attention, unit)
        del self.C

    def advance(self, WEy: Tensor, state: State) -> Step:
        """Update, then look back with the new state."""
        s_prev, keys, annotations, mask = state
        s = self.unit(WEy, s_prev)
        c, alpha = self.attention(s, keys, annotations, mask)
        return s, c, alpha, state._replace(s=s)


class StartsAtZero(Decoder):
    """s_0 = 0 for every sentence."""

    def __init__(self, config: ModelConfig, attention: Context, unit: GatedUnit) -> None:
        super().__init__(config, attention, unit)
        self.state_size = config.state_size
        del self.W_s

    def start(self, annotations: Tensor, summary: Tensor, mask: Tensor) -> State:
        """Zeros, and what to look back at."""
        s_0 = summary.new_zeros(len(summary), self.state_size)
        return State(s_0, self.attention.keys(annotations), annotations, mask)


class UnfedLuong(LuongDecoder):
    """Luong's decoder without input feeding: no context reaches the next state."""

    def __init__(self, config: ModelConfig, attention: Context, unit: GatedUnit) -> None:
        super().__init__(config, attention, unit)
        del self.F

    def start(self, annotations: Tensor, summary: Tensor, mask: Tensor) -> State:
        """s_0 alone."""
        return Decoder.start(self, annotations, summary, mask)

    def advance(self, WEy: Tensor, state: State) -> Step:
        """Update with the word, then look back with s_i."""
        s_prev, keys, annotations, mask = state
        s = self.unit(WEy, s_prev)
        c, alpha = self.attention(s, keys, annotations, mask)
        return s, c, alpha, state._replace(s=s)


class ReadsOldState(ConditionalDecoder):
    """The conditional decoder whose readout reads s_{i-1}."""

    def advance(self, WEy: Tensor, state: State) -> Step:
        """As the conditional decoder's, but for the state that is read."""
        _, c, alpha, after = super().advance(WEy, state)
        return state.s, c, alpha, after


OF_ONE_DETAIL: dict[str, type[Decoder]] = {
    "luong-unfed": UnfedLuong,
    "paper-reads-new-state": ReadsNewState,
    "paper-tanh-readout": TanhReadout,
    "paper-linear-readout": LinearReadout,
    "paper-asks-after": AsksAfter,
    "paper-starts-at-zero": StartsAtZero,
    "conditional-reads-old-state": ReadsOldState,
}


def register() -> None:
    """Let configurations name the decoders above."""
    DECODERS.update(OF_ONE_DETAIL)
    CHOICES["decoder"] = tuple(DECODERS)
