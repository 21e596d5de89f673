"""Diagnostics say what a matrix does, without the end mark, and warn of what no alignment does."""

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from course_lib.corpora import load_corpus
from course_lib.corpora.batches import make_batch
from course_lib.corpora.corpus import Link
from course_lib.errors import CourseError
from course_lib.evaluation.diagnostics import (
    ADVICE,
    UNIFORM,
    crossings,
    diagnose,
    entropy,
    many_to_one,
    monotonicity,
    one_to_many,
    summarise,
)
from course_lib.evaluation.forced import forced_alpha
from course_lib.models import build_model, model_config

link_sets = st.frozensets(st.tuples(st.integers(0, 5), st.integers(0, 5)), max_size=12)
weight_matrices = st.builds(
    lambda seed, rows, columns: np.random.default_rng(seed).dirichlet(
        np.full(columns, 0.4), size=rows
    ),
    st.integers(0, 10_000),
    st.integers(2, 7),
    st.integers(2, 7),
)
ALPHA = [
    [1.0, 0.0, 0.0, 0.0],
    [0.0, 0.5, 0.5, 0.0],
    [0.0, 0.0, 0.0, 1.0],  # on the source's end mark
    [0.7, 0.1, 0.1, 0.1],
    [0.25, 0.25, 0.25, 0.25],  # the target's end mark
]


def test_by_hand() -> None:
    """Four words from three; "to the" for "zum" is the second row."""
    found = diagnose(ALPHA, threshold=0.3)
    last = -(0.7 * math.log(0.7) + 0.3 * math.log(0.1))
    np.testing.assert_allclose(found.entropy, [0, math.log(2), 0, last])
    np.testing.assert_allclose(found.normalised_entropy, found.entropy / math.log(4))
    np.testing.assert_allclose(found.coverage, [1.7, 0.6, 0.6])
    assert found.end_weight == pytest.approx((1 + 0.1) / 4)
    assert found.links == {(0, 0), (1, 1), (0, 3)}
    assert found.unaligned == 1
    assert found.monotonicity == 0.5  # on from 0 to 1, back to 0
    assert found.crossings == 1
    assert found.many_to_one == {1: [1, 2]}
    assert found.one_to_many == {0: [0, 3]}
    assert found.warnings == {}


@given(weight_matrices)
def test_the_end_marks_row_changes_nothing(alpha: np.ndarray) -> None:
    other = alpha.copy()
    other[-1] = alpha[-1][::-1]
    assert repr(diagnose(other)) == repr(diagnose(alpha))


@given(weight_matrices)
def test_all_weight_is_accounted_for(alpha: np.ndarray) -> None:
    found = diagnose(alpha)
    words = len(alpha) - 1
    assert len(found.entropy) == words
    assert len(found.coverage) == alpha.shape[1] - 1
    assert found.coverage.sum() + found.end_weight * words == pytest.approx(words)
    whole = diagnose(alpha, end_mark=False)
    np.testing.assert_allclose(whole.coverage, alpha.sum(axis=0))
    assert whole.end_weight == 0


@given(weight_matrices)
def test_entropy_lies_between_one_word_and_all_of_them(alpha: np.ndarray) -> None:
    nats = entropy(alpha)
    assert (nats >= 0).all()
    assert (nats <= math.log(alpha.shape[1]) + 1e-9).all()
    # Shannon's average surprise, drawn out in Python.
    for row, value in zip(alpha, nats, strict=True):
        assert value == pytest.approx(sum(-p * math.log(p) for p in row if p > 0))
    # Order is nothing to entropy, and a part of a distribution has the entropy of its shares.
    np.testing.assert_allclose(entropy(alpha[:, ::-1]), nats)
    np.testing.assert_allclose(entropy(alpha * 0.3), nats)


def test_the_ends_of_entropy() -> None:
    assert entropy(np.full((1, 8), 1 / 8)) == pytest.approx(math.log(8))
    assert entropy(np.eye(3)).tolist() == [0, 0, 0]
    assert not np.signbit(entropy(np.eye(3))).any()
    assert entropy(np.zeros((2, 3))).tolist() == [0, 0]


def test_one_source_word_leaves_no_choice_and_no_warning() -> None:
    """With its end mark there are two columns, without there is one."""
    found = diagnose([[0.5, 0.5]] * 6)
    np.testing.assert_allclose(found.normalised_entropy, 1)
    assert found.warnings == {}
    alone = diagnose([[1.0]] * 6, end_mark=False)
    assert alone.normalised_entropy.tolist() == [0] * 6
    assert alone.monotonicity == 1
    assert alone.warnings == {}


def test_one_target_word_makes_no_step() -> None:
    assert diagnose([[0.2, 0.7, 0.1], [0.0, 0.0, 1.0]]).monotonicity is None


@given(st.permutations(range(6)))
def test_crossings_of_a_permutation_are_its_inversions(order: list[int]) -> None:
    links = frozenset((i, j) for j, i in enumerate(order))
    inversions = sum(order[a] > order[b] for a in range(6) for b in range(a + 1, 6))
    assert crossings(links) == inversions
    steps = [b > a for a, b in pairwise(order)]
    assert monotonicity(links) == pytest.approx(sum(steps) / 5)


