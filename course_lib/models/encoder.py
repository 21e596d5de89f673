"""Reading: a source sentence becomes one annotation a word, and one summary."""

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from course_lib.corpora.vocabulary import PAD
from course_lib.models.cells import PaperUnit
from course_lib.models.config import ModelConfig
from course_lib.models.self_attention import SelfAttention


class Encoder(nn.Module):
    """Words to annotations: recurrent, forward only or in both directions (the paper, Section 3.2),
    or self-attentive (Vaswani et al., 2017).

    The embedding E is shared by the two directions; their recurrent weights are not. Padding is
    never read: torch's units, the default, run on packed sequences, the paper's unit carries its
    state past padded positions unchanged, self-attention masks them.
    """

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.config = config
        self.E = nn.Embedding(config.source_vocabulary, config.embedding, padding_idx=PAD)
        self.dropout = nn.Dropout(config.dropout)
        if config.self_attentive:
            self.rnn: nn.Module = SelfAttention(
                config.embedding,
                config.annotation_size,
                config.layers,
                config.heads,
                config.dropout,
                config.encoder == "self-attention",
            )
        elif config.unit == "paper":
            self.rnn = MaskedPaperRNN(config)
        else:
            self.rnn = PackedRNN(config)

    def forward(self, source: Tensor, lengths: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        """Annotations and summary of a batch of sentences.

        Args:
            source: (B, T_x) word numbers.
            lengths: (B,) real lengths, on the CPU.
            mask: (B, T_x), True at real words.

        Returns:
            annotations h_j, (B, T_x, annotation_size), in the order of
            the source words; zero at padding. summary, (B, n): the
            backward state at the first word, which has read the whole
            sentence last word first; for a forward encoder the state
            at the last real word. For a self-attentive one it is the
            mean of the annotations, (B, 2n).
        """
        if not self.config.reverse_source:
            annotations, summary = self.read(source, lengths, mask)
        else:
            order = reversed_words(lengths, mask)
            annotations, summary = self.read(source.gather(1, order), lengths, mask)
            # Each annotation goes back to its word.
            annotations = annotations.gather(1, order[..., None].expand_as(annotations))
        return self.dropout(annotations), summary

    def read(self, source: Tensor, lengths: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        """Annotations and summary, in the order in which the words are given."""
        embedded = self.dropout(self.E(source))
        if isinstance(self.rnn, SelfAttention):
            annotations = self.rnn(embedded, mask)
            words = mask.sum(dim=1, keepdim=True).clamp(min=1)
            return annotations, annotations.sum(dim=1) / words
        annotations = self.rnn(embedded, lengths, mask)
        if self.config.encoder == "forward":
            return annotations, last_real(annotations, mask)
        summary = annotations[:, 0, self.config.hidden :]
        return annotations, summary


def last_real(states: Tensor, mask: Tensor) -> Tensor:
    """The state at the last real word: (B, T, d) states and (B, T) mask to (B, d)."""
    last = (mask.sum(dim=1) - 1).clamp(min=0)
    return states[torch.arange(len(states), device=states.device), last]


def reversed_words(lengths: Tensor, mask: Tensor) -> Tensor:
    """Where each position's word comes from when a source is read last word first.

    The words turn round, end mark and padding stay where they are (Sutskever et al., 2014, Section
    3.3): (B, T_x) positions. Reading through them twice gives the sentence back.
    """
    j = torch.arange(mask.shape[1], device=mask.device).expand_as(mask)
    words = lengths.to(mask.device)[:, None] - 1
    return torch.where(j < words, words - 1 - j, j)


class PackedRNN(nn.Module):
    """`torch.nn.GRU`, `LSTM` or `RNN` over packed sequences."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        kind = {"torch": nn.GRU, "lstm": nn.LSTM, "tanh": nn.RNN}[config.unit]
        self.units = kind(
            config.embedding,
            config.hidden,
            num_layers=config.layers,
            batch_first=True,
            bidirectional=config.encoder == "bidirectional",
            dropout=config.dropout if config.layers > 1 else 0.0,
        )

    def forward(self, embedded: Tensor, lengths: Tensor, mask: Tensor) -> Tensor:
        """(B, T_x, m) embedded words to (B, T_x, 2n) or (B, T_x, n) states, zero at padding."""
        packed = pack_padded_sequence(embedded, lengths, batch_first=True, enforce_sorted=False)
        states, _ = pad_packed_sequence(
            self.units(packed)[0], batch_first=True, total_length=embedded.shape[1]
        )
        return states


class MaskedPaperRNN(nn.Module):
    """The paper's gated unit (Appendix A.2.1) in one direction or both."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        directions = 2 if config.encoder == "bidirectional" else 1
        sizes = [config.embedding] + [config.annotation_size] * (config.layers - 1)
        self.units = nn.ModuleList(
            nn.ModuleList(PaperUnit(size, config.hidden) for _ in range(directions))
            for size in sizes
        )
        self.dropout = nn.Dropout(config.dropout)

    def forward(self, embedded: Tensor, lengths: Tensor, mask: Tensor) -> Tensor:
        """(B, T_x, m) embedded words to (B, T_x, 2n) or (B, T_x, n) states, zero at padding."""
        states = embedded
        for number, layer in enumerate(self.units):
            assert isinstance(layer, nn.ModuleList)
            inputs = self.dropout(states) if number else states
            directions = [
                run_unit(unit, inputs, mask, backward)
                for unit, backward in zip(layer, (False, True), strict=False)
            ]
            states = torch.cat(directions, dim=-1)
        return states


def run_unit(unit: nn.Module, inputs: Tensor, mask: Tensor, backward: bool) -> Tensor:
    """One unit along a sentence: (B, T_x, m) inputs to (B, T_x, n) states, zero at padding."""
    assert isinstance(unit, PaperUnit)
    projected = unit.project(inputs)
    # As the products: under autocast they are in half precision where the inputs are not.
    state = projected.new_zeros(len(inputs), unit.hidden_size)
    positions = range(inputs.shape[1])
    states: list[Tensor] = [state] * len(positions)
    for j in reversed(positions) if backward else positions:
        # At padding the state waits: the backward unit starts at the last real word.
        state = torch.where(mask[:, j, None], unit(projected[:, j], state), state)
        states[j] = state
    return torch.stack(states, dim=1) * mask[..., None]
