"""Writing: one target word a step, each from the previous word, the state and a context."""

from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional

from course_lib.corpora.vocabulary import PAD
from course_lib.models.cells import UNITS, Unit
from course_lib.models.config import ModelConfig
from course_lib.models.contexts import Memory, build_context
from course_lib.models.dropout import WordDropout


class DecoderState(NamedTuple):
    """What one step hands to the next.

    s: (B, S), the states of all layers, the top one last; with one
        layer of gated units it is s_{i-1} and S = n.
    memory: the sentence, as the context prepared it.
    step: how many words have been written.
    fed: (B, l), t_{i-1}, where the unit reads it (input feeding).
    """

    s: Tensor
    memory: Memory
    step: int = 0
    fed: Tensor | None = None

    def select(self, index: Tensor, memory: Memory | None = None) -> "DecoderState":
        """State and memory of the rows at `index`; a `memory` given is taken as it is."""
        return DecoderState(
            self.s[index],
            self.memory.select(index) if memory is None else memory,
            self.step,
            None if self.fed is None else self.fed[index],
        )


class ReadoutInputs(NamedTuple):
    """What t_i is made from, for one step or (stacked) for a sentence.

    s: (..., n), the state s_{i-1}, or s_i where `reads` is current.
    embedded: (..., m), the previous word E y_{i-1}.
    c: (..., size), the context c_i.
    """

    s: Tensor
    embedded: Tensor
    c: Tensor