@given(link_sets)
def test_crossings_and_kinds_of_links_look_the_same_from_the_other_side(
    links: frozenset[Link],
) -> None:
    transposed = frozenset((j, i) for i, j in links)
    assert crossings(transposed) == crossings(links)
    assert one_to_many(links) == many_to_one(transposed)
    several = {j for i, j in links if any((k, j) in links for k in range(6) if k != i)}
    assert many_to_one(links).keys() == several


@given(link_sets)
def test_what_never_goes_back_has_monotonicity_one(links: frozenset[Link]) -> None:
    order = monotonicity(links)
    if order is not None:
        assert 0 <= order <= 1
        if crossings(links) == 0:
            assert order == 1


@pytest.mark.parametrize("preset", ["smoke", "cpu", "paper"])
def test_a_model_that_has_learned_nothing_is_called_uniform(preset: str) -> None:
    model = build_model(model_config("rnnsearch", preset, 40, 40)).eval()
    numbers = np.random.default_rng(0).integers(4, 40, (2, 12)).tolist()
    alpha = forced_alpha(model, make_batch([(numbers[0], numbers[1])], [0]))
    assert alpha is not None
    found = diagnose(alpha[0])
    assert found.normalised_entropy.min() > 0.99
    assert found.warnings.keys() == {"uniform"}
    assert "about the same weight" in found.warnings["uniform"]


def test_what_the_threshold_of_uniform_lets_pass() -> None:
    """Ten columns, one with more than 0.27: the entropy is below it, however the rest lies."""
    for columns, largest in ((10, 0.27), (20, 0.21)):
        row = np.array([largest + 0.005, *[(1 - largest - 0.005) / (columns - 1)] * (columns - 1)])
        assert entropy(row[None])[0] / math.log(columns) < UNIFORM
        assert "uniform" not in diagnose([row] * 8).warnings
    assert "uniform" in diagnose([[0.2, *[0.8 / 9] * 9]] * 8).warnings
    # Three columns: an ordinary row, no warning.
    assert diagnose([[0.45, 0.3, 0.25]] * 8).warnings == {}


def test_a_word_that_holds_everything_is_named() -> None:
    held = [[0.1, 0.1, 0.75, 0.05]] * 5
    found = diagnose(held)
    assert found.warnings.keys() == {"stuck"}
    assert "source word 3 has 75%" in found.warnings["stuck"]
    on_the_end = diagnose([row[::-1] for row in ([0.9, 0.0, 0.1, 0.0],) * 5])
    assert "the end mark of the source has 90%" in on_the_end.warnings["stuck"]
    # Half of the sentence may well belong to one word, and so may a sentence of three words.
    assert diagnose([[0.9, 0.05, 0.05]] * 3 + [[0.0, 1.0, 0.0]] * 3).warnings == {}
    assert diagnose(held[:4]).warnings == {}


@pytest.mark.parametrize("pair", ["en-de", "de-en"])
def test_no_gold_alignment_is_warned_of(pair: str) -> None:
    """Gold links as weights, shared equally between the source words of a target word."""
    test = load_corpus("toy", pair, train=1, val=1, test=1000).splits["test"]
    assert test.links is not None
    for source, target, links in zip(test.source, test.target, test.links, strict=True):
        alpha = np.zeros((len(target), len(source)))
        for i, j in links:
            alpha[j, i] = 1
        alpha /= np.maximum(alpha.sum(axis=1, keepdims=True), 1)
        assert diagnose(alpha, end_mark=False).warnings == {}


def test_a_corpus_in_a_few_numbers() -> None:
    uniform, stuck = np.full((6, 6), 1 / 6), np.tile([0.8, 0.1, 0.1, 0.0], (7, 1))
    summary = summarise([diagnose(ALPHA), diagnose(uniform), diagnose(stuck)])
    assert summary["sentences"] == 3
    assert summary["target_words"] == 4 + 5 + 6
    assert summary["warnings"] == {"uniform": 1, "stuck": 1}
    assert summary["advice"] == []
    assert summary["unaligned"] == pytest.approx(1 / 15)
    assert summary["end_weight"] == pytest.approx((1.1 + 5 / 6 + 0) / 15)
    # Coverage: 1.7, 0.6, 0.6; five times 5/6; 4.8, 0.6, 0.6.
    assert summary["hardly_covered"] == 0
    assert summarise([diagnose(uniform)])["advice"] == [ADVICE["uniform"]]
    assert summarise([diagnose(stuck)])["advice"] == [ADVICE["stuck"]]
    with pytest.raises(CourseError, match="no sentences"):
        summarise([])


@given(st.lists(weight_matrices, min_size=1, max_size=5))
def test_a_summary_does_not_depend_on_the_order(matrices: list[np.ndarray]) -> None:
    there = summarise([diagnose(alpha) for alpha in matrices])
    back = summarise([diagnose(alpha) for alpha in matrices[::-1]])
    for name, value in there.items():
        assert back[name] == (pytest.approx(value) if isinstance(value, float) else value)
    once = [diagnose(alpha) for alpha in matrices]
    doubled = summarise([*once, *once])
    assert doubled["entropy"] == pytest.approx(there["entropy"])
    assert doubled["target_words"] == 2 * there["target_words"]
