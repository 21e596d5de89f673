"""Sutskever's decoder (Sutskever et al., 2014): s_0 is all that is known of the sentence.

It takes the context away, and with it the look back: c_i has no numbers. The softmax reads s_i, and
the previous word, which s_i has read.
"""

from torch import Tensor, nn

from course_lib.models.config import ModelConfig
from course_lib.models.rnnsearch import Context, Decoder, GatedUnit, State


class SutskeverDecoder(Decoder):
    """A language model that begins in s_0."""

    def __init__(self, config: ModelConfig, attention: Context, unit: GatedUnit) -> None:
        super().__init__(config, attention, unit)
        size = config.readout_size
        self.U_o = nn.Linear(config.hidden, size, bias=False)
        self.V_o = nn.Linear(config.embedding, size)
        del self.C, self.C_o, self.attention

    def start(self, annotations: Tensor, summary: Tensor, mask: Tensor) -> State:
        """s_0, and nothing to look at."""
        s_0 = self.W_s(summary).tanh()
        return State(s_0, annotations[..., :0], annotations[..., :0], mask)

    def advance(self, WEy: Tensor, state: State) -> tuple[Tensor, Tensor, Tensor | None, State]:
        """One step: update with the word."""
        s = self.unit(WEy, state.s)
        return s, s[..., :0], None, state._replace(s=s)

    def readout(self, s: Tensor, Ey: Tensor, c: Tensor) -> Tensor:
        """Logits of the next word: W_o (U_o s_i + V_o E y_{i-1})."""
        return self.W_o(self.dropout(self.U_o(s) + self.V_o(Ey)))
