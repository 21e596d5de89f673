"""Minibatches of a corpus on disk: shuffled with a buffer, sorted in pools, cut by size.

Only the buffer is in memory, as numbers without padding. What an epoch yields depends on the seed,
the epoch and the files alone, so a position in it is the number of a minibatch.
"""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from course_lib.corpora.batches import POOL_BATCHES, EncodedPair
from course_lib.corpora.token_files import TokenFiles
from course_lib.corpora.vocabulary import UNK, Vocabulary

if TYPE_CHECKING:
    import pyarrow

BUFFER_POOLS = 64
"""Pools that are shuffled together."""
Numbers = NDArray[np.int32]


class Side(NamedTuple):
    """One language of many sentences: sentence i has `words[starts[i] : starts[i + 1]]`."""

    words: Numbers
    starts: NDArray[np.int64]

    @property
    def lengths(self) -> NDArray[np.int64]:
        """Words of each sentence."""
        return np.diff(self.starts)


@dataclass(frozen=True)
class StreamedBatches:
    """The minibatches of a prepared corpus, epoch by epoch.

    Args:
        files: the corpus.
        pair: its source and target language.
        words: the vocabularies of both.
        seed: draws the order.
        max_length: longer pairs are left out.
        batch_size: pairs in a minibatch.
    """

    files: TokenFiles
    pair: tuple[str, str]
    words: tuple[Vocabulary, Vocabulary]
    seed: int
    max_length: int
    batch_size: int

    @property
    def per_epoch(self) -> int:
        """Minibatches of an epoch."""
        return -(-self.files.pairs(self.max_length) // self.batch_size)

    def epoch(self, epoch: int, start: int = 0) -> Iterator[list[EncodedPair]]:
        """The minibatches of an epoch from number `start` on; those before it are only counted."""
        seen = 0
        for sides, batches in self._buffers(random.Random(f"{self.seed}-{epoch}")):
            for index in batches[max(0, start - seen) :]:
                yield pairs_at(sides, index)
            seen += len(batches)

    def _buffers(
        self, draw: random.Random
    ) -> Iterator[tuple[tuple[Side, Side], list[NDArray[np.int64]]]]:
        """Buffers of an epoch, each with the minibatches it is cut into."""
        order = list(range(len(self.files.paths())))
        draw.shuffle(order)
        pool = POOL_BATCHES * self.batch_size
        wanted, held = BUFFER_POOLS * pool, 0
        waiting: list[tuple[Side, Side]] = []
        for sides in self._encoded(order):
            waiting.append(sides)
            held += len(sides[0].lengths)
            while held >= wanted:
                full = joined(waiting)
                yield self._cut(part(full, 0, wanted), pool, draw)
                waiting = [part(full, wanted, held)]
                held -= wanted
        if held:
            yield self._cut(joined(waiting), pool, draw)

    def _encoded(self, order: Sequence[int]) -> Iterator[tuple[Side, Side]]:
        """Blocks of pairs as numbers, without those that are too long."""
        import pyarrow
        from pyarrow import compute

        known = [pyarrow.array(vocabulary.tokens) for vocabulary in self.words]
        for block in self.files.blocks(self.pair, order):
            tokens = [compute.split_pattern(block.column(side), " ") for side in self.pair]
            sizes = [compute.list_value_length(column) for column in tokens]
            fits = compute.less_equal(compute.max_element_wise(*sizes), self.max_length)
            source, target = (
                encoded(column.filter(fits), words)
                for column, words in zip(tokens, known, strict=True)
            )
            yield source, target

    def _cut(
        self, sides: tuple[Side, Side], pool: int, draw: random.Random
    ) -> tuple[tuple[Side, Side], list[NDArray[np.int64]]]:
        """The minibatches of one buffer, as positions in it, in a random order."""
        source, target = (side.lengths for side in sides)
        order = np.random.default_rng(draw.getrandbits(64)).permutation(len(source))
        batches = []
        for start in range(0, len(order), pool):
            chosen = order[start : start + pool]
            chosen = chosen[np.lexsort((source[chosen], target[chosen]))]
            batches += [
                chosen[i : i + self.batch_size] for i in range(0, len(chosen), self.batch_size)
            ]
        draw.shuffle(batches)
        return sides, batches


def encoded(tokens: "pyarrow.ListArray", known: "pyarrow.Array") -> Side:
    """Lists of words as numbers in the vocabulary `known`."""
    from pyarrow import compute

    numbers = compute.fill_null(compute.index_in(tokens.flatten(), known), UNK)
    lengths = compute.list_value_length(tokens).to_numpy()
    return Side(numbers.to_numpy(), np.concatenate(([0], np.cumsum(lengths, dtype=np.int64))))


def joined(blocks: Sequence[tuple[Side, Side]]) -> tuple[Side, Side]:
    """Blocks of pairs one after the other."""
    source, target = (
        Side(
            np.concatenate([side.words for side in sides]),
            np.concatenate(([0], np.cumsum(np.concatenate([side.lengths for side in sides])))),
        )
        for sides in zip(*blocks, strict=True)
    )
    return source, target


def part(sides: tuple[Side, Side], start: int, end: int) -> tuple[Side, Side]:
    """The pairs from `start` to before `end`."""
    source, target = (
        Side(
            side.words[side.starts[start] : side.starts[end]],
            _from_zero(side.starts[start : end + 1]),
        )
        for side in sides
    )
    return source, target


def _from_zero(starts: NDArray[np.int64]) -> NDArray[np.int64]:
    return starts - starts[0]


def pairs_at(sides: tuple[Side, Side], index: NDArray[np.int64]) -> list[EncodedPair]:
    """The pairs at these positions, as lists of word numbers."""
    source, target = (
        [side.words[side.starts[i] : side.starts[i + 1]].tolist() for i in index] for side in sides
    )
    return list(zip(source, target, strict=True))
