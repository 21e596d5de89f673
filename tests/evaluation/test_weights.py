"""Weights are refused unless they are weights, and merging pieces loses none of them."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from course_lib.errors import CourseError
from course_lib.evaluation.weights import between_words, checked_weights, merge_pieces

# Each word's number of pieces; the words' numbers follow.
pieces = st.lists(st.integers(1, 3), min_size=1, max_size=5)


def numbered(counts: list[int]) -> list[int]:
    return [word for word, count in enumerate(counts) for _ in range(count)]


def rows_of_weights(seed: int, rows: int, columns: int) -> np.ndarray:
    return np.random.default_rng(seed).dirichlet(np.ones(columns), size=rows)


def test_lists_arrays_and_tensors_are_the_same_weights() -> None:
    alpha = [[0.25, 0.75], [1.0, 0.0]]
    for given_as in (alpha, np.array(alpha), torch.tensor(alpha, requires_grad=True)):
        weights = checked_weights(given_as)
        assert weights.dtype == np.float64
        assert weights.tolist() == alpha


@pytest.mark.parametrize(
    ("alpha", "message"),
    [
        ([0.5, 0.5], "1 dimensions"),
        ([[[1.0]]], "3 dimensions"),
        ([[1.0]], "no word is left"),
        ([[0.5, 0.5]], "no word is left"),
        ([[0.5, 0.5], [float("nan"), 0.5]], r"not a number \(NaN\) in row 1, column 0"),
        ([[0.5, 0.5], [-0.1, 1.1]], "not energies"),
        ([[0.5, 0.5], [2.5, 0.0]], "not energies"),
        ([[0.5, 0.5], [float("inf"), 0.0]], "not energies"),
    ],
)
def test_what_is_no_weight_matrix_is_refused(alpha: list, message: str) -> None:
    with pytest.raises(CourseError, match=message):
        checked_weights(alpha)


def test_without_end_marks_one_word_a_side_is_enough() -> None:
    assert checked_weights([[1.0]], end_mark=False).shape == (1, 1)
    with pytest.raises(CourseError, match="no word is left"):
        checked_weights(np.zeros((0, 2)), end_mark=False)


def test_merging_by_hand() -> None:
    """Two source pieces of word 0 add up; two target pieces of word 1 are averaged."""
    alpha = [
        [0.2, 0.3, 0.4, 0.1],
        [0.1, 0.1, 0.8, 0.0],
        [0.5, 0.3, 0.0, 0.2],
        [0.0, 0.0, 0.0, 1.0],
    ]
    merged = merge_pieces(alpha, source_words=[0, 0, 1], target_words=[0, 1, 1])
    np.testing.assert_allclose(merged, [[0.5, 0.4, 0.1], [0.5, 0.4, 0.1], [0.0, 0.0, 1.0]])


def test_a_piece_of_several_words_is_shared_out() -> None:
    """Source piece 0 is of words 0 and 1; word 1 of the target is of both target pieces."""
    alpha = [[0.4, 0.5, 0.1], [0.2, 0.6, 0.2], [0.0, 0.0, 1.0]]
    merged = merge_pieces(alpha, [range(0, 2), 2], [range(0, 2), range(1, 2)])
    np.testing.assert_allclose(
        merged, [[0.2, 0.2, 0.5, 0.1], [0.15, 0.15, 0.55, 0.15], [0, 0, 0, 1]]
    )


@given(pieces, pieces, st.integers(0, 100))
def test_merged_rows_still_sum_to_one(source: list[int], target: list[int], seed: int) -> None:
    alpha = rows_of_weights(seed, sum(target) + 1, sum(source) + 1)
    merged = merge_pieces(alpha, numbered(source), numbered(target))
    assert merged.shape == (len(target) + 1, len(source) + 1)
    np.testing.assert_allclose(merged.sum(axis=1), 1)
    # The end mark is no piece of a word.
    np.testing.assert_allclose(merged[-1, -1], alpha[-1, -1])


@given(st.integers(1, 5), st.integers(1, 5), st.integers(0, 100))
def test_whole_words_stay_as_they_are(source: int, target: int, seed: int) -> None:
    alpha = rows_of_weights(seed, target + 1, source + 1)
    np.testing.assert_allclose(merge_pieces(alpha, range(source), range(target)), alpha)


def test_what_the_end_mark_took_is_shared_out_again() -> None:
    alpha = [[0.1, 0.3, 0.6], [0.0, 0.0, 1.0], [0.0, 0.2, 0.8]]
    np.testing.assert_allclose(between_words(alpha), [[0.25, 0.75], [0.0, 0.0]])
    with pytest.raises(CourseError, match="no word is left"):
        between_words([[1.0]])
