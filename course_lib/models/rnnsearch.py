"""RNNsearch, whole: encoder, attention, decoder and loss (Bahdanau, Cho and Bengio, 2014).

Equations are those of Appendix A, which leaves out the biases. There are B sentences, of T_x
source and T_y target words. An embedding has m numbers, a state n, an annotation 2n, the
alignment model's hidden layer n', the readout l. RNNencdec is this file with `FixedContext`
in place of `Attention`.
"""

from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from course_lib.corpora.batches import Batch
from course_lib.corpora.vocabulary import PAD
from course_lib.models.config import ModelConfig
from course_lib.models.precision import at_least_single

Look = tuple[Tensor, Tensor | None]  # the context c_i and the weights alpha_i


class GatedUnit(nn.Module):
    """The gated hidden unit (A.1.1): `W` stacks W_z, W_r and W, `U_gates` U_z and U_r."""

    def __init__(self, inputs: int, n: int) -> None:
        super().__init__()
        self.W = nn.Linear(inputs, 3 * n)
        self.U_gates = nn.Linear(n, 2 * n, bias=False)
        self.U = nn.Linear(n, n, bias=False)

    def forward(self, Wx: Tensor, s_prev: Tensor) -> Tensor:
        """One step: the products W x, (B, 3n), and the last state, (B, n), to the next."""
        W_z_x, W_r_x, W_x = Wx.chunk(3, dim=-1)
        U_z_s, U_r_s = self.U_gates(s_prev).chunk(2, dim=-1)
        # z = sigma(W_z x + U_z s),  r = sigma(W_r x + U_r s)
        z, r = torch.sigmoid(W_z_x + U_z_s), torch.sigmoid(W_r_x + U_r_s)
        # s~ = tanh(W x + U [r o s])
        candidate = torch.tanh(W_x + self.U(r * s_prev))
        # s' = (1 - z) o s + z o s~
        return torch.lerp(s_prev, candidate, z)

    def read(self, x: Tensor, mask: Tensor, backwards: bool = False) -> Tensor:
        """The states along a sentence, (B, T_x, m) to (B, T_x, n). It waits at padding."""
        Wx = self.W(x).unbind(dim=1)
        h = Wx[0].new_zeros(len(x), self.U.in_features)
        states = [h] * len(Wx)
        for j in reversed(range(len(Wx))) if backwards else range(len(Wx)):
            states[j] = h = torch.where(mask[:, j, None], self(Wx[j], h), h)
        return torch.stack(states, dim=1) * mask[..., None]


