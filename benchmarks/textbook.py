"""RNNsearch as tutorials write it: the same mathematics as course_lib's, step by step.

Every line of the paper's decoder is computed inside the loop over target words: the keys U_a h_j
are projected anew at each step, the unit reads [E y_{i-1}; c_i] through `nn.GRUCell`, the
vocabulary is scored at each step, padding included, and `ignore_index` drops it from the loss
afterwards. Nothing here is slow on purpose; it is how the equations read.
"""

from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence, pad_sequence

from course_lib.corpora.batches import EncodedPair
from course_lib.corpora.vocabulary import BOS, EOS, PAD
from course_lib.models import ModelConfig


class Attention(nn.Module):
    """Additive attention over the annotations (the paper, Appendix A.1.2)."""

    def __init__(self, state_size: int, annotation_size: int, hidden: int) -> None:
        super().__init__()
        self.W = nn.Linear(state_size, hidden, bias=False)
        self.U = nn.Linear(annotation_size, hidden, bias=False)
        self.v = nn.Linear(hidden, 1, bias=False)

    def forward(self, state: Tensor, annotations: Tensor, mask: Tensor) -> Tensor:
        """The context of one step, (B, 2n)."""
        hidden = torch.tanh(self.W(state).unsqueeze(1) + self.U(annotations))
        energies = self.v(hidden).squeeze(2).masked_fill(~mask, float("-inf"))
        weights = functional.softmax(energies, dim=1)
        return torch.bmm(weights.unsqueeze(1), annotations).squeeze(1)


class Seq2Seq(nn.Module):
    """Bidirectional GRU encoder, attention, GRU decoder with a maxout readout."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        n, m, maxout = config.hidden, config.embedding, 2 * config.readout_size
        self.source_embedding = nn.Embedding(config.source_vocabulary, m, padding_idx=PAD)
        self.target_embedding = nn.Embedding(config.target_vocabulary, m, padding_idx=PAD)
        self.encoder = nn.GRU(m, n, batch_first=True, bidirectional=True)
        self.initial = nn.Linear(n, n)
        self.attention = Attention(n, 2 * n, config.alignment)
        self.cell = nn.GRUCell(m + 2 * n, n)
        self.deep_output = nn.Linear(n + m + 2 * n, maxout)
        self.output = nn.Linear(config.readout_size, config.target_vocabulary)

    def forward(self, source: Tensor, target: Tensor) -> tuple[Tensor, Tensor]:
        """Summed cross-entropy of (B, T_y) targets given (B, T_x) sources, and its words.

        Sources end with the end mark; targets begin with the begin mark and end with the end mark.
        Both are filled up with padding.
        """
        mask = source != PAD
        packed = pack_padded_sequence(
            self.source_embedding(source), mask.sum(1), batch_first=True, enforce_sorted=False
        )
        annotations, _ = pad_packed_sequence(self.encoder(packed)[0], batch_first=True)
        n = self.cell.hidden_size
        state = torch.tanh(self.initial(annotations[:, 0, n:]))
        loss = torch.zeros((), dtype=annotations.dtype)
        for i in range(target.shape[1] - 1):
            embedded = self.target_embedding(target[:, i])
            context = self.attention(state, annotations, mask)
            t = self.deep_output(torch.cat((state, embedded, context), dim=1))
            t = t.view(len(t), -1, 2).max(dim=2).values
            logits = self.output(t)
            loss = loss + functional.cross_entropy(
                logits, target[:, i + 1], ignore_index=PAD, reduction="sum"
            )
            state = self.cell(torch.cat((embedded, context), dim=1), state)
        return loss, (target[:, 1:] != PAD).sum()


def collate(pairs: Sequence[EncodedPair]) -> tuple[Tensor, Tensor]:
    """Sentence pairs as padded (B, T_x) sources and (B, T_y) targets, marks added."""
    sources = [torch.tensor([*source, EOS]) for source, _ in pairs]
    targets = [torch.tensor([BOS, *target, EOS]) for _, target in pairs]
    return (
        pad_sequence(sources, batch_first=True, padding_value=PAD),
        pad_sequence(targets, batch_first=True, padding_value=PAD),
    )
