"""Writing: one target word a step, each from the previous word, the state and a context."""

from typing import NamedTuple

import torch
from torch import Tensor, nn

from course_lib.corpora.vocabulary import PAD
from course_lib.models.cells import UNITS
from course_lib.models.config import ModelConfig
from course_lib.models.contexts import Memory, build_context


class DecoderState(NamedTuple):
    """What one step hands to the next: the state s_{i-1}, (B, n), and the sentence's memory."""

    s: Tensor
    memory: Memory

    def select(self, index: Tensor) -> "DecoderState":
        """State and memory of the rows at `index`."""
        return DecoderState(self.s[index], self.memory.select(index))


class Decoder(nn.Module):
    """The paper's decoder (Appendix A.2.2): attend with s_{i-1}, read out from s_{i-1}, update.

    Three things are computed outside the loop over target words because they do not depend on the
    state: the keys (in the context's `prepare`), the input products W E y, and the readout with its
    product over the vocabulary.
    """

    def __init__(self, config: ModelConfig, annotation_size: int) -> None:
        super().__init__()
        n, m, maxout = config.hidden, config.embedding, 2 * config.readout
        self.E = nn.Embedding(config.target_vocabulary, m, padding_idx=PAD)
        self.context = build_context(config, annotation_size)
        self.W_s = nn.Linear(n, n)
        self.unit = UNITS[config.unit](m, n)
        self.C = nn.Linear(self.context.size, 3 * n, bias=False)
        self.U_o = nn.Linear(n, maxout, bias=False)
        self.V_o = nn.Linear(m, maxout)
        self.C_o = nn.Linear(self.context.size, maxout, bias=False)
        self.W_o = nn.Linear(config.readout, config.target_vocabulary)
        self.dropout = nn.Dropout(config.dropout)

    def start(self, annotations: Tensor, summary: Tensor, mask: Tensor) -> DecoderState:
        """s_0 = tanh(W_s summary) and the memory, both once a sentence."""
        return DecoderState(torch.tanh(self.W_s(summary)), self.context.prepare(annotations, mask))

    def unroll(self, target_in: Tensor, start: DecoderState) -> tuple[Tensor, Tensor, Tensor]:
        """All steps under teacher forcing.

        Args:
            target_in: (B, T_y), the words given: begin mark, y_1, ..., y_{T_y - 1}.
            start: the state before the first word.

        Returns:
            s_prev (B, T_y, n), embedded (B, T_y, m), contexts (B, T_y, size): the readout's inputs.
        """
        embedded = self.dropout(self.E(target_in))
        products = self.unit.project(embedded).unbind(dim=1)
        s, memory = start
        states, contexts = [], []
        for product in products:
            c, _ = self.context(s, memory)
            states.append(s)
            contexts.append(c)
            s = self.unit(product + self.C(c), s)
        return torch.stack(states, dim=1), embedded, torch.stack(contexts, dim=1)

    def readout(self, s_prev: Tensor, embedded: Tensor, c: Tensor) -> Tensor:
        """Logits over the target vocabulary: (..., n), (..., m), (..., size) to (..., K_y).

        t~_i = U_o s_{i-1} + V_o E y_{i-1} + C_o c_i, and t_i keeps the larger of each pair.
        """
        t = self.U_o(s_prev) + self.V_o(embedded) + self.C_o(c)
        t = torch.maximum(t[..., 0::2], t[..., 1::2])
        return self.W_o(self.dropout(t))

    def step(
        self, y_prev: Tensor, state: DecoderState
    ) -> tuple[Tensor, Tensor | None, DecoderState]:
        """One step of a search: the (B,) previous words and the state before them.

        Returns:
            log-probabilities of the next word (B, K_y), alpha (B, T_x) or None, the next state.
        """
        s, memory = state
        embedded = self.E(y_prev)
        c, alpha = self.context(s, memory)
        log_probs = torch.log_softmax(self.readout(s, embedded, c), dim=-1)
        s = self.unit(self.unit.project(embedded) + self.C(c), s)
        return log_probs, alpha, DecoderState(s, memory)
