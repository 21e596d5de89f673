"""What is trained on while it is timed: one set of sentence pairs, cut into batches in two ways."""

import random
from typing import Any, NamedTuple

from course_lib.corpora.batches import POOL_BATCHES, EncodedPair, bucketed_batches
from course_lib.corpora.multi30k import REQUIRED_SPLITS, locate
from course_lib.corpora.registry import load_corpus
from course_lib.corpora.vocabulary import Vocabulary
from course_lib.errors import CourseError
from course_lib.models import ModelConfig
from course_lib.training import cost

CORPORA = ("multi30k", "toy")
PAIR = "en-de"
MIN_FREQUENCY = 2
UNIT = "torch"
"""The gated unit that the textbook and JoeyNMT have, too."""


class Workload(NamedTuple):
    """Sentence pairs, the sizes of their vocabularies, and the model that learns from them."""

    pairs: list[EncodedPair]
    batch: int
    config: ModelConfig

    @property
    def target_tokens(self) -> int:
        """Target words that are predicted: every word and the end marks."""
        return sum(len(target) + 1 for _, target in self.pairs)

    @property
    def flops(self) -> float:
        """Operations of both passes; a product of (a, b) with (b, c) matrices has 2 a b c.

        For real words only, end marks among them; what is no matrix product (tanh, softmax, the
        update's element-wise work) is left out: a program at 100 per cent of the limit would do all
        that in no time.
        """
        return sum(cost.training_flops(self.config, len(x) + 1, len(y) + 1) for x, y in self.pairs)

    def bucketed(self) -> list[list[EncodedPair]]:
        """Minibatches of similar length, as the library makes them."""
        order = bucketed_batches(self.pairs, self.batch, seed=0, epoch=0)
        return [[self.pairs[i] for i in index] for index in order]

    def shuffled(self) -> list[list[EncodedPair]]:
        """Minibatches in random order, as tutorials make them."""
        pairs = random.Random(0).sample(self.pairs, len(self.pairs))
        return [pairs[i : i + self.batch] for i in range(0, len(pairs), self.batch)]


def workload(corpus: str, batch: int, batches: int = POOL_BATCHES, **sizes: Any) -> Workload:
    """Random training pairs of a corpus for `batches` minibatches.

    So many minibatches are sorted by length together in training; with fewer, bucketing would look
    worse than it is. `sizes` are those of the model.

    Raises:
        CourseError: the corpus is not known, or not on this machine.
    """
    if corpus not in CORPORA:
        raise CourseError(f"{corpus!r} is not measured with. Choose {' or '.join(CORPORA)}.")
    if corpus == "multi30k" and not all(
        locate(f"{split}.{side}.gz") for split in REQUIRED_SPLITS for side in PAIR.split("-")
    ):
        raise CourseError(
            "Multi30k is not on this machine. Get it with `course corpus fetch multi30k`, or "
            "measure with --corpus toy."
        )
    wanted = batch * batches
    options = {} if corpus == "multi30k" else {"train": wanted, "val": 1, "test": 1}
    train = load_corpus(corpus, PAIR, **options).splits["train"]
    source, target = (
        Vocabulary.from_sentences(side, MIN_FREQUENCY) for side in (train.source, train.target)
    )
    chosen = random.Random(0).sample(range(len(train)), min(wanted, len(train)))
    pairs = [(source.encode(train.source[i]), target.encode(train.target[i])) for i in chosen]
    return Workload(pairs, batch, ModelConfig(len(source), len(target), **{"unit": UNIT, **sizes}))
