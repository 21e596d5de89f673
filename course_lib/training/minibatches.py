"""What a training reads: every epoch's minibatches, from any of them on."""

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache

from course_lib.corpora.batches import EncodedPair, bucketed_batches
from course_lib.corpora.corpus import Corpus, Split
from course_lib.corpora.streaming import StreamedBatches
from course_lib.corpora.subwords import BPEDropout, Pieces
from course_lib.corpora.vocabulary import Vocabulary
from course_lib.errors import CourseError
from course_lib.training.run_config import RunConfig

Minibatch = list[EncodedPair]
"""The sentence pairs of one update."""


def target_words(minibatch: Minibatch) -> int:
    """The words that are predicted, end marks included: what a loss is averaged over."""
    return sum(len(target) + 1 for _, target in minibatch)


@dataclass(frozen=True)
class BucketedMinibatches:
    """All pairs in memory, `batch_size` of similar length at a time, in a seeded order.

    The same epoch is the same minibatches every time, so that a resumed run goes on with the one
    that it had not used, and every process of a training can take its share of each. `pairs` gives
    them as they are in an epoch, by its number.
    """

    pairs: Callable[[int], list[EncodedPair]]
    seed: int
    batch_size: int

    @property
    def per_epoch(self) -> int:
        """How many minibatches an epoch has."""
        return -(-len(self.pairs(0)) // self.batch_size)

    def epoch(self, epoch: int, start: int = 0) -> Iterator[Minibatch]:
        """Minibatches of this epoch from number `start` on, both counted from 0."""
        pairs = self.pairs(epoch)
        for index in bucketed_batches(pairs, self.batch_size, self.seed, epoch)[start:]:
            yield [pairs[i] for i in index]


Minibatches = BucketedMinibatches | StreamedBatches
"""What the training loop reads, from memory or from disk."""


def make_minibatches(
    config: RunConfig, corpus: Corpus, words: tuple[Vocabulary, Vocabulary]
) -> Minibatches:
    """The training split as the recipe batches it, from memory or, where it is a stream, from disk.

    Raises:
        CourseError: there is nothing to train on, or nothing to validate with.
    """
    recipe = config.recipe
    minibatches: Minibatches
    if corpus.stream is not None:
        source, target = corpus.pair.split("-")
        minibatches = StreamedBatches(
            corpus.stream,
            (source, target),
            words,
            config.seed,
            recipe.max_length,
            recipe.batch_size,
        )
    else:
        pairs = pairs_by_epoch(config, corpus.splits["train"], words)
        minibatches = BucketedMinibatches(pairs, config.seed, recipe.batch_size)
    if not minibatches.per_epoch or not len(corpus.splits["val"]):
        raise CourseError(
            f"{corpus.name} has no sentence to train on or none to validate with. "
            "Ask for more with --set corpus.train=... or --set corpus.val=..."
        )
    return minibatches


def pairs_by_epoch(
    config: RunConfig, train: Split, words: tuple[Vocabulary, Vocabulary]
) -> Callable[[int], list[EncodedPair]]:
    """The training pairs of an epoch: always the same, or with BPE-dropout cut anew each time."""
    recipe, pieces = config.recipe, words[0]
    if not isinstance(pieces, Pieces) or not recipe.bpe_dropout:
        pairs = encode_pairs(train, words, recipe.max_length)
        return lambda epoch: pairs

    @lru_cache(maxsize=1)  # epoch 0 is also asked for its length, and by the forecast
    def cut_anew(epoch: int) -> list[EncodedPair]:
        draw = random.Random(f"{config.seed}-{epoch}-pieces")
        cutter = BPEDropout(pieces, recipe.bpe_dropout, draw)
        return encode_pairs(train, (cutter, cutter), recipe.max_length)

    return cut_anew


def encode_pairs(
    split: Split,
    words: tuple[Vocabulary | BPEDropout, Vocabulary | BPEDropout],
    max_length: int | None = None,
) -> list[EncodedPair]:
    """A split as word numbers, without pairs longer than `max_length` words on either side."""
    source, target = words
    return [
        (source.encode(x), target.encode(y))
        for x, y in zip(split.source, split.target, strict=True)
        if max_length is None or max(len(x), len(y)) <= max_length
    ]
