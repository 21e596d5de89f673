"""The most frequent words of a corpus that is too large for memory, counted in bounded memory."""

import json
from collections.abc import Iterable, Iterator, Mapping

from course_lib.corpora.token_files import TokenFiles
from course_lib.corpora.vocabulary import MARKS, Vocabulary
from course_lib.files import write_atomically

MOST_WORDS = 2_000_000
"""Different words that are counted at once; some 300 megabytes of a process."""


class BoundedCounts:
    """Counts of a stream of words of which at most `most` are kept (Manku and Motwani, 2002).

    When there are more, the rarer half goes. A word's count then is too low by at most `missed`;
    words counted more often than that are all there.
    """

    def __init__(self, most: int = MOST_WORDS) -> None:
        self.most = most
        self.missed = 0
        self.counts: dict[str, int] = {}

    def update(self, counted: Mapping[str, int]) -> None:
        """Add the counts of a block of the stream."""
        counts = self.counts
        for word, count in counted.items():
            counts[word] = counts.get(word, 0) + count
        if len(counts) > self.most:
            # All words of the middle count go: what is dropped never was above it.
            middle = sorted(counts.values())[len(counts) - self.most // 2 - 1]
            self.counts = {word: count for word, count in counts.items() if count > middle}
            self.missed += middle


def count_words(blocks: Iterable[Mapping[str, int]], most: int = MOST_WORDS) -> BoundedCounts:
    """The words of a stream of counted blocks."""
    counts = BoundedCounts(most)
    for block in blocks:
        counts.update(block)
    return counts


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


def most_frequent(
    counts: BoundedCounts, min_frequency: int = 1, max_words: int | None = None
) -> Vocabulary:
    """The vocabulary of what was counted, as `Vocabulary.from_sentences` orders it."""
    frequent = [word for word, count in counts.counts.items() if count >= min_frequency]
    frequent.sort(key=lambda word: (-counts.counts[word], word))
    return Vocabulary((*MARKS, *[word for word in frequent if word not in MARKS][:max_words]))


def stream_vocabulary(
    files: TokenFiles, language: str, min_frequency: int = 1, max_words: int | None = None
) -> Vocabulary:
    """The most frequent words of one language; counted once and then kept beside the files."""
    cache = files.folder / f"words.{language}.{min_frequency}.{max_words or 'all'}.json"
    if cache.is_file():
        return Vocabulary(tuple(json.loads(cache.read_text(encoding="utf-8"))))
    vocabulary = most_frequent(
        count_words(counted_blocks(files, language)), min_frequency, max_words
    )
    write_atomically(cache, json.dumps(vocabulary.tokens, ensure_ascii=False) + "\n")
    return vocabulary
