"""Alignment error rate against hand counts and nltk; links from weights as the rules say."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from nltk.translate import Alignment as NltkAlignment
from nltk.translate.metrics import alignment_error_rate as nltk_error_rate

from course_lib.corpora.corpus import Link
from course_lib.errors import CourseError
from course_lib.evaluation.alignment import (
    alignment_error_rate,
    argmax_links,
    diagonal_links,
    threshold_links,
)
from course_lib.evaluation.links import GoldLinks, parse_links

link_sets = st.frozensets(st.tuples(st.integers(0, 4), st.integers(0, 4)), max_size=8)
golds = st.builds(GoldLinks, link_sets, link_sets)
sentences = st.lists(st.tuples(link_sets, golds), min_size=1, max_size=5).filter(
    lambda pairs: any(a or g.sure for a, g in pairs)
)
weight_matrices = st.builds(
    lambda seed, rows, columns: np.random.default_rng(seed).dirichlet(
        np.full(columns, 0.3), size=rows
    ),
    st.integers(0, 10_000),
    st.integers(2, 7),
    st.integers(2, 7),
)


def test_by_hand() -> None:
    """|A| = 3, |S| = 2, of A one is sure and two are possible: 1 - (1 + 2) / (3 + 2)."""
    gold = parse_links("0-0 1-1 1p2 2p1")
    score = alignment_error_rate([parse_links("0-0 1-2 2-2").sure], [gold])
    assert score.precision == pytest.approx(2 / 3)
    assert score.recall == pytest.approx(1 / 2)
    assert score.aer == pytest.approx(1 - 3 / 5)
    assert (score.links, score.sure, score.possible) == (3, 2, 4)


@given(sentences)
def test_a_corpus_is_scored_like_one_long_sentence(
    pairs: list[tuple[frozenset[Link], GoldLinks]],
) -> None:
    """Links are summed before the division: sentences laid end to end score the same, by nltk."""

    def shifted(links: frozenset[Link], k: int) -> set[Link]:
        return {(i + 5 * k, j + 5 * k) for i, j in links}

    own, sure, possible = (
        NltkAlignment(set().union(*(shifted(part(pair), k) for k, pair in enumerate(pairs))))
        for part in (lambda p: p[0], lambda p: p[1].sure, lambda p: p[1].possible)
    )
    score = alignment_error_rate([a for a, _ in pairs], [g for _, g in pairs])
    assert score.aer == pytest.approx(nltk_error_rate(sure, own, possible))


@given(sentences)
def test_bounds_and_what_is_perfect(pairs: list[tuple[frozenset[Link], GoldLinks]]) -> None:
    gold = [g for _, g in pairs]
    score = alignment_error_rate([a for a, _ in pairs], gold)
    assert 0 <= score.aer <= 1
    if any(g.sure for g in gold):
        # All sure links and any of the possible ones: nothing is missing, nothing too many.
        for perfect in ([g.sure for g in gold], [g.possible for g in gold]):
            assert alignment_error_rate(perfect, gold).aer == pytest.approx(0)
            assert alignment_error_rate(perfect, gold).precision == 1
            assert alignment_error_rate(perfect, gold).recall == 1


def test_what_cannot_be_divided_is_none_or_refused() -> None:
    nothing: frozenset[Link] = frozenset()
    score = alignment_error_rate([nothing], [{(0, 0)}])
    assert (score.precision, score.recall, score.aer) == (None, 0, 1)
    score = alignment_error_rate([{(0, 0)}], [GoldLinks(nothing, frozenset({(0, 0)}))])
    assert (score.precision, score.recall, score.aer) == (1, None, 0)
    with pytest.raises(CourseError, match="no link to score"):
        alignment_error_rate([nothing], [nothing])
    with pytest.raises(CourseError, match="2 alignments against 1 gold"):
        alignment_error_rate([nothing, nothing], [{(0, 0)}])


ALPHA = [
    [0.7, 0.1, 0.1, 0.1],  # word 0
    [0.4, 0.4, 0.2, 0.0],  # a tie: the first one
    [0.1, 0.1, 0.2, 0.6],  # the largest weight is on the end mark
    [0.0, 0.0, 0.0, 1.0],  # the end mark's own row
]


def test_the_largest_weight_links_and_the_end_mark_does_not() -> None:
    assert argmax_links(ALPHA) == {(0, 0), (0, 1)}
    # The same numbers without end marks are four words a side.
    assert argmax_links(ALPHA, end_mark=False) == {(0, 0), (0, 1), (3, 2), (3, 3)}


def test_a_threshold_links_several_words_or_none() -> None:
    assert threshold_links(ALPHA, 0.4) == {(0, 0), (0, 1), (1, 1)}
    assert threshold_links(ALPHA, 0.2) == {(0, 0), (0, 1), (1, 1), (2, 1), (2, 2)}
    assert threshold_links(ALPHA, 0.9) == frozenset()
    assert threshold_links(ALPHA, 0.9, end_mark=False) == {(3, 3)}
    for threshold in (0, -0.1, 1.1):
        with pytest.raises(CourseError, match="above 0 and at most 1"):
            threshold_links(ALPHA, threshold)


def test_a_word_without_any_weight_is_unaligned() -> None:
    """As local attention leaves it when its window lies outside the sentence."""
    assert argmax_links([[0.0, 0.0, 0.0], [0.1, 0.8, 0.1], [0.0, 0.0, 0.0]]) == {(1, 1)}


@given(weight_matrices)
def test_links_stay_inside_the_sentences(alpha: np.ndarray) -> None:
    rows, columns = alpha.shape
    for links in (argmax_links(alpha), threshold_links(alpha, 0.2)):
        assert all(0 <= i < columns - 1 and 0 <= j < rows - 1 for i, j in links)
    targets = [j for _, j in argmax_links(alpha)]
    assert len(targets) == len(set(targets))


@given(weight_matrices)
def test_above_one_half_the_threshold_keeps_only_largest_weights(alpha: np.ndarray) -> None:
    assert threshold_links(alpha, 0.5 + 1e-6) <= argmax_links(alpha)


@given(weight_matrices)
def test_without_end_marks_transposing_weights_transposes_links(alpha: np.ndarray) -> None:
    there = threshold_links(alpha, 0.3, end_mark=False)
    assert threshold_links(alpha.T, 0.3, end_mark=False) == {(j, i) for i, j in there}


@given(st.integers(1, 30), st.integers(1, 30))
def test_the_diagonal_links_every_target_word_inside_the_source(source: int, target: int) -> None:
    places = [i for i, _ in sorted(diagonal_links(source, target), key=lambda link: link[1])]
    assert len(places) == target
    assert places == sorted(places)
    assert 0 <= places[0] <= places[-1] < source
    # The same from both ends.
    assert [source - 1 - i for i in reversed(places)] == pytest.approx(places, abs=1)
    if source == target:
        assert places == list(range(target))
