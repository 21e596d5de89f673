"""What a training costs, from shapes: parameters, operations, memory, hours, money.

One table of matrices gives both counts: a matrix of (r, c) numbers is r c parameters, unless they
are another one's, and 2 r c operations each time it is multiplied with a vector (Appendix A of the
paper has the shapes). What
is not a product, tanh and softmax and the update, is left out of the operations. How well this
agrees with what is measured stands in `benchmarks/README.md`.
"""

from dataclasses import dataclass
from typing import NamedTuple

import torch

from course_lib.errors import CourseError
from course_lib.models import EncoderDecoder, ModelConfig, count_parameters

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

SOURCE, TARGET, SENTENCE, NEVER = "source word", "target word", "sentence", "never"
"""How often a matrix is multiplied; an embedding is looked up."""


class Matrix(NamedTuple):
    """One matrix of the model: its part, its shape, its bias, and when it is multiplied."""

    part: str
    rows: int
    columns: int
    bias: int
    once: str
    tied: bool = False  # the numbers are those of a matrix above it

    @property
    def parameters(self) -> int:
        """Numbers learned for it alone."""
        return self.bias + (0 if self.tied else self.rows * self.columns)


def matrices(config: ModelConfig) -> list[Matrix]:
    """All matrices of RNNsearch or RNNencdec, in the order a sentence meets them.

    Raises:
        CourseError: the model has parts that are not in the table.
    """
    n, m, a = config.hidden, config.embedding, config.alignment
    wide = 2 * config.readout
    directions = 1 if config.encoder == "forward" else 2
    h = directions * n  # of an annotation
    attends = config.context == "additive"
    c = h if attends else n  # of the context
    # nn.GRU and TorchUnit have a bias on the recurrent side as well, PaperUnit has not.
    both = 3 * n if config.unit == "torch" else 0
    once = SOURCE if attends else SENTENCE  # the products with what c_i is made of
    twice = config.decoder == "conditional"
    table = [
        Matrix("source embeddings", config.source_vocabulary, m, 0, NEVER),
        *[
            Matrix("encoder", 3 * n, m, 3 * n, SOURCE),
            Matrix("encoder", 3 * n, n, both, SOURCE),
        ]
        * directions,
        Matrix("target embeddings", config.target_vocabulary, m, 0, NEVER, config.tying == "all"),
        Matrix("initial state", n, n, n, SENTENCE),
        Matrix("decoder unit", 3 * n, m, 3 * n, TARGET),
        Matrix("decoder unit", 3 * n, n, both, TARGET),
        Matrix("decoder unit", 3 * n, c, 3 * n if twice else 0, once),
        *[Matrix("decoder unit", 3 * n, n, both, TARGET)] * twice,
        Matrix("readout", wide, n, 0, TARGET),
        Matrix("readout", wide, m, wide, TARGET),
        Matrix("readout", wide, c, 0, once),
        Matrix(
            "vocabulary",
            config.target_vocabulary,
            config.readout,
            config.target_vocabulary,
            TARGET,
            config.tying != "none",
        ),
    ]
    if attends:
        table += [
            Matrix("keys", a, h, 0, SOURCE),
            Matrix("queries", a, n, 0, TARGET),
            # v_a is multiplied once for each pair of words, which `forward_flops` counts.
            Matrix("energies and contexts", 1, a, 0, NEVER),
        ]
    if sum(matrix.parameters for matrix in table) != counted(config):
        raise CourseError(
            "The cost model knows RNNsearch and RNNencdec with one layer, additive or fixed "
            "context and the decoder paper or conditional, as the presets have them. Leave out "
            "what changes the model's parts."
        )
    return table


def counted(config: ModelConfig) -> int:
    """The parameters of the model itself, built without memory for them."""
    with torch.device("meta"):
        return count_parameters(EncoderDecoder(config))


def parameters(config: ModelConfig) -> int:
    """Numbers that are learned."""
    return sum(matrix.parameters for matrix in matrices(config))


