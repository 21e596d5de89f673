"""What a training reads: every epoch's minibatches, from any of them on."""

from collections.abc import Iterator
from dataclasses import dataclass

from course_lib.corpora.batches import EncodedPair, bucketed_batches
from course_lib.corpora.corpus import Corpus, Split
from course_lib.corpora.streaming import StreamedBatches
from course_lib.corpora.vocabulary import UNK, Vocabulary
from course_lib.errors import CourseError
from course_lib.training.run_config import RunConfig

UNKNOWN = 0.1
"""The share of unknown words from which on it is said."""

Minibatch = list[EncodedPair]
"""The sentence pairs of one update."""


def target_words(minibatch: Minibatch) -> int:
    """The words that are predicted, end marks included: what a loss is averaged over."""
    return sum(len(target) + 1 for _, target in minibatch)


@dataclass(frozen=True)
class BucketedMinibatches:
    """All pairs in memory, `batch_size` of similar length at a time, in a seeded order.

    The same epoch is the same minibatches every time, so that a resumed run goes on with the one
    that it had not used, and every process of a training can take its share of each.
    """

    pairs: list[EncodedPair]
    seed: int
    batch_size: int

    @property
    def per_epoch(self) -> int:
        """How many minibatches an epoch has."""
        return -(-len(self.pairs) // self.batch_size)

    def epoch(self, epoch: int, start: int = 0) -> Iterator[Minibatch]:
        """Minibatches of this epoch from number `start` on, both counted from 0."""
        for index in bucketed_batches(self.pairs, self.batch_size, self.seed, epoch)[start:]:
            yield [self.pairs[i] for i in index]


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
        pairs = encode_pairs(corpus.splits["train"], words, recipe.max_length)
        minibatches = BucketedMinibatches(pairs, config.seed, recipe.batch_size)
    if not minibatches.per_epoch:
        raise CourseError(
            f"{corpus.name} has no pair to train on of at most {recipe.max_length} words a side. "
            "Allow longer ones with --set max_length=..."
        )
    if not len(corpus.splits["val"]):
        raise CourseError(f"{corpus.name} has no sentence to validate with. Give some.")
    return minibatches


def left_out(config: RunConfig, corpus: Corpus, words: tuple[Vocabulary, Vocabulary]) -> list[str]:
    """What of a text is not learned from: pairs that are too long, words that are too rare."""
    limit = config.recipe.max_length
    if corpus.stream is not None:
        pairs, kept = corpus.stream.pairs(), corpus.stream.pairs(limit)
    else:
        train = corpus.splits["train"]
        pairs = len(train)
        kept = sum(
            max(len(x), len(y)) <= limit for x, y in zip(train.source, train.target, strict=True)
        )
    said = []
    if kept < pairs:
        said.append(
            f"{pairs - kept:,} of {pairs:,} pairs have over {limit} words on a side and are left "
            "out (max_length)"
        )
    if config.init_from:
        reason = "they are not among those of the run it starts from"
    elif config.recipe.subwords:
        reason = "they have characters that training does not"
    else:
        reason = "min_frequency, max_words"
    val = corpus.splits["val"]
    for side, lines, vocabulary in zip(
        ("source", "target"), (val.source, val.target), words, strict=True
    ):
        numbers = [number for line in lines for number in vocabulary.encode(line)]
        if (share := numbers.count(UNK) / max(1, len(numbers))) >= UNKNOWN:
            said.append(f"{share:.0%} of the {side} words of val are unknown ({reason})")
    return said


def encode_pairs(
    split: Split, words: tuple[Vocabulary, Vocabulary], max_length: int | None = None
) -> list[EncodedPair]:
    """A split as word numbers, without pairs longer than `max_length` words on either side."""
    source, target = words
    return [
        (source.encode(x), target.encode(y))
        for x, y in zip(split.source, split.target, strict=True)
        if max_length is None or max(len(x), len(y)) <= max_length
    ]
