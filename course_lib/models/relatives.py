"""Relatives of the paper's decoder: Luong's, the conditional one, Sutskever's, and single details.

Each class has only what it does otherwise than `Decoder`. Weights that mean the same have the same
name in all of them.
"""

import torch
from torch import Tensor, nn

from course_lib.models.cells import UNITS
from course_lib.models.config import ModelConfig
from course_lib.models.contexts import Memory
from course_lib.models.decoder import Decoder, DecoderState, ReadoutInputs


class UnfedLuong(Decoder):
    """Luong's decoder (2015, Section 3) without input feeding: update, then attend with s_i.

    t_i is the attentional vector, and no context reaches the next state.
    """

    pieces = 1

    def add_inputs(self) -> None:
        """The unit reads the word alone."""

    def add_readout(self, n: int, m: int, wide: int) -> None:
        """The readout does not read the word."""
        self.U_o = nn.Linear(n, wide, bias=False)
        self.C_o = nn.Linear(self.context.size, wide, bias=False)

    def read_from_context(self) -> list[Tensor]:
        """c_i is read by the readout alone."""
        return [self.C_o.weight]

    def advance(
        self, word: Tensor, projected: Tensor, state: DecoderState
    ) -> tuple[ReadoutInputs, Tensor | None, DecoderState]:
        """Update, then look back with the new state."""
        s_prev, memory, i = state
        s = self.update(projected, s_prev)
        C_o_c, alpha = self.context(self.top(s), memory, i)
        return ReadoutInputs(self.top(s), word, C_o_c), alpha, DecoderState(s, memory, i + 1)

    def deep_output(self, inputs: ReadoutInputs) -> Tensor:
        """The attentional vector tanh(W_c [c_i; s_i]), W_c = [C_o U_o] (equation 5)."""
        return torch.tanh(self.U_o(inputs.s) + inputs.C_o_c)


class Luong(UnfedLuong):
    """Luong's decoder with input feeding: the unit also reads t_{i-1}.

    What one step hands to the next is [s_i; t_i].
    """

    def add_inputs(self) -> None:
        """The unit reads the word and F t_{i-1}."""
        self.F = nn.Linear(self.config.readout_size, self.unit.W.out_features, bias=False)

    def start(self, annotations: Tensor, summary: Tensor, mask: Tensor) -> DecoderState:
        """s_0 and zeros for t_0."""
        state = super().start(annotations, summary, mask)
        t = state.s.new_zeros(len(summary), self.config.readout_size)
        return state._replace(s=torch.cat([state.s, t], dim=-1))

    def advance(
        self, word: Tensor, projected: Tensor, state: DecoderState
    ) -> tuple[ReadoutInputs, Tensor | None, DecoderState]:
        """Update with the attentional vector of the step before, then look back."""
        s_prev, t_prev = state.s.tensor_split([-self.config.readout_size], dim=-1)
        fed = projected + self.F(t_prev)
        inputs, alpha, after = super().advance(word, fed, state._replace(s=s_prev))
        t = self.deep_output(inputs)
        return inputs, alpha, after._replace(s=torch.cat([after.s, t], dim=-1))


class Conditional(Decoder):
    """The conditional decoder of Sennrich et al. (2017, Section 2), with two units a step.

    A first unit makes s'_i of y_{i-1}, attention looks back with s'_i, a second unit makes s_i of
    c_i. The readout reads s_i.
    """

    def add_inputs(self) -> None:
        """c_i enters by a unit of its own."""
        self.second = UNITS[self.config.unit](self.context.size, self.config.hidden)

    def read_from_context(self) -> list[Tensor]:
        """The second unit's W reads c_i, and the readout."""
        return [self.second.W.weight, self.C_o.weight]

    def advance(
        self, word: Tensor, projected: Tensor, state: DecoderState
    ) -> tuple[ReadoutInputs, Tensor | None, DecoderState]:
        """Update with the word, look back, update with the context."""
        s_prev, memory, i = state
        s = self.unit(projected, self.bottom(s_prev))
        products, alpha = self.context(self.top(s), memory, i)
        W_c, C_o_c = products.tensor_split([self.unit.W.out_features], dim=-1)
        b = self.second.W.bias.to(W_c.dtype)  # under autocast products are in half precision
        s = self.climb(self.second(W_c + b, s), s_prev)
        return ReadoutInputs(self.top(s), word, C_o_c), alpha, DecoderState(s, memory, i + 1)


