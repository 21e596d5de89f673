"""Attention weights of sentence pairs: checking them, and from pieces of words to whole words."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from course_lib.errors import CourseError

Weights = NDArray[np.float64]
"""(T_y, T_x): a row a target word, a column a source word. The last row and the last column are
the end marks', unless a function is told that there are none."""


def checked_weights(alpha: Any, end_mark: bool = True) -> Weights:
    """`alpha` as a float64 matrix (T_y, T_x), from a list, an array or a tensor.

    Rows may sum to less than 1, as in local attention near the ends of a sentence.

    Raises:
        CourseError: it is no matrix with at least one word on each side, or holds something else
            than weights from 0 to 1.
    """
    if hasattr(alpha, "detach"):
        alpha = alpha.detach().cpu().double()
    weights: Weights = np.asarray(alpha, dtype=np.float64)
    if weights.ndim != 2:
        raise CourseError(
            f"alpha has {weights.ndim} dimensions. Give the (T_y, T_x) matrix of one sentence pair."
        )
    if min(weights.shape) < 1 + end_mark:
        raise CourseError(
            f"alpha is {weights.shape[0]} x {weights.shape[1]}: no word is left on one side. "
            "Leave out empty sentences."
        )
    if np.isnan(weights).any():
        row, column = np.argwhere(np.isnan(weights))[0]
        raise CourseError(
            f"alpha is not a number (NaN) in row {row}, column {column}. Look for a division by a "
            "sum of zero, or for a training that diverged."
        )
    if weights.min() < 0 or weights.max() > 1 + 1e-6:
        raise CourseError("alpha has values outside 0 to 1. Give weights, not energies.")
    return weights


def between_words(alpha: Any) -> Weights:
    """The weights of words on words: what the end mark took is shared out again, row by row.

    `alpha` comes with the end marks' row and column, which are left out: (T_y + 1, T_x + 1) to
    (T_y, T_x). Rows sum to 1; a row with all of its weight on the end mark stays zero.
    """
    weights = checked_weights(alpha)[:-1, :-1]
    total = weights.sum(axis=1, keepdims=True)
    return np.divide(weights, total, out=np.zeros_like(weights), where=total > 0)


def merge_pieces(
    alpha: Any, source_words: Sequence[int | range], target_words: Sequence[int | range]
) -> Weights:
    """Weights between pieces of words, (T_y, T_x), as weights between words.

    A word's weight is the sum over its source pieces: it got what its pieces got together, and of a
    piece of several words an equal share. A target word's row is the mean over its target pieces,
    so that rows still sum to what they did. The end marks stay what they are, the last row and the
    last column.

    Args:
        alpha: weights with the end marks' row and column.
        source_words, target_words: for each piece, without the end mark, the number of its word:
            0, then for each next piece the same or one more. `tokenizers` has them as `word_ids`.
            A piece of several words has their range.
    """
    weights = checked_weights(alpha)
    rows, columns = _pieces_of(target_words), _pieces_of(source_words)
    means = rows / rows.sum(axis=1, keepdims=True)
    shares = columns / columns.sum(axis=0)
    return means @ weights @ shares.T


def _pieces_of(words: Sequence[int | range]) -> Weights:
    """Which pieces (columns) are of which word (rows): 1 or 0, the end mark last on both sides."""
    ranges = [one if isinstance(one, range) else range(one, one + 1) for one in words]
    belongs = np.zeros((ranges[-1].stop + 1, len(ranges) + 1))
    for piece, one in enumerate(ranges):
        belongs[one.start : one.stop, piece] = 1
    belongs[-1, -1] = 1
    return belongs
