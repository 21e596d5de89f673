"""How many operations sentence pairs need: the cost model's, for real words only.

A product of (a, b) with (b, c) matrices is 2 a b c operations. Everything that is not a matrix
product (tanh, softmax, the update's element-wise work) is left out: a program at 100 percent of the
limit would do all that in no time.
"""

from collections.abc import Sequence

from course_lib.corpora.batches import EncodedPair
from course_lib.models import ModelConfig
from course_lib.training import cost


def training_flops(pairs: Sequence[EncodedPair], config: ModelConfig) -> float:
    """Operations of forward and backward pass over sentence pairs.

    End marks are counted as words on both sides, padding is not.
    """
    return sum(
        cost.training_flops(config, len(source) + 1, len(target) + 1) for source, target in pairs
    )