class ReadsNewState(Decoder):
    """One detail: the readout reads s_i where the paper's reads s_{i-1}."""

    def advance(
        self, word: Tensor, projected: Tensor, state: DecoderState
    ) -> tuple[ReadoutInputs, Tensor | None, DecoderState]:
        """As the paper's, but for the state that is read."""
        inputs, alpha, after = super().advance(word, projected, state)
        return inputs._replace(s=self.top(after.s)), alpha, after


class Sutskever(Decoder):
    """Sutskever et al. (2014): no look back, s_0 is all that is known of the sentence.

    The softmax reads s_i linearly, and the previous word, which s_i has read.
    """

    pieces = 1

    def __init__(self, config: ModelConfig) -> None:
        super().__init__(config)
        del self.context

    def add_inputs(self) -> None:
        """The unit reads the word alone."""

    def add_readout(self, n: int, m: int, wide: int) -> None:
        """The readout reads state and word."""
        self.U_o = nn.Linear(n, wide, bias=False)
        self.V_o = nn.Linear(m, wide)

    def start(self, annotations: Tensor, summary: Tensor, mask: Tensor) -> DecoderState:
        """s_0, and a memory of no numbers."""
        s = torch.tanh(self.W_s(summary))
        return DecoderState(s, Memory(None, s.new_empty(len(s), 0), mask))

    def advance(
        self, word: Tensor, projected: Tensor, state: DecoderState
    ) -> tuple[ReadoutInputs, None, DecoderState]:
        """Update with the word."""
        s_prev, memory, i = state
        s = self.update(projected, s_prev)
        return ReadoutInputs(self.top(s), word, memory.values), None, DecoderState(s, memory, i + 1)

    def deep_output(self, inputs: ReadoutInputs) -> Tensor:
        """t_i = U_o s_i + V_o E y_{i-1}."""
        return self.U_o(inputs.s) + self.V_o(inputs.word)


class ReadsOldState(Conditional):
    """One detail of the conditional decoder: the readout reads s_{i-1}."""

    def advance(
        self, word: Tensor, projected: Tensor, state: DecoderState
    ) -> tuple[ReadoutInputs, Tensor | None, DecoderState]:
        """As the conditional decoder's, but for the state that is read."""
        inputs, alpha, after = super().advance(word, projected, state)
        return inputs._replace(s=self.top(state.s)), alpha, after


class TanhReadout(Decoder):
    """One detail: tanh in place of maxout."""

    pieces = 1

    def deep_output(self, inputs: ReadoutInputs) -> Tensor:
        """t_i = tanh(t~_i)."""
        return torch.tanh(self.U_o(inputs.s) + inputs.C_o_c + self.V_o(inputs.word))


class LinearReadout(Decoder):
    """One detail: nothing in place of maxout."""

    pieces = 1

    def deep_output(self, inputs: ReadoutInputs) -> Tensor:
        """t_i = t~_i."""
        return self.U_o(inputs.s) + inputs.C_o_c + self.V_o(inputs.word)


class AsksAfter(UnfedLuong):
    """One detail: Luong's order in the paper's decoder, with its maxout, which reads s_i."""

    pieces = 2

    add_readout = Decoder.add_readout
    deep_output = Decoder.deep_output


class StartsAtZero(Decoder):
    """One detail: s_0 = 0 for every sentence."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__(config)
        self.state_size = self.W_s.out_features
        del self.W_s

    def start(self, annotations: Tensor, summary: Tensor, mask: Tensor) -> DecoderState:
        """Zeros, and the memory as in the paper's decoder."""
        memory = self.context.prepare(annotations, mask, *self.read_from_context())
        # In the precision of the products, which under autocast is not that of the summary.
        return DecoderState(memory.values.new_zeros(len(mask), self.state_size), memory)


DECODERS: dict[str, type[Decoder]] = {
    "paper": Decoder,
    "luong": Luong,
    "conditional": Conditional,
    "sutskever": Sutskever,
    "luong-unfed": UnfedLuong,
    "paper-reads-new-state": ReadsNewState,
    "paper-tanh-readout": TanhReadout,
    "paper-linear-readout": LinearReadout,
    "paper-asks-after": AsksAfter,
    "paper-starts-at-zero": StartsAtZero,
    "conditional-reads-old-state": ReadsOldState,
}
"""The decoders by the value of `decoder`; the last seven are there for the tables that compare."""