class Decoder(nn.Module):
    """The paper's decoder (Appendix A.2.2): attend with s_{i-1}, read out from s_{i-1}, update.

    With `order="after"` it is Luong's (2015, Section 3): update, then attend with s_i. With
    "between" it is the conditional unit of Sennrich et al. (2017, Section 2): a first unit makes
    s'_i of y_{i-1}, attention looks back with s'_i, a second unit makes s_i of c_i.

    Three things are computed outside the loop over target words because they do not depend on the
    state: the keys (in the context's `prepare`), the input products W E y, and the readout with its
    product over the vocabulary.
    """

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.config = config
        n, m = config.hidden, config.embedding
        wide = config.readout * (2 if config.output == "maxout" else 1)
        unit = UNITS[config.unit]
        self.E = nn.Embedding(config.target_vocabulary, m, padding_idx=PAD)
        self.context = build_context(config)
        self.unit = unit(m, n)
        self.upper = nn.ModuleList(unit(n, n) for _ in range(config.layers - 1))
        self.state_size = config.layers * self.unit.state_size
        if config.start == "summary":
            self.W_s = nn.Linear(config.summary_size, self.state_size)
        if config.order == "between":
            self.second = unit(self.context.size, n)
        if config.order == "before":
            self.C = matrix(self.context.size, self.unit.W.out_features)
        if config.input_feeding:
            self.F = matrix(config.readout, self.unit.W.out_features)
        self.U_o = matrix(n, wide)
        if config.output != "attentional":
            self.V_o = nn.Linear(m, wide)
        self.C_o = matrix(self.context.size, wide)
        self.W_o = WideLinear(config.readout, config.target_vocabulary)
        self.dropout_words = WordDropout(config.rate("embeddings"), config.dropout_words)
        self.dropout = nn.Dropout(config.dropout)
        self.dropout_readout = nn.Dropout(config.rate("readout"))

    def start(self, annotations: Tensor, summary: Tensor, mask: Tensor) -> DecoderState:
        """s_0 = tanh(W_s summary) and the memory, both once a sentence."""
        if self.config.start == "summary":
            s = torch.tanh(self.W_s(summary))
        else:
            s = summary.new_zeros(len(summary), self.state_size)
        memory = self.context.prepare(annotations, mask)
        fed = s.new_zeros(len(s), self.config.readout) if self.config.input_feeding else None
        return DecoderState(s, memory, 0, fed)

    def advance(
        self, embedded: Tensor, product: Tensor, state: DecoderState
    ) -> tuple[ReadoutInputs, Tensor | None, DecoderState]:
        """One step up to the readout: look back and update, in the configured order.

        Args:
            embedded: (B, m), the previous word E y_{i-1}.
            product: its product W E y_{i-1} for the unit.
            state: s_{i-1} and the memory.

        Returns:
            what the readout needs, alpha_i (B, T_x) or None, the next
            state.
        """
        s_prev, memory, step, fed = state
        if self.config.order == "before":
            c, alpha = self.context(self.top(s_prev), memory, step)
            s = self.update(product + self.C(c), s_prev)
        elif self.config.order == "after":
            s = self.update(product if fed is None else product + self.F(fed), s_prev)
            c, alpha = self.context(self.top(s), memory, step)
        else:
            s = self.unit(product, self.bottom(s_prev))
            c, alpha = self.context(self.top(s), memory, step)
            s = self.climb(self.second(self.second.project(c), s), s_prev)
        read = s_prev if self.config.reads == "previous" else s
        inputs = ReadoutInputs(self.top(read), embedded, c)
        if fed is not None:
            fed = self.deep_output(inputs)
        return inputs, alpha, DecoderState(s, memory, step + 1, fed)

    def update(self, product: Tensor, s_prev: Tensor) -> Tensor:
        """All layers' next states, (B, S), from what the lowest layer's unit reads."""
        return self.climb(self.unit(product, self.bottom(s_prev)), s_prev)

    def climb(self, s: Tensor, s_prev: Tensor) -> Tensor:
        """All layers' next states from the lowest one's: each other layer reads the one below."""
        if not self.upper:
            return s
        states = [s]
        _, *others = s_prev.split(self.unit.state_size, dim=-1)
        for unit, previous in zip(self.upper, others, strict=True):
            assert isinstance(unit, Unit)
            below = self.dropout(self.top(states[-1]))
            states.append(unit(unit.project(below), previous))
        return torch.cat(states, dim=-1)

    def bottom(self, s: Tensor) -> Tensor:
        """The lowest layer's state, its cell included."""
        return s[..., : self.unit.state_size] if self.upper else s

    def top(self, s: Tensor) -> Tensor:
        """What is seen of the states: the top layer's, without its cell; (B, S) to (B, n)."""
        return s[..., -self.config.hidden :]

    def unroll(self, target_in: Tensor, state: DecoderState) -> tuple[ReadoutInputs, Tensor | None]:
        """All steps under teacher forcing.

        Args:
            target_in: (B, T_y), the words given: begin mark, y_1, ...
            state: the one before the first word.

        Returns:
            what the readout needs, stacked (B, T_y, ...), and the
            weights, (B, T_y, T_x) or None.
        """
        embedded = self.dropout_words(self.E(target_in))
        products = self.unit.project(embedded)
        kept = self.kept_states(state)
        steps: list[ReadoutInputs] = []
        alphas: list[Tensor | None] = []
        # unbind, not [:, i]: its gradient is one tensor, not one the size of all for each step.
        for word, product in zip(embedded.unbind(1), products.unbind(1), strict=True):
            inputs, alpha, state = self.advance(word, product, masked(state, kept))
            steps.append(inputs)
            alphas.append(alpha)
        return stacked(steps), stack_weights(alphas)

    def unroll_sampled(
        self, target_in: Tensor, state: DecoderState, given: float
    ) -> tuple[ReadoutInputs, Tensor | None]:
        """All steps, each previous word the true one with probability `given`, else the model's.

        The model's word is drawn from its own distribution (scheduled sampling: S. Bengio et al.,
        2015, Section 2.4); no gradient goes through the draw. Arguments and results are those of
        `unroll`, which this equals for `given=1`.
        """
        y = target_in[:, 0]
        kept = self.kept_states(state)
        steps: list[ReadoutInputs] = []
        alphas: list[Tensor | None] = []
        for i in range(target_in.shape[1]):
            if i:
                with torch.no_grad():
                    probabilities = torch.softmax(self.readout(steps[-1]).float(), dim=-1)
                    drawn = torch.multinomial(probabilities, 1).squeeze(1)
                true = torch.rand(len(y), device=y.device) < given
                y = torch.where(true, target_in[:, i], drawn)
            embedded = self.dropout_words(self.E(y))
            product = self.unit.project(embedded)
            inputs, alpha, state = self.advance(embedded, product, masked(state, kept))
            steps.append(inputs)
            alphas.append(alpha)
        return stacked(steps), stack_weights(alphas)

    def kept_states(self, state: DecoderState) -> Tensor | None:
        """What s_{i-1} is multiplied by at every step of a sentence, (B, S); None for 1.

        One draw a sentence and not one a step: a number that came and went would be noise in what
        the unit remembers (Gal and Ghahramani, 2016, Section 4).
        """
        rate = self.config.dropout_states
        if not self.training or not rate:
            return None
        return functional.dropout(torch.ones_like(state.s), rate)

    def deep_output(self, inputs: ReadoutInputs) -> Tensor:
        """t_i, (..., l), from t~_i = U_o s + V_o E y_{i-1} + C_o c_i.

        maxout keeps the larger of each pair (the paper); tanh and
        linear say what they do. attentional is Luong's attentional
        vector tanh(W_c [c_i; s_i]), W_c = [C_o U_o] (2015, equation 5).
        """
        t = self.U_o(inputs.s) + self.C_o(inputs.c)
        if self.config.output == "attentional":
            return torch.tanh(t)
        t = t + self.V_o(inputs.embedded)
        if self.config.output == "maxout":
            return torch.maximum(t[..., 0::2], t[..., 1::2])
        return torch.tanh(t) if self.config.output == "tanh" else t

    def readout(self, inputs: ReadoutInputs) -> Tensor:
        """Logits over the target vocabulary, (..., K_y): W_o t_i + b."""
        return self.W_o(self.dropout_readout(self.deep_output(inputs)))

    def step(
        self, y_prev: Tensor, state: DecoderState
    ) -> tuple[Tensor, Tensor | None, DecoderState]:
        """One step of a search: the (B,) previous words and the state before them.

        Returns:
            log-probabilities of the next word (B, K_y), alpha (B, T_x)
            or None, the next state.
        """
        embedded = self.E(y_prev)
        inputs, alpha, state = self.advance(embedded, self.unit.project(embedded), state)
        return torch.log_softmax(self.readout(inputs), dim=-1), alpha, state


