"""IBM Model 1 (Brown et al., 1993, Section 4.2): word alignment by counting, trained with EM.

Every target word is written by one source word, or by the NULL word that stands before every source
sentence, and each of them is equally likely beforehand: word order plays no role. With T_x source
words,

    p(y | x) = prod_i 1 / (T_x + 1) sum_{j=0..T_x} t(y_i | x_j),        x_0 = NULL

where the length of y is given. E-step: share each y_i out among the x_j in proportion to
t(y_i | x_j). M-step: t(y | x) is the share that x got of all its words. The likelihood never falls,
and the posterior shares play the part that attention weights play in RNNsearch.

All pairs of words that meet in a sentence pair get a number, and every sweep is a few array
operations over "cells": one cell for each (target position, source position or NULL).
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from course_lib.corpora.corpus import Link
from course_lib.errors import CourseError

Tokens = Sequence[str]
NULL = 0
"""The number of the NULL word among the source words."""
CHUNK = 4096
"""Sentence pairs swept at once: what EM needs beside its table, some 10 MB at 15 words a side."""


@dataclass(frozen=True)
class Model1:
    """A trained table t(target word | source word).

    source, target: the words' numbers; source number 0 is the NULL word.
    keys: the pairs of words that ever met, source number * len(target) + target number, ascending.
    t: their probabilities; they sum to 1 over the target words of one source word.
    """

    source: dict[str, int]
    target: dict[str, int]
    keys: NDArray[np.int64]
    t: NDArray[np.float64]

    def probability(self, target: str, source: str | None) -> float:
        """t(target | source), with None for the NULL word; 0 for words that never met."""
        numbers = np.array([NULL if source is None else self.source.get(source, -1)])
        return float(self._table(numbers, np.array([self.target.get(target, -1)]))[0, 0])

    def shares(self, source: Tokens, target: Tokens) -> NDArray[np.float64]:
        """How EM shares out the target words: p(x_j wrote y_i), (T_y, T_x + 1), NULL first.

        The row of a word that never met any of these source words, nor NULL, is zero.
        """
        table = self._numbered(source, target)
        total = table.sum(axis=1, keepdims=True)
        return np.divide(table, total, out=np.zeros_like(table), where=total > 0)

    def align(self, source: Tokens, target: Tokens) -> frozenset[Link]:
        """The most probable alignment (Viterbi): each target word with one source word or none.

        A word that NULL explains best, or that nothing here explains, stays unaligned. Model 1
        cannot tell two equal source words apart: the first of them gets the link. NULL loses ties.
        """
        table = self._numbered(source, target)
        best = table[:, 1:].argmax(axis=1)
        probability = table[np.arange(len(target)), best + 1]
        linked = (probability > 0) & (probability >= table[:, 0])
        return frozenset((int(best[i]), int(i)) for i in np.flatnonzero(linked))

    def _numbered(self, source: Tokens, target: Tokens) -> NDArray[np.float64]:
        if not source or not target:
            raise CourseError("A sentence pair has an empty side. Leave it out.")
        return self._table(
            np.array([NULL, *(self.source.get(word, -1) for word in source)]),
            np.array([self.target.get(word, -1) for word in target]),
        )

    def _table(self, source: NDArray[np.int64], target: NDArray[np.int64]) -> NDArray[np.float64]:
        """t for every pair of numbers, (targets, sources); -1 is a word that is not known."""
        keys = source[None] * len(self.target) + target[:, None]
        place = np.searchsorted(self.keys, keys).clip(max=len(self.keys) - 1)
        known = (self.keys[place] == keys) & (source[None] >= 0) & (target[:, None] >= 0)
        return np.where(known, self.t[place], 0.0)


def train_model1(pairs: Iterable[tuple[Tokens, Tokens]], iterations: int = 10) -> Model1:
    """EM from equal probabilities, over (source, target) sentence pairs.

    Model 1's likelihood has no local maxima: the start decides nothing. Memory: 8 bytes a cell
    while the pairs of words are numbered and 4 then, 16 to 32 a pair of words that meet, and what
    one chunk of sentences needs.

    Raises:
        CourseError: there are no pairs, or a sentence is empty.
    """
    corpus = list(pairs)
    if not corpus or not all(x and y for x, y in corpus):
        raise CourseError("Model 1 needs sentence pairs with words on both sides. Give some.")
    source = {word: k for k, word in enumerate(_words(x for x, _ in corpus), NULL + 1)}
    target = {word: k for k, word in enumerate(_words(y for _, y in corpus))}
    parts = [corpus[i : i + CHUNK] for i in range(0, len(corpus), CHUNK)]
    chunks = [_Chunk(part, source, target) for part in parts]
    keys = np.unique(np.concatenate([np.unique(chunk.cells) for chunk in chunks]))
    for chunk in chunks:
        # From here on a cell holds the place of its pair of words in the table.
        chunk.cells = np.searchsorted(keys, chunk.cells).astype(np.int32)
    given = keys // len(target)

    t = np.full(len(keys), 1 / len(target))
    for _ in range(iterations):
        counts = np.zeros(len(keys))
        for chunk in chunks:
            chunk.add_counts(t, counts)
        t = counts / np.bincount(given, counts)[given]
    return Model1(source, target, keys, t)


class _Chunk:
    """Some sentence pairs as cells; the cells of one target position follow each other."""

    def __init__(
        self, pairs: list[tuple[Tokens, Tokens]], source: dict[str, int], target: dict[str, int]
    ) -> None:
        parts = []
        for x, y in pairs:
            given = np.array([NULL, *(source[word] for word in x)], dtype=np.int64)
            written = np.array([target[word] for word in y], dtype=np.int64)
            parts.append((given[None] * len(target) + written[:, None]).ravel())
        self.cells: NDArray[np.signedinteger] = np.concatenate(parts)
        widths = np.repeat([len(x) + 1 for x, _ in pairs], [len(y) for _, y in pairs])
        self.widths = widths.astype(np.int32)
        self.starts = np.cumsum(widths) - widths

    def add_counts(self, t: NDArray[np.float64], counts: NDArray[np.float64]) -> None:
        """The E-step: add every cell's share under t to `counts`."""
        shares = t[self.cells]
        shares /= np.repeat(np.add.reduceat(shares, self.starts), self.widths)
        counts += np.bincount(self.cells, shares, minlength=len(counts))


def _words(sentences: Iterable[Tokens]) -> list[str]:
    return sorted({word for sentence in sentences for word in sentence})
