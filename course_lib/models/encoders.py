"""Encoders in the place of `Encoder`: other units, layers, one direction, reversed, self-attentive.

Each takes (B, T_x) words, their lengths and mask, and gives annotations, 0 at padding, and the
summary that s_0 is made from.
"""

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from course_lib.corpora.vocabulary import PAD
from course_lib.models.config import ModelConfig
from course_lib.models.rnnsearch import Encoder, GatedUnit
from course_lib.models.self_attention import SelfAttention


def last_real(states: Tensor, mask: Tensor) -> Tensor:
    """The state at the last real word: (B, T, d) states and (B, T) mask to (B, d)."""
    last = (mask.sum(dim=1) - 1).clamp(min=0)
    return states[torch.arange(len(states), device=states.device), last]


class OtherEncoder(Encoder):
    """What the encoders below share: the embedding E, dropout, and how the summary is read."""

    def __init__(self, config: ModelConfig) -> None:
        nn.Module.__init__(self)
        self.config = config
        self.E = nn.Embedding(config.source_vocabulary, config.embedding, padding_idx=PAD)
        self.dropout = nn.Dropout(config.dropout)

    def summary(self, annotations: Tensor, mask: Tensor) -> Tensor:
        """The backward state at the first word; of one direction the state at the last word."""
        if self.config.encoder == "forward":
            return last_real(annotations, mask)
        return annotations[:, 0, self.config.hidden :]


class DeepEncoder(OtherEncoder):
    """The paper's unit in one direction (the paper's own RNNencdec) or both, in layers."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__(config)
        directions = 1 if config.encoder == "forward" else 2
        sizes = [config.embedding] + [config.annotation_size] * (config.layers - 1)
        self.units = nn.ModuleList(
            nn.ModuleList(GatedUnit(size, config.hidden) for _ in range(directions))
            for size in sizes
        )

    @property
    def lowest_ahead(self) -> GatedUnit:
        """The unit that reads the words themselves, first to last."""
        layer = self.units[0]
        assert isinstance(layer, nn.ModuleList)
        assert isinstance(layer[0], GatedUnit)
        return layer[0]

    def forward(self, source: Tensor, lengths: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        """See the module."""
        states = self.E(source)
        for layer in self.units:
            states = self.dropout(states)
            assert isinstance(layer, nn.ModuleList)
            read = []
            for backwards, unit in enumerate(layer):
                assert isinstance(unit, GatedUnit)
                read.append(unit.read(states, mask, bool(backwards)))
            states = torch.cat(read, dim=-1)
        return self.dropout(states), self.summary(states, mask)


class PackedEncoder(OtherEncoder):
    """`torch.nn.GRU`, `LSTM` or `RNN` over packed sequences, which never read padding."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__(config)
        kind = {"torch": nn.GRU, "lstm": nn.LSTM, "tanh": nn.RNN}[config.unit]
        self.rnn = kind(
            config.embedding,
            config.hidden,
            num_layers=config.layers,
            batch_first=True,
            bidirectional=config.encoder == "bidirectional",
            dropout=config.dropout if config.layers > 1 else 0.0,
        )

    def forward(self, source: Tensor, lengths: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        """See the module; the lengths are on the CPU, as packing wants them."""
        embedded = self.dropout(self.E(source))
        # Packing would sort by itself, and then wait for a card to undo it.
        longest_first = lengths.argsort(descending=True)
        packed = pack_padded_sequence(
            embedded[longest_first], lengths[longest_first], batch_first=True
        )
        states, _ = pad_packed_sequence(
            self.rnn(packed)[0], batch_first=True, total_length=source.shape[1]
        )
        states = states[longest_first.argsort()]
        return self.dropout(states), self.summary(states, mask)


class SelfAttentiveEncoder(OtherEncoder):
    """Annotations without recurrence (Vaswani et al., 2017); their mean is the summary."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__(config)
        self.layers = SelfAttention(
            config.embedding,
            config.annotation_size,
            config.layers,
            config.heads,
            config.dropout,
            config.encoder == "self-attention",
        )

    def forward(self, source: Tensor, lengths: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        """See the module."""
        annotations = self.layers(self.dropout(self.E(source)), mask)
        words = mask.sum(dim=1, keepdim=True).clamp(min=1)
        return self.dropout(annotations), annotations.sum(dim=1) / words


class Reversing(OtherEncoder):
    """In front of another encoder: it is given the words last to first (Sutskever et al., 2014)."""

    def forward(self, source: Tensor, lengths: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        """See the module; each annotation goes back to its word."""
        order = reversed_words(lengths, mask)
        annotations, summary = super().forward(source.gather(1, order), lengths, mask)
        return annotations.gather(1, order[..., None].expand_as(annotations)), summary


class ReversingPacked(Reversing, PackedEncoder):
    """torch's units, last word first."""


class ReversingDeep(Reversing, DeepEncoder):
    """The paper's units, last word first."""


def reversed_words(lengths: Tensor, mask: Tensor) -> Tensor:
    """Where each position's word comes from when a source is read last word first.

    The words turn round, end mark and padding stay where they are (Sutskever et al., 2014, Section
    3.3): (B, T_x) positions. Reading through them twice gives the sentence back.
    """
    j = torch.arange(mask.shape[1], device=mask.device).expand_as(mask)
    words = lengths.to(mask.device)[:, None] - 1
    return torch.where(j < words, words - 1 - j, j)


def build_encoder(config: ModelConfig) -> Encoder:
    """The encoder that a configuration asks for."""
    if config.self_attentive:
        return SelfAttentiveEncoder(config)
    if config.unit != "paper":
        return (ReversingPacked if config.reverse_source else PackedEncoder)(config)
    if config.reverse_source:
        return ReversingDeep(config)
    if config.encoder == "forward" or config.layers > 1:
        return DeepEncoder(config)
    return Encoder(config)
