"""How many operations sentence pairs need: the cost model's, for real words only.

A product of (a, b) with (b, c) matrices is 2 a b c operations. Everything that is not a matrix
product (tanh, softmax, the update's element-wise work) is left out: a program at 100 percent of the
limit would do all that in no time.
"""

from collections.abc import Sequence

from course_lib.corpora.batches import EncodedPair
from course_lib.models import ModelConfig
from course_lib.training import cost


def forward_flops(pairs: Sequence[EncodedPair], config: ModelConfig) -> dict[str, float]:
    """Operations of one forward pass over sentence pairs, by part of the model.

    End marks are counted as words on both sides, padding is not.
    """
    sources = [len(source) + 1 for source, _ in pairs]
    targets = [len(target) + 1 for _, target in pairs]
    looks = sum(t_x * t_y for t_x, t_y in zip(sources, targets, strict=True))
    return cost.forward_flops(config, sum(sources), sum(targets), len(pairs), looks)


def training_flops(pairs: Sequence[EncodedPair], config: ModelConfig) -> float:
    """Operations of forward and backward pass over sentence pairs."""
    return cost.FORWARD_AND_BACKWARD * sum(forward_flops(pairs, config).values())
