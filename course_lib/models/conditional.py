"""The conditional decoder (Sennrich et al., 2017, Section 2): two units a step, a look in between.

It replaces the one update by two: a first unit makes s'_i of y_{i-1}, attention looks back with
s'_i, a second unit makes s_i of c_i. The readout reads s_i.
"""

from torch import Tensor

from course_lib.models.config import ModelConfig
from course_lib.models.rnnsearch import Context, Decoder, GatedUnit, State
from course_lib.models.units import UNITS


class ConditionalDecoder(Decoder):
    """The decoder of the presets `quick`, `laptop` and `best`."""

    def __init__(self, config: ModelConfig, attention: Context, unit: GatedUnit) -> None:
        super().__init__(config, attention, unit)
        self.second = UNITS[config.unit](config.context_size, config.hidden)
        del self.C  # c_i enters by the second unit's own W

    def advance(self, WEy: Tensor, state: State) -> tuple[Tensor, Tensor, Tensor | None, State]:
        """One step: update with the word, look back, update with the context."""
        s_prev, keys, annotations, mask = state
        # s'_i = f_1(s_{i-1}, y_{i-1})
        asking = self.unit(WEy, s_prev)
        c, alpha = self.attention(asking, keys, annotations, mask)
        # s_i = f_2(s'_i, c_i)
        s = self.second(self.second.W(c), asking)
        return s, c, alpha, state._replace(s=s)
