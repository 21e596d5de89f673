"""The whole Transformer (Vaswani et al., 2017, Section 3), which chapter 11 shows at work.

A layer of the decoder, x being the words read so far with their positions:

    x = x + attention(x, x, x), where no word sees a later one     # what is written?
    x = x + attention(x, annotations, annotations)                 # what does the source say?
    x = x + W_2 max(0, W_1 x + b_1) + b_2

As in the encoder (`self_attention`) a norm stands before each part and after the last layer.
"""

import math

import torch
from torch import Tensor, nn

from course_lib.models.self_attention import MultiHeadAttention, SelfAttention, sinusoids


class DecoderBlock(nn.Module):
    """A layer of the decoder: two attentions, then a small network (Section 3.1)."""

    def __init__(self, size: int, heads: int, dropout: float) -> None:
        super().__init__()
        self.self_attention = MultiHeadAttention(size, heads)
        self.cross_attention = MultiHeadAttention(size, heads)
        self.W_1 = nn.Linear(size, 2 * size)
        self.W_2 = nn.Linear(2 * size, size)
        self.norm_self = nn.LayerNorm(size)
        self.norm_cross = nn.LayerNorm(size)
        self.norm_network = nn.LayerNorm(size)
        self.dropout = nn.Dropout(dropout)

    def forward(
        self, x: Tensor, annotations: Tensor, mask: Tensor
    ) -> tuple[Tensor, Tensor, Tensor]:
        """One layer: (B, T_y, d) vectors, (B, T_x, d) annotations, their (B, T_x) mask.

        Returns:
            (B, T_y, d) vectors, and the weights: (B, heads, T_y, T_y) of the
            words read, 0 above the diagonal, and (B, heads, T_y, T_x) of the
            source words.
        """
        causal = torch.ones(1, x.shape[1], x.shape[1], dtype=torch.bool, device=x.device).tril()
        normed = self.norm_self(x)
        looked, alpha_read = self.self_attention(normed, normed, normed, causal)
        x = x + self.dropout(looked)
        looked, alpha_source = self.cross_attention(
            self.norm_cross(x), annotations, annotations, mask[:, None]
        )
        x = x + self.dropout(looked)
        hidden = torch.relu(self.W_1(self.norm_network(x)))
        return x + self.dropout(self.W_2(hidden)), alpha_read, alpha_source


class Transformer(nn.Module):
    """An encoder and a decoder of `layers` layers, `size` numbers a word (Section 3)."""

    def __init__(
        self,
        source_words: int,
        target_words: int,
        size: int,
        layers: int,
        heads: int,
        dropout: float,
    ) -> None:
        super().__init__()
        self.E_x = nn.Embedding(source_words, size)
        self.E_y = nn.Embedding(target_words, size)
        self.encoder = SelfAttention(size, size, layers, heads, dropout)
        self.blocks = nn.ModuleList(DecoderBlock(size, heads, dropout) for _ in range(layers))
        self.norm = nn.LayerNorm(size)
        self.W_o = nn.Linear(size, target_words)
        self.dropout = nn.Dropout(dropout)

    def forward(
        self, source: Tensor, mask: Tensor, read: Tensor
    ) -> tuple[Tensor, list[tuple[Tensor, Tensor]]]:
        """(B, T_x) source words, their mask, and (B, T_y) words that the decoder reads.

        Returns:
            (B, T_y, K) logits, row i those of the word after the i-th one read;
            and of each decoder layer its weights, as `DecoderBlock` gives them.
        """
        annotations = self.encoder(self.E_x(source), mask)
        x = self.E_y(read)
        size = x.shape[2]
        position = torch.arange(read.shape[1], dtype=x.dtype, device=x.device)
        x = self.dropout(x * math.sqrt(size) + sinusoids(position, size))
        weights = []
        for block in self.blocks:
            x, alpha_read, alpha_source = block(x, annotations, mask)
            weights.append((alpha_read, alpha_source))
        return self.W_o(self.norm(x)), weights
