"""Dropout of embedded words: single numbers, and words as a whole."""

import torch
from torch import Tensor, nn
from torch.nn import functional


class WordDropout(nn.Module):
    """In training, zero numbers of embedded words, and then words altogether.

    numbers: the share of numbers zeroed; the others grow to keep the sum (Srivastava et al., 2014).
    words: the share of words whose vector is zeroed as a whole, the others left as they are
        (Sennrich et al., 2016b, after Gal and Ghahramani, 2016, Section 4.2). Each position is
        drawn on its own.
    """

    def __init__(self, numbers: float, words: float) -> None:
        super().__init__()
        self.numbers, self.words = numbers, words

    def forward(self, embedded: Tensor) -> Tensor:
        """(..., m) embedded words to the same with zeros among them."""
        if not self.training:
            return embedded
        embedded = functional.dropout(embedded, self.numbers)
        if self.words:
            kept = torch.rand(embedded.shape[:-1], device=embedded.device) >= self.words
            embedded = embedded * kept[..., None]
        return embedded