def masked(state: DecoderState, kept: Tensor | None) -> DecoderState:
    """The state with its numbers dropped."""
    return state if kept is None else state._replace(s=state.s * kept)


class WideLinear(nn.Linear):
    """`nn.Linear` for an output as wide as a vocabulary.

    On a CPU the product needs half as long again, or twice as long, if the width is no multiple of
    16: each row of the result then begins in the middle of a cache line. So zeros are computed
    beside it and cut off again, where there are rows enough to pay for that.
    """

    def forward(self, input: Tensor) -> Tensor:
        """(..., l) to (..., K) numbers."""
        missing = -self.out_features % 16
        if not missing or input.is_cuda or len(input) < 64:
            return super().forward(input)
        weight = functional.pad(self.weight, (0, 0, 0, missing))
        wide = functional.linear(input, weight, functional.pad(self.bias, (0, missing)))
        return wide[..., : self.out_features]


class Nothing(nn.Module):
    """The product of a context of no numbers: 0."""

    def forward(self, c: Tensor) -> Tensor:
        """A single 0, to be added to anything."""
        return c.new_zeros(())


def matrix(inputs: int, outputs: int) -> nn.Module:
    """A product without bias."""
    return nn.Linear(inputs, outputs, bias=False) if inputs else Nothing()


def stacked(steps: list[ReadoutInputs]) -> ReadoutInputs:
    """The inputs of all steps along a second axis: (B, T_y, ...)."""
    return ReadoutInputs(*(torch.stack(values, dim=1) for values in zip(*steps, strict=True)))


def stack_weights(alphas: list[Tensor | None]) -> Tensor | None:
    """The weights of all steps, (B, T_y, T_x), or None without attention."""
    weights = [alpha for alpha in alphas if alpha is not None]
    return torch.stack(weights, dim=1) if weights else None
