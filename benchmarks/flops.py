"""How many operations RNNsearch needs: counted from shapes, real words only.

A product of (a, b) with (b, c) matrices is 2 a b c operations. Everything that is not a matrix
product (tanh, softmax, the update's element-wise work) is left out: a program at 100 percent of the
limit would do all that in no time.
"""

from collections.abc import Sequence

from course_lib.corpora.batches import EncodedPair
from course_lib.models import ModelConfig

FORWARD_AND_BACKWARD = 3
"""A product's backward pass is two products of the same size, one for each factor."""


def forward_flops(pairs: Sequence[EncodedPair], config: ModelConfig) -> dict[str, int]:
    """Operations of one forward pass over sentence pairs, by part of the model.

    For RNNsearch with torch's unit: bidirectional encoder, additive score, maxout readout. End
    marks are counted as words on both sides, padding is not.
    """
    n, m, hidden, wide = config.hidden, config.embedding, config.alignment, 2 * config.readout
    sources = [len(source) + 1 for source, _ in pairs]
    targets = [len(target) + 1 for _, target in pairs]
    source_words, target_words = sum(sources), sum(targets)
    scored = sum(t_x * t_y for t_x, t_y in zip(sources, targets, strict=True))
    return {
        "encoder": 2 * source_words * 2 * (m + n) * 3 * n,
        "keys": 2 * source_words * 2 * n * hidden,
        "initial state": 2 * len(pairs) * n * n,
        "queries": 2 * target_words * n * hidden,
        "energies and contexts": 2 * scored * (hidden + 2 * n),
        "decoder unit": 2 * target_words * (m + n + 2 * n) * 3 * n,
        "readout": 2 * target_words * (n + m + 2 * n) * wide,
        "vocabulary": 2 * target_words * config.readout * config.target_vocabulary,
    }


def training_flops(pairs: Sequence[EncodedPair], config: ModelConfig) -> int:
    """Operations of forward and backward pass over sentence pairs."""
    return FORWARD_AND_BACKWARD * sum(forward_flops(pairs, config).values())