class Encoder(nn.Module):
    """Reads a sentence in both directions (A.2.1), with one table E and two units."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.E = nn.Embedding(config.source_vocabulary, config.embedding, padding_idx=PAD)
        self.ahead = GatedUnit(config.embedding, config.hidden)
        self.back = GatedUnit(config.embedding, config.hidden)
        self.dropout = nn.Dropout(config.dropout)

    def forward(self, source: Tensor, lengths: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        """Words (B, T_x), real where mask is True, to h (B, T_x, 2n), summary (B, n)."""
        x = self.dropout(self.E(source))
        ahead, back = self.ahead.read(x, mask), self.back.read(x, mask, backwards=True)
        # h_j = [forward h_j; backward h_j]; backward h_1 has read the whole sentence
        return self.dropout(torch.cat([ahead, back], dim=-1)), back[:, 0]


class Attention(nn.Module):
    """RNNsearch: score, normalise, aggregate (Section 3.1, A.1.2)."""

    def __init__(self, n: int, annotation_size: int, n_prime: int) -> None:
        super().__init__()
        self.W_a = nn.Linear(n, n_prime, bias=False)
        self.U_a = nn.Linear(annotation_size, n_prime, bias=False)
        self.v_a = nn.Linear(n_prime, 1, bias=False)

    def keys(self, h: Tensor) -> Tensor:
        """U_a h_j, which no step changes: (B, T_x, n')."""
        return self.U_a(h)

    def energies(self, s_prev: Tensor, keys: Tensor) -> Tensor:
        """How well the state fits each word: (B, T_x)."""
        # e_ij = v_a' tanh(W_a s_{i-1} + U_a h_j)
        return self.v_a(torch.tanh(self.W_a(s_prev).unsqueeze(-2) + keys)).squeeze(-1)

    def forward(self, s_prev: Tensor, keys: Tensor, h: Tensor, mask: Tensor) -> Look:
        """One look back: the context c_i, (B, 2n), and the weights alpha_i, (B, T_x)."""
        # alpha_ij = exp(e_ij) / sum_k exp(e_ik)
        alpha = masked_softmax(self.energies(s_prev, keys), mask)
        # c_i = sum_j alpha_ij h_j
        return torch.einsum("...bj,bjd->...bd", alpha, h), alpha


def masked_softmax(energies: Tensor, mask: Tensor) -> Tensor:
    """Softmax where the mask is True, 0 elsewhere; a row without words is all 0, not NaN."""
    energies = energies.masked_fill(~mask, torch.finfo(energies.dtype).min)
    return torch.softmax(energies, dim=-1) * mask


class FixedContext(nn.Module):
    """RNNencdec: "fix c_i to the last forward state" (Appendix A.2.2), whatever is asked."""

    def __init__(self, n: int) -> None:
        super().__init__()
        self.n = n

    def keys(self, h: Tensor) -> Tensor:
        """Nothing is scored: no numbers a word, (B, T_x, 0)."""
        return h[..., :0]

    def forward(self, s_prev: Tensor, keys: Tensor, h: Tensor, mask: Tensor) -> Look:
        """The same c at every i, (B, n), and no weights."""
        last = mask.sum(dim=1)[:, None, None] - 1
        # c_i = c = forward h_{T_x}
        return h.take_along_dim(last, dim=1)[:, 0, : self.n], None


Context = Attention | FixedContext


class State(NamedTuple):
    """What one step hands to the next. With k hypotheses a sentence s is (k, B, n)."""

    s: Tensor  # s_{i-1}, (B, n)
    keys: Tensor  # (B, T_x, n')
    annotations: Tensor  # (B, T_x, 2n)
    mask: Tensor  # (B, T_x)


class Decoder(nn.Module):
    """Writes a word a step (A.2.2): look back with s_{i-1}, read it out, update."""

    def __init__(self, config: ModelConfig, attention: Context, unit: GatedUnit) -> None:
        super().__init__()
        n, m, l_2 = config.hidden, config.embedding, 2 * config.readout_size
        self.attention, self.unit = attention, unit
        self.E = nn.Embedding(config.target_vocabulary, m, padding_idx=PAD)
        self.W_s = nn.Linear(config.summary_size, config.state_size)
        # C stacks C_z, C_r and C, as W does
        self.C = nn.Linear(config.context_size, unit.W.out_features, bias=False)
        self.U_o, self.V_o = nn.Linear(n, l_2, bias=False), nn.Linear(m, l_2)
        self.C_o = nn.Linear(config.context_size, l_2, bias=False)
        self.W_o = nn.Linear(config.readout_size, config.target_vocabulary)
        self.dropout = nn.Dropout(config.dropout)

    def start(self, annotations: Tensor, summary: Tensor, mask: Tensor) -> State:
        """The state before the first word, and what no step changes."""
        # s_0 = tanh(W_s backward h_1)
        s_0 = torch.tanh(self.W_s(summary))
        return State(s_0, self.attention.keys(annotations), annotations, mask)

    def advance(self, WEy: Tensor, state: State) -> tuple[Tensor, Tensor, Tensor | None, State]:
        """One step, from W E y_{i-1}, (B, 3n): state to read out, c_i, alpha_i, next."""
        s_prev, keys, annotations, mask = state
        c, alpha = self.attention(s_prev, keys, annotations, mask)
        # s_i = f(s_{i-1}, y_{i-1}, c_i); the unit's input is W E y_{i-1} + C c_i
        s = self.unit(WEy + self.C(c), s_prev)
        return s_prev, c, alpha, state._replace(s=s)

    def readout(self, s: Tensor, Ey: Tensor, c: Tensor) -> Tensor:
        """Logits of the next word, (..., K_y), whose softmax is p(y_i)."""
        # t~_i = U_o s_{i-1} + V_o E y_{i-1} + C_o c_i;  t_i = maxout(t~_i)
        t = self.U_o(s) + self.V_o(Ey) + self.C_o(c)
        return self.W_o(self.dropout(torch.maximum(t[..., 0::2], t[..., 1::2])))


class RNNsearch(nn.Module):
    """Encoder and decoder; a step of a search, and the loss of a batch."""

    def __init__(self, config: ModelConfig, encoder: Encoder, decoder: Decoder) -> None:
        super().__init__()
        self.config, self.encoder, self.decoder = config, encoder, decoder

    def start(self, source: Tensor, lengths: Tensor, mask: Tensor) -> State:
        """Read the sentences, (B, T_x) word numbers."""
        annotations, summary = self.encoder(source, lengths, mask)
        return self.decoder.start(annotations, summary, mask)

    def step(self, y_prev: Tensor, state: State) -> tuple[Tensor, Tensor | None, State]:
        """One step of a search: log p(y_i), (B, K_y), alpha_i, and the next state."""
        Ey = self.decoder.E(y_prev)
        s, c, alpha, state = self.decoder.advance(self.decoder.unit.W(Ey), state)
        logits = at_least_single(self.decoder.readout(s, Ey, c))
        return torch.log_softmax(logits, dim=-1), alpha, state

    def unroll(self, batch: Batch) -> tuple[Tensor, Tensor, Tensor]:
        """All steps, each given the true word before: s, E y and c, (B, T_y, ...)."""
        state = self.start(batch.source, batch.source_lengths, batch.source_mask)
        Ey = self.decoder.dropout(self.decoder.E(batch.target_in))
        steps = []
        for WEy in self.decoder.unit.W(Ey).unbind(dim=1):
            s, c, _, state = self.decoder.advance(WEy, state)
            steps.append((s, c))
        s, c = (torch.stack(each, dim=1) for each in zip(*steps, strict=True))
        return s, Ey, c

    def loss(self, batch: Batch, smoothing: float = 0.0) -> tuple[Tensor, int]:
        """Cross-entropy in nats, summed over the real target words, and how many they are."""
        real = batch.target_words
        steps = (*self.unroll(batch), batch.target_out)
        s, Ey, c, y = (each.flatten(0, 1).index_select(0, real) for each in steps)
        logits = self.decoder.readout(s, Ey, c)
        loss = cross_entropy(logits, y, reduction="sum", label_smoothing=smoothing)
        return loss, len(real)

    forward = loss  # what training calls, through whatever precision wraps the model
