"""Reading: a source sentence becomes one annotation a word, and one summary."""

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from course_lib.corpora.vocabulary import PAD
from course_lib.models.cells import PaperUnit
from course_lib.models.config import ModelConfig


class Encoder(nn.Module):
    """A recurrent encoder, forward only or in both directions (the paper, Section 3.2).

    The embedding E is shared by the two directions; their recurrent weights are not. Padding is
    never read: torch's unit runs on packed sequences, the paper's unit carries its state past
    padded positions unchanged.
    """

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.bidirectional = config.encoder == "bidirectional"
        self.annotation_size = config.hidden * (2 if self.bidirectional else 1)
        self.E = nn.Embedding(config.source_vocabulary, config.embedding, padding_idx=PAD)
        self.dropout = nn.Dropout(config.dropout)
        if config.unit == "paper":
            self.rnn: nn.Module = MaskedPaperRNN(
                config.embedding, config.hidden, self.bidirectional
            )
        else:
            self.rnn = PackedGRU(config.embedding, config.hidden, self.bidirectional)

    def forward(self, source: Tensor, lengths: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        """Annotations and summary of a batch of sentences.

        Args:
            source: (B, T_x) word numbers.
            lengths: (B,) real lengths, on the CPU.
            mask: (B, T_x), True at real words.

        Returns:
            annotations h_j, (B, T_x, 2n), or (B, T_x, n) for a forward encoder; zero at padding.
            summary, (B, n): the backward state at the first word, which has read the whole sentence
            last word first; for a forward encoder the state at the last real word.
        """
        embedded = self.dropout(self.E(source))
        annotations = self.rnn(embedded, lengths, mask)
        n = self.annotation_size // (2 if self.bidirectional else 1)
        summary = annotations[:, 0, n:] if self.bidirectional else last_real(annotations, mask)
        return self.dropout(annotations), summary


def last_real(states: Tensor, mask: Tensor) -> Tensor:
    """The state at the last real word: (B, T, d) states and (B, T) mask to (B, d)."""
    last = (mask.sum(dim=1) - 1).clamp(min=0)
    return states[torch.arange(len(states), device=states.device), last]


class PackedGRU(nn.Module):
    """`torch.nn.GRU` over packed sequences."""

    def __init__(self, input_size: int, hidden_size: int, bidirectional: bool) -> None:
        super().__init__()
        self.gru = nn.GRU(input_size, hidden_size, batch_first=True, bidirectional=bidirectional)

    def forward(self, embedded: Tensor, lengths: Tensor, mask: Tensor) -> Tensor:
        """(B, T_x, m) embedded words to (B, T_x, 2n) or (B, T_x, n) states, zero at padding."""
        packed = pack_padded_sequence(embedded, lengths, batch_first=True, enforce_sorted=False)
        states, _ = pad_packed_sequence(
            self.gru(packed)[0], batch_first=True, total_length=embedded.shape[1]
        )
        return states


class MaskedPaperRNN(nn.Module):
    """The paper's gated unit (Appendix A.2.1) in one direction or both."""

    def __init__(self, input_size: int, hidden_size: int, bidirectional: bool) -> None:
        super().__init__()
        directions = 2 if bidirectional else 1
        self.units = nn.ModuleList(PaperUnit(input_size, hidden_size) for _ in range(directions))

    def forward(self, embedded: Tensor, lengths: Tensor, mask: Tensor) -> Tensor:
        """(B, T_x, m) embedded words to (B, T_x, 2n) or (B, T_x, n) states, zero at padding."""
        directions = []
        for unit, backward in zip(self.units, (False, True), strict=False):
            assert isinstance(unit, PaperUnit)
            projected = unit.project(embedded)
            state = embedded.new_zeros(len(embedded), unit.hidden_size)
            states: list[Tensor] = [state] * embedded.shape[1]
            positions = range(embedded.shape[1])
            for j in reversed(positions) if backward else positions:
                # At padding the state waits: the backward unit starts at the last real word.
                state = torch.where(mask[:, j, None], unit(projected[:, j], state), state)
                states[j] = state
            directions.append(torch.stack(states, dim=1))
        return torch.cat(directions, dim=-1) * mask[..., None]