def forward_flops(
    config: ModelConfig, source_words: float, target_words: float, sentences: float, looks: float
) -> dict[str, float]:
    """Operations of a forward pass, by part of the model.

    Args:
        config: the model.
        source_words: words read, end marks included, padding not.
        target_words: words predicted, likewise.
        sentences: sentence pairs.
        looks: the sum over the pairs of T_x T_y, at each of which an energy is computed.
    """
    times = {SOURCE: source_words, TARGET: target_words, SENTENCE: sentences, NEVER: 0}
    operations: dict[str, float] = {}
    for matrix in matrices(config):
        if matrix.once != NEVER:
            products = 2 * matrix.rows * matrix.columns * times[matrix.once]
            operations[matrix.part] = operations.get(matrix.part, 0) + products
    if config.context == "additive":
        # e_ij = v_a' tanh(...), and c_i = sum_j alpha_ij h_j: of h_j its products are added up.
        look = 2 * (config.alignment + 3 * config.hidden + 2 * config.readout)
        operations["energies and contexts"] = look * looks
    return operations


def training_flops(
    config: ModelConfig, source_words: float, target_words: float, sentences: float, looks: float
) -> float:
    """Operations of forward and backward pass; see `forward_flops`."""
    forward = forward_flops(config, source_words, target_words, sentences, looks)
    return FORWARD_AND_BACKWARD * sum(forward.values())


KEPT_ENCODER = {
    ("torch", "bidirectional"): 16,
    ("paper", "bidirectional"): 12,
    ("paper", "forward"): 5,
}
"""Vectors of n numbers that a source position keeps for the backward pass."""
KEPT_DECODER = {
    ("torch", "paper"): 8,
    ("paper", "paper"): 6,
    ("torch", "conditional"): 15,
}
"""The same for a target position."""


def kept(config: ModelConfig, batch: int, source_length: int, target_length: int) -> int:
    """Bytes that the forward pass of a minibatch keeps for its backward pass, in fp32.

    Lengths are those of the longest sentences, end marks included: padding is kept, too, but for
    the vocabulary's logits, for which equal lengths are assumed. The largest terms are the logits,
    B T_y K_y, and with attention the tanh of every pair of words, B T_x T_y n'.
    """
    m, n, readout = config.embedding, config.hidden, config.readout
    attends = config.context == "additive"
    try:
        of_source = m + KEPT_ENCODER[config.unit, config.encoder] * n
        of_state = KEPT_DECODER[config.unit, config.decoder]
        of_target = 2 * m + of_state * n + 3 * readout
    except KeyError as error:
        raise CourseError(
            "The memory of this unit, encoder and context has not been counted. "
            "Choose the model rnnsearch or rnnencdec as the presets have it."
        ) from error
    if attends:  # of each annotation its products for the unit and for the readout
        of_source += 3 * n + 2 * readout
    # A mask for all that is dropped from; annotations that are scored, too.
    if config.dropout:
        of_source += m + (2 if attends else 1) * config.annotation_size
        of_target += m + readout
    looks = (config.alignment + 2) * target_length if attends else 0
    return (
        NUMBER
        * batch
        * (
            source_length * (of_source + looks)
            + target_length * (of_target + config.target_vocabulary)
        )
    )


def memory(
    config: ModelConfig, batch: int, source_length: int, target_length: int
) -> dict[str, int]:
    """Bytes that a training process holds at most, in fp32, by what they are for.

    `short-lived` is what is there only while the loss turns round; see `SHORT_LIVED`.
    """
    states = NUMBER * parameters(config)
    return {
        "process": PROCESS,
        "weights": states,
        "gradients": states,
        "optimiser": (STATES - 2) * states,
        "activations": kept(config, batch, source_length, target_length),
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
        x, y = self.source_words + 1, self.target_words + 1
        return self.updates * self.batch * training_flops(config, x, y, 1, x * y)


def seconds(
    config: ModelConfig,
    work: Workload,
    flops: float | None = None,
    words: float | None = None,
) -> float:
    """How long a training takes at `flops` operations or `words` target words a second.

    Raises:
        CourseError: not exactly one of the two is given, or it is not above 0.
    """
    rate = flops if words is None else words
    if rate is None or (flops is not None and words is not None) or rate <= 0:
        raise CourseError(
            "Say how fast the device is: either the TFLOP/s that it sustains (--tflops) or the "
            "target words a second (--words-per-second), above 0."
        )
    return (work.words if words is not None else work.flops(config)) / rate


PAPER_WORDS = (304 / 12, 348 / 12)
"""Words of an average pair of the paper's training data, English and French: 12 million selected
sentences have 304 and 348 million (Sutskever et al., 2014, Section 3.1, on the same selection)."""
