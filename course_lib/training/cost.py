"""What a training costs: parameters, operations, memory.

torch counts operations and what the backward pass needs, while the model itself reads four small
minibatches: both grow evenly with the length of either side, so that these tell them for sentences
of any length. What is not a product, tanh and softmax and the update, is left out of the
operations.
"""

from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

import torch
from torch import Tensor
from torch.autograd.graph import saved_tensors_hooks
from torch.utils.flop_counter import FlopCounterMode

from course_lib.corpora.batches import make_batch
from course_lib.corpora.vocabulary import UNK
from course_lib.errors import CourseError
from course_lib.models import ModelConfig, assemble, count_parameters

FORWARD_AND_BACKWARD = 3
"""A product's backward pass is two products of the same size, one for each factor."""
NUMBER = 4
"""Bytes of a number in fp32."""
STATES = 4
"""Numbers held for each parameter: itself, its gradient, two moments (Adam and Adadelta alike)."""
PROCESS = 460 * 2**20
"""Bytes of a process that has imported what training needs and made a first small update."""
SHORT_LIVED = 4
"""Arrays as large as the logits that live for a moment: the logits themselves, two gradients, and
what the process keeps of freed memory. Set, like `PROCESS`, on seven measured processes."""
FEW, MORE = 3, 4
"""Words of the sentences that are counted, end marks included."""


class Count(NamedTuple):
    """Of one sentence pair: operations of a forward pass, and bytes kept for the backward pass."""

    operations: float
    kept: float


@cache
def counted(config: ModelConfig, source_length: int, target_length: int) -> Count:
    """A pair of these lengths, end marks included, as torch counts it: the mean of two.

    Raises:
        CourseError: the cost of this model does not grow evenly, or torch does not count it.
    """
    if config.self_attentive or config.unit == "lstm":
        raise CourseError(
            f"The cost of encoder={config.encoder} with unit={config.unit} is not known. Choose a "
            "recurrent encoder, and another unit than lstm."
        )
    with torch.device("meta"):
        model = assemble(config)
    model = model.to_empty(device="cpu")  # what its weights are decides nothing
    own = {weight.untyped_storage().data_ptr() for weight in model.parameters()}
    kept: dict[int, Tensor] = {}

    def keep(tensor: Tensor) -> Tensor:
        if (place := tensor.untyped_storage().data_ptr()) not in own:
            kept[place] = tensor  # which is thereby not freed, so that none takes its place
        return tensor

    pair = [UNK] * (source_length - 1), [UNK] * (target_length - 1)
    with saved_tensors_hooks(keep, lambda tensor: tensor), FlopCounterMode(display=False) as flops:
        model.loss(make_batch([pair, pair], range(2)))
    size = sum(tensor.untyped_storage().nbytes() for tensor in kept.values())
    return Count(flops.get_total_flops() / 2, size / 2)


def of_pair(config: ModelConfig, source_length: float, target_length: float) -> Count:
    """A sentence pair of any lengths, means included, end marks counted."""
    x, y = ((length - FEW) / (MORE - FEW) for length in (source_length, target_length))
    shares = (
        ((1 - x) * (1 - y), counted(config, FEW, FEW)),
        (x * (1 - y), counted(config, MORE, FEW)),
        ((1 - x) * y, counted(config, FEW, MORE)),
        (x * y, counted(config, MORE, MORE)),
    )
    return Count(
        sum(share * count.operations for share, count in shares),
        sum(share * count.kept for share, count in shares),
    )


def parameters(config: ModelConfig) -> int:
    """Numbers that are learned; the model is built without memory for them."""
    with torch.device("meta"):
        return count_parameters(assemble(config))


def training_flops(config: ModelConfig, source_length: float, target_length: float) -> float:
    """Operations of forward and backward pass over one pair of these lengths, end marks counted."""
    return FORWARD_AND_BACKWARD * of_pair(config, source_length, target_length).operations


def memory(
    config: ModelConfig, batch: int, source_length: int, target_length: int
) -> dict[str, int]:
    """Bytes that a training process holds at most, in fp32, by what they are for.

    Lengths are those of the longest sentences, end marks included: padding is kept, too, but for
    the vocabulary's logits, for which equal lengths are assumed. The largest of what is kept are
    the logits, B T_y K_y, and with attention the tanh of every pair of words, B T_x T_y n'.
    `short-lived` is what is there only while the loss turns round; see `SHORT_LIVED`.
    """
    states = NUMBER * parameters(config)
    return {
        "process": PROCESS,
        "weights": states,
        "gradients": states,
        "optimiser": (STATES - 2) * states,
        "activations": round(batch * of_pair(config, source_length, target_length).kept),
        "short-lived": SHORT_LIVED * NUMBER * batch * target_length * config.target_vocabulary,
    }


@dataclass(frozen=True)
class Workload:
    """How much is trained: updates, pairs in each, words of an average pair (end marks apart)."""

    updates: int
    batch: int
    source_words: float
    target_words: float

    @property
    def words(self) -> float:
        """Target words predicted, end marks included."""
        return self.updates * self.batch * (self.target_words + 1)

    def flops(self, config: ModelConfig) -> float:
        """Operations of the whole training.

        An average pair stands for all: T_x T_y of the averages is a little below the average of
        T_x T_y, in a term that is a hundredth of the whole.
        """
        pair = training_flops(config, self.source_words + 1, self.target_words + 1)
        return self.updates * self.batch * pair


PAPER_WORDS = (304 / 12, 348 / 12)
"""Words of an average pair of the paper's training data, English and French: 12 million selected
sentences have 304 and 348 million (Sutskever et al., 2014, Section 3.1, on the same selection)."""
