"""Writing: one target word a step, each from the previous word, the state and a context."""

from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from course_lib.corpora.vocabulary import PAD
from course_lib.models.cells import UNITS, Unit
from course_lib.models.config import ModelConfig
from course_lib.models.contexts import Memory, build_context
from course_lib.models.layers import WideLinear


class DecoderState(NamedTuple):
    """What one step hands to the next.

    s: (B, S), s_{i-1}; S = n for one layer of gated units. Several
        layers lie side by side, the top one last.
    memory: the sentence, as the context prepared it.
    step: how many words have been written.
    """

    s: Tensor
    memory: Memory
    step: int = 0

    def select(self, index: Tensor) -> "DecoderState":
        """State and memory of the sentences at `index`."""
        return self.replaced(index, self.memory.select(index))

    def replaced(self, index: Any, memory: Memory) -> "DecoderState":
        """The states at `index`, which may have several axes, with another memory."""
        return DecoderState(self.s[index], memory, self.step)


class ReadoutInputs(NamedTuple):
    """What t_i is made from, for one step or (stacked) for a sentence.

    s: (..., n), the state s_{i-1}.
    word: (..., m), the previous word E y_{i-1}.
    C_o_c: (..., 2l), the context c_i, as the product C_o c_i.
    """

    s: Tensor
    word: Tensor
    C_o_c: Tensor


class Decoder(nn.Module):
    """The paper's decoder (Appendix A.2.2): attend with s_{i-1}, read out from s_{i-1}, update.

    `step` is one step of a search. In training all words are known, so `unroll` (unrolling.py) has
    the products W E y and the readout outside the loop over target words, and `advance` in it. Its
    relatives in relatives.py differ from it in the methods that they have of their own.
    """

    pieces = 2  # numbers of t~_i that one number of t_i is made of

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.config = config
        n, m, wide = config.hidden, config.embedding, self.pieces * config.readout_size
        unit = UNITS[config.unit]
        self.E = nn.Embedding(config.target_vocabulary, m, padding_idx=PAD)
        self.context = build_context(config)
        self.unit = unit(m, n)
        self.upper = nn.ModuleList(unit(n, n) for _ in range(config.layers - 1))
        self.W_s = nn.Linear(config.summary_size, config.layers * self.unit.state_size)
        self.add_inputs()
        self.add_readout(n, m, wide)
        self.W_o = WideLinear(config.readout_size, config.target_vocabulary)
        self.dropout = nn.Dropout(config.dropout)

    def add_inputs(self) -> None:
        """What the unit reads beside the word: C c_i."""
        self.C = nn.Linear(self.context.size, self.unit.W.out_features, bias=False)

    def add_readout(self, n: int, m: int, wide: int) -> None:
        """What t~_i is the sum of: U_o s_{i-1}, V_o E y_{i-1} and C_o c_i."""
        self.U_o = nn.Linear(n, wide, bias=False)
        self.V_o = nn.Linear(m, wide)
        self.C_o = nn.Linear(self.context.size, wide, bias=False)

    def start(self, annotations: Tensor, summary: Tensor, mask: Tensor) -> DecoderState:
        """s_0 and the memory of a batch, both once a sentence."""
        # s_0 = tanh(W_s h_1), h_1 the backward state at the first word
        s = torch.tanh(self.W_s(summary))
        # U_a h_j for the energies, and C h_j and C_o h_j, of which C c_i and C_o c_i are made
        return DecoderState(s, self.context.prepare(annotations, mask, *self.read_from_context()))

    def read_from_context(self) -> list[Tensor]:
        """The matrices that c_i is multiplied by."""
        return [self.C.weight, self.C_o.weight]

    def step(
        self, y_prev: Tensor, state: DecoderState
    ) -> tuple[Tensor, Tensor | None, DecoderState]:
        """One step of a search: the (B,) previous words and the state before them.

        For k hypotheses of every sentence words are (k, B) and states (k, B, S), and so is what is
        returned; the memory is that of the B sentences.

        Returns:
            log-probabilities of the next word (B, K_y), alpha (B, T_x)
            or None, the next state.
        """
        word = self.E(y_prev)
        inputs, alpha, state = self.advance(word, self.unit.project(word), state)
        # p(y_i) = softmax(W_o t_i)
        return self.W_o.log_softmax(self.deep_output(inputs)), alpha, state

    def advance(
        self, word: Tensor, projected: Tensor, state: DecoderState
    ) -> tuple[ReadoutInputs, Tensor | None, DecoderState]:
        """One step up to the readout: look back and update.

        Args:
            word: (B, m), the previous word E y_{i-1}.
            projected: its product W E y_{i-1} for the unit, gates included.
            state: s_{i-1} and the memory.

        Returns:
            what the readout needs, alpha_i (B, T_x) or None, the next
            state.
        """
        s_prev, memory, i = state
        # e_ij = v_a' tanh(W_a s_{i-1} + U_a h_j), alpha_i = softmax(e_i), c_i = sum_j alpha_ij h_j
        products, alpha = self.context(self.top(s_prev), memory, i)
        # products: C c_i and C_o c_i, side by side
        C_c, C_o_c = products.tensor_split([self.unit.W.out_features], dim=-1)
        # s_i = (1 - z_i) o s_{i-1} + z_i o s~_i, of W E y_{i-1} + C c_i and s_{i-1}
        s = self.update(projected + C_c, s_prev)
        return ReadoutInputs(self.top(s_prev), word, C_o_c), alpha, DecoderState(s, memory, i + 1)

    def deep_output(self, inputs: ReadoutInputs) -> Tensor:
        """t_i, (..., l)."""
        # t~_i = U_o s_{i-1} + V_o E y_{i-1} + C_o c_i
        t = self.U_o(inputs.s) + inputs.C_o_c + self.V_o(inputs.word)
        # t_ik = max(t~_i,2k-1, t~_i,2k): maxout
        return torch.maximum(t[..., 0::2], t[..., 1::2])

    def readout(self, inputs: ReadoutInputs) -> Tensor:
        """Logits over the target vocabulary, (..., K_y): W_o t_i and a bias."""
        return self.W_o(self.dropout(self.deep_output(inputs)))

    def update(self, projected: Tensor, s_prev: Tensor) -> Tensor:
        """All layers' next states, (B, S), from what the lowest layer's unit reads."""
        return self.climb(self.unit(projected, self.bottom(s_prev)), s_prev)

    def climb(self, s: Tensor, s_prev: Tensor) -> Tensor:
        """All layers' next states from the lowest one's: each other layer reads the one below."""
        states = [s]
        _, *others = s_prev.split(self.unit.state_size, dim=-1)
        for unit, previous in zip(self.upper, others, strict=True):
            assert isinstance(unit, Unit)
            below = self.dropout(self.top(states[-1]))
            states.append(unit(unit.project(below), previous))
        return torch.cat(states, dim=-1) if self.upper else s

    def bottom(self, s: Tensor) -> Tensor:
        """The lowest layer's state, its cell included."""
        return s[..., : self.unit.state_size]

    def top(self, s: Tensor) -> Tensor:
        """What is seen of the states: the top layer's, without its cell; (B, S) to (B, n)."""
        return s[..., -self.config.hidden :]
