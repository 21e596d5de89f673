"""A corpus on disk, read without holding it: its most frequent words, and its minibatches.

Minibatches are shuffled with a buffer, sorted in pools, cut by size. Only the buffer is in memory,
as numbers without padding, and the counts of words. What an epoch yields depends on the seed, the
epoch and the files alone, so a position in it is the number of a minibatch.
"""

import json
import random
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from course_lib.corpora.batches import POOL_BATCHES, EncodedPair
from course_lib.corpora.token_files import TokenFiles
from course_lib.corpora.vocabulary import MARKS, UNK, Vocabulary
from course_lib.files import write_atomically

if TYPE_CHECKING:
    import pyarrow

BUFFER_POOLS = 64
"""Pools that are shuffled together."""
Positions = NDArray[np.int64]


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
        draw = random.Random(f"{self.seed}-{epoch}")
        for pairs in self._buffers(draw):
            batches = self._cut(pairs, draw)
            for index in batches[max(0, start - seen) :]:
                yield pairs_at(pairs, index)
            seen += len(batches)

    def _buffers(self, draw: random.Random) -> "Iterator[pyarrow.Table]":
        """The pairs of an epoch, a buffer full at a time, as lists of word numbers."""
        import pyarrow

        order = list(range(len(self.files.paths())))
        draw.shuffle(order)
        wanted = BUFFER_POOLS * POOL_BATCHES * self.batch_size
        waiting: list[pyarrow.Table] = []
        for pairs in self._encoded(order):
            waiting.append(pairs)
            while sum(map(len, waiting)) >= wanted:
                full = pyarrow.concat_tables(waiting).combine_chunks()
                yield full.slice(0, wanted)
                waiting = [full.slice(wanted)]
        if any(map(len, waiting)):
            yield pyarrow.concat_tables(waiting).combine_chunks()

    def _encoded(self, order: Sequence[int]) -> "Iterator[pyarrow.Table]":
        """Blocks of pairs as numbers, without those that are too long."""
        import pyarrow
        from pyarrow import compute

        known = [pyarrow.array(words.tokens[len(MARKS) :]) for words in self.words]
        for block in self.files.blocks(self.pair, order):
            tokens = [compute.split_pattern(block.column(side), " ") for side in self.pair]
            sizes = [compute.list_value_length(column) for column in tokens]
            fits = compute.less_equal(compute.max_element_wise(*sizes), self.max_length)
            sides = [
                encoded(column.filter(fits), words)
                for column, words in zip(tokens, known, strict=True)
            ]
            yield pyarrow.table(sides, names=("source", "target"))

    def _cut(self, pairs: "pyarrow.Table", draw: random.Random) -> list[Positions]:
        """The minibatches of one buffer, as positions in it, in a random order."""
        from pyarrow import compute

        source, target = (compute.list_value_length(side).to_numpy() for side in pairs.columns)
        order = np.random.default_rng(draw.getrandbits(64)).permutation(len(pairs))
        pool = POOL_BATCHES * self.batch_size
        batches = []
        for start in range(0, len(order), pool):
            chosen = order[start : start + pool]
            chosen = chosen[np.lexsort((source[chosen], target[chosen]))]
            batches += [
                chosen[i : i + self.batch_size] for i in range(0, len(chosen), self.batch_size)
            ]
        draw.shuffle(batches)
        return batches


def encoded(tokens: "pyarrow.ListArray", known: "pyarrow.Array") -> "pyarrow.ListArray":
    """Lists of words as lists of their numbers in a vocabulary; `known` are its words, no marks."""
    import pyarrow
    from pyarrow import compute

    places = compute.index_in(tokens.flatten(), known)
    numbers = compute.fill_null(compute.add(places, len(MARKS)), UNK)
    return pyarrow.ListArray.from_arrays(tokens.offsets, numbers)


def pairs_at(pairs: "pyarrow.Table", index: Positions) -> list[EncodedPair]:
    """The pairs at these positions, as lists of word numbers."""
    sides = []
    for column in pairs.take(index).columns:
        lists = column.combine_chunks()
        numbers, starts = lists.values.to_numpy(), lists.offsets.to_numpy()
        sides.append([numbers[start:end].tolist() for start, end in pairwise(starts)])
    return list(zip(*sides, strict=True))


def counted_blocks(files: TokenFiles, language: str) -> Iterator[dict[str, int]]:
    """How often each word stands in one block after the other of a corpus on disk."""
    from pyarrow import compute

    for block in files.blocks([language]):
        words = compute.value_counts(compute.split_pattern(block.column(0), " ").flatten())
        yield dict(
            zip(
                words.field("values").to_pylist(),
                words.field("counts").to_pylist(),
                strict=True,
            )
        )


def stream_vocabulary(
    files: TokenFiles, language: str, min_frequency: int = 1, max_words: int | None = None
) -> Vocabulary:
    """The most frequent words of one language; counted once and then kept beside the files."""
    cache = files.folder / f"words.{language}.{min_frequency}.{max_words or 'all'}.json"
    if cache.is_file():
        return Vocabulary(tuple(json.loads(cache.read_text(encoding="utf-8"))))
    counts: Counter[str] = Counter()
    for block in counted_blocks(files, language):
        counts.update(block)
    vocabulary = Vocabulary.from_counts(counts, min_frequency, max_words)
    write_atomically(cache, json.dumps(vocabulary.tokens, ensure_ascii=False) + "\n")
    return vocabulary
